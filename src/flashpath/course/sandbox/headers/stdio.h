// Device code has printf without any header.
#pragma once

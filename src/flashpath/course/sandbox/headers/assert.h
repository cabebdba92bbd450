// Device code has assert without any header.
#pragma once

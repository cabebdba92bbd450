// Device code has memcpy and memset without any header.
#pragma once

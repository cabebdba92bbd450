// Device code has malloc, free and abs without any header.
#pragma once

// Device code has size_t, ptrdiff_t and NULL without any header.
#pragma once

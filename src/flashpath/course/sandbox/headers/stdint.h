// The integers of a fixed size: CUDA's own, which are in the global namespace.
#pragma once

#include <cuda/std/cstdint>

// What the GPU that is played says about itself: cudaDeviceProp, and cudaDeviceAttr one by one.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "ground/settings.h"

namespace flashpath::runtime {

cudaDeviceProp properties_of(const Gpu& gpu, int device);

// nullopt: there is no such attribute.
std::optional<int> attribute_of(const Gpu& gpu, int device, cudaDeviceAttr attribute);

}  // namespace flashpath::runtime

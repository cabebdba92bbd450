// The border between host code, which any C++ compiler takes, and device code.
#pragma once

#include <cstdint>
#include <vector>

struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;
};

Image blurred(const Image& image, int radius);  // in blur.cu

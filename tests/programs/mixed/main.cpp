// The host's half: no line of it is CUDA's, and the host's own compiler could take it alone.
#include <iostream>

#include "image.h"

int main() {
  Image image{9, 5, std::vector<std::uint8_t>(9 * 5, 0)};
  image.pixels[2 * 9 + 4] = 90;  // one bright spot in the middle
  image.pixels[0] = 40;          // and one in a corner, where a pixel has four neighbours, itself among them
  const Image result = blurred(image, 1);
  for (int k = 0; k < 9 * 5; ++k) std::cout << int(result.pixels[k]) << ((k + 1) % 9 ? " " : "\n");
}

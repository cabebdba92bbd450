// out[y, x] = 0.299 red + 0.587 green + 0.114 blue of the pixel in row y and column x.
// rgb: (height, width, 3), out: (height, width), both row by row. Blocks of 32 × 8 threads (x, y) cover the image.
__global__ void grey(int height, int width, const float* rgb, float* out) {
  const int x = 0;  // the column of this thread's pixel: from which of the indices?
  const int y = 0;  // its row
  // Which pixels exist? Where in rgb and in out does pixel (y, x) lie?
}

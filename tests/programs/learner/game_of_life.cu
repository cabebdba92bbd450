// A class that owns two boards and swaps them; rows from standard input, the board after some steps on standard output.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

__global__ void evolve(const bool* now, bool* next, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx == 0 && dy == 0) continue;
      neighbours += now[(y + dy + height) % height * width + (x + dx + width) % width];
    }
  }
  next[y * width + x] = neighbours == 3 || (neighbours == 2 && now[y * width + x]);
}

class Board {
 public:
  explicit Board(const std::vector<std::string>& rows)
      : width_(static_cast<int>(rows[0].size())), height_(static_cast<int>(rows.size())) {
    cudaMallocManaged(&now_, cells());
    cudaMallocManaged(&next_, cells());
    for (int k = 0; k < width_ * height_; ++k) now_[k] = rows[k / width_][k % width_] == '#';
  }
  ~Board() {
    cudaFree(now_);
    cudaFree(next_);
  }
  void step() {
    const dim3 block(8, 8), grid((width_ + 7) / 8, (height_ + 7) / 8);
    evolve<<<grid, block>>>(now_, next_, width_, height_);
    std::swap(now_, next_);
  }
  void show() const {
    cudaDeviceSynchronize();
    for (int k = 0; k < width_ * height_; ++k) std::printf("%c%s", now_[k] ? '#' : '.', (k + 1) % width_ ? "" : "\n");
  }

 private:
  std::size_t cells() const { return sizeof(bool) * width_ * height_; }
  int width_, height_;
  bool *now_ = nullptr, *next_ = nullptr;
};

int main(int argc, char** argv) {
  std::vector<std::string> rows;
  for (std::string row; std::getline(std::cin, row);) rows.push_back(row);
  if (rows.empty()) return 2;
  Board board(rows);
  for (int k = 0; k < (argc > 1 ? std::atoi(argv[1]) : 1); ++k) board.step();
  board.show();
}

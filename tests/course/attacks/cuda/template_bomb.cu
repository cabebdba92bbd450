// Keep the compiler busy for longer than anybody waits.
// TimedOut
template <int depth, long path> struct Bomb {
  static constexpr long value = Bomb<depth - 1, 2 * path>::value + Bomb<depth - 1, 2 * path + 1>::value;
};
template <long path> struct Bomb<0, path> { static constexpr long value = path; };
extern "C" __global__ void answer(int n, const float* x, float* y) { y[0] = Bomb<28, 1>::value; }

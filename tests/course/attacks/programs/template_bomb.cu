// Keeps the compiler at work without end.
// TimedOut Crashed BuildFailed
template <int A, int B>
struct Bomb {
  static constexpr int value = Bomb<A - 1, 2 * B>::value + Bomb<A - 1, 2 * B + 1>::value;
};
template <int B>
struct Bomb<0, B> {
  static constexpr int value = 1;
};

int main() { return Bomb<24, 0>::value == 0; }

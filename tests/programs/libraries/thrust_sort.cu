// thrust::sort: integers by radix sort, structures by merge sort, pairs by key, stable.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

struct Point {
  int x, y;
};

struct ByYThenX {
  __host__ __device__ bool operator()(const Point& a, const Point& b) const { return a.y != b.y ? a.y < b.y : a.x < b.x; }
};

int main() {
  std::mt19937 random(7);
  std::vector<int> host(3000);
  for (int& each : host) each = static_cast<int>(random() % 2001) - 1000;
  thrust::device_vector<int> numbers = host;
  thrust::sort(numbers.begin(), numbers.end());
  std::sort(host.begin(), host.end());
  std::printf("integers: %s\n", numbers == host ? "ok" : "WRONG");

  std::vector<Point> points;
  for (int k = 0; k < 700; ++k) points.push_back({static_cast<int>(random() % 50), static_cast<int>(random() % 20)});
  thrust::device_vector<Point> d_points = points;
  thrust::sort(d_points.begin(), d_points.end(), ByYThenX());
  std::sort(points.begin(), points.end(), ByYThenX());
  const std::vector<Point> sorted(d_points.begin(), d_points.end());
  const auto same = [](const Point& a, const Point& b) { return a.x == b.x && a.y == b.y; };
  std::printf("points: %s\n", std::equal(points.begin(), points.end(), sorted.begin(), same) ? "ok" : "WRONG");

  // Largest key first; of equal keys the order stays.
  thrust::device_vector<float> keys(std::vector<float>{2.5f, -1, 2.5f, 7, -1, 0});
  thrust::device_vector<int> places(6);
  thrust::sequence(places.begin(), places.end());
  thrust::stable_sort_by_key(keys.begin(), keys.end(), places.begin(), thrust::greater<float>());
  std::printf("by key:");
  for (int k = 0; k < 6; ++k) std::printf(" %d", static_cast<int>(places[k]));
  std::printf("\n");
  return 0;
}

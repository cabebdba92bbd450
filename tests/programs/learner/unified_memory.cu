// Structures with pointers in them, shared by host and GPU through unified memory: a linked list, and a small
// simulation that the host steps.
#include <cstdio>
#include <new>

struct Node {
  int value;
  Node* next;
};

class Managed {  // what is made with new can be used by kernels
 public:
  void* operator new(std::size_t size) {
    void* pointer;
    cudaMallocManaged(&pointer, size);
    cudaDeviceSynchronize();
    return pointer;
  }
  void operator delete(void* pointer) {
    cudaDeviceSynchronize();
    cudaFree(pointer);
  }
};

struct Ball : Managed {
  float height = 100, speed = 0;
  int bounces = 0;
};

__global__ void add_to_list(Node* head, int amount) {
  for (Node* node = head; node != nullptr; node = node->next) node->value += amount;
}

__global__ void step(Ball* ball, float seconds) {
  ball->speed -= 8 * seconds;
  ball->height += ball->speed * seconds;
  if (ball->height < 0) {
    ball->height = -ball->height;
    ball->speed = -ball->speed / 2;
    ++ball->bounces;
  }
}

__device__ __managed__ int launches = 0;

__global__ void count_launch() { ++launches; }

int main() {
  Node* head = nullptr;
  for (int k = 5; k > 0; --k) {
    Node* node;
    cudaMallocManaged(&node, sizeof(Node));
    node->value = k;
    node->next = head;
    head = node;
  }
  add_to_list<<<1, 1>>>(head, 100);
  cudaDeviceSynchronize();
  for (Node* node = head; node != nullptr; node = node->next) std::printf("%d ", node->value);
  std::printf("\n");

  Ball* ball = new Ball;
  while (ball->bounces < 2) {
    step<<<1, 1>>>(ball, 0.5f);
    count_launch<<<1, 1>>>();
    cudaDeviceSynchronize();
  }
  std::printf("height %g, speed %g after %d steps\n", ball->height, ball->speed, launches);
  delete ball;
  while (head != nullptr) {
    Node* next = head->next;
    cudaFree(head);
    head = next;
  }
}

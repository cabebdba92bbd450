// Memory that a kernel takes and never gives back.

extern "C" __global__ void never_freed(int* y) {
  int* own = static_cast<int*>(malloc(64));  // BUG: leak
  own[0] = threadIdx.x;
  own[1] = 1;
  y[threadIdx.x] = own[y[threadIdx.x] & 1];
}

// One way out does not free.
extern "C" __global__ void freed_on_one_way(const int* x, int* y) {
  int* own = static_cast<int*>(malloc(64));  // BUG: leak
  own[0] = x[threadIdx.x];
  own[1] = 2;
  if (x[threadIdx.x] < 0) return;
  y[threadIdx.x] = own[x[threadIdx.x] & 1];
  free(own);
}

struct Node {
  Node* next;
  int value;
};

// Only the head of the list is freed.
extern "C" __global__ void head_only(int* y, int length) {
  Node* head = nullptr;
  for (int i = 0; i < length; ++i) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));  // BUG: leak
    node->next = head;
    node->value = i;
    head = node;
  }
  int sum = 0;
  for (Node* node = head; node; node = node->next) sum += node->value;
  y[threadIdx.x] = sum;
  free(head);
}

// The pointer to the first block of memory is overwritten by that to the second.
extern "C" __global__ void pointer_lost(int* y, int n) {
  int* own = static_cast<int*>(malloc(16));  // BUG: leak
  own[0] = n;
  y[threadIdx.x] = own[n & 0];
  if (n > 4) {
    own = static_cast<int*>(malloc(n * sizeof(int)));
    own[0] = 2 * n;
    y[threadIdx.x] += own[n & 0];
  }
  free(own);
}

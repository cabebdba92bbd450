// Where the rows of q, k, v and out are, and which keys a query sees. For the rungs before FlashAttention 2.
#pragma once

// The score of a key that is not seen: -inf.
__device__ inline float never() { return __int_as_float(0xff800000); }

// In elements. Those of a row follow each other.
struct Strides {
  long long batch, row, head;
};

template <class T>
__device__ T* rows_of_head(T* x, Strides strides, int batch, int head) {
  return x + batch * strides.batch + head * strides.head;
}

// How many keys, from the first on, a query sees. The last query stands at the last key.
__device__ inline int keys_seen(int query, int queries, int keys, bool is_causal) {
  return is_causal ? max(0, min(keys, query + 1 + keys - queries)) : keys;
}

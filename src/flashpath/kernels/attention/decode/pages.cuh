// Where the keys of a sequence are in the cache: one after the other in an entry, or page by page.
#pragma once

// Of a cache, as the host packs it. Without a page table a page is all of a sequence.
struct Pages {
  long long table_stride;  // from sequence to sequence
  int table_width;         // pages that a sequence can have
  int size;                // keys of a page
  int new_keys;            // that the step brings
};

// A key's place: the first two indices of the cache.
struct Spot {
  int page, row;

  template <class T>
  __device__ T* in(T* head, const long long (&strides)[3]) const {
    return head + page * strides[0] + row * strides[1];
  }
};

// The keys of one sequence.
template <bool kPaged>
struct Keys {
  const int* table;  // of this sequence
  int entry;         // of a cache without pages
  int size, last;    // keys of a page; the last page that the table has

  __device__ Keys(const Pages& pages, const int* page_table, const int* batch_index, int batch)
      : table(kPaged ? page_table + batch * pages.table_stride : nullptr),
        entry(!kPaged && batch_index ? batch_index[batch] : batch),
        size(pages.size),
        last(pages.table_width - 1) {}

  // Past the last page the spot is none, but the table is not left.
  __device__ Spot at(int position) const {
    if constexpr (kPaged) {
      const int number = static_cast<unsigned>(position) / static_cast<unsigned>(size);
      return {table[min(number, last)], position - number * size};
    } else {
      return {entry, position};
    }
  }
};

// Layer norm, rung 4: a long row is read twice, the second time from the L2 cache. rms_norm's is the same without
// the mean (kCentered false).
//
//   maths    out = (x - mean) / sqrt(var + eps) * weight + bias; mean and var = Σ (x - mean)² / n of each row
//   layout   x, out: (rows, n), contiguous; weight, bias: (n), in any float type, or null
//            mean, rstd: (rows), for the backward pass, or null
//   cost     8 FLOPs an element; at least 2 rows n sizeof(T) bytes, and as much as x once more from the L2 cache
//   improves vectorized, for rows of many packs: no register holds the row while its sums cross the block, so that an
//            SM has room for three blocks of 512 threads and more loads are in flight
//   idea     a block takes kPacks packs of each thread at a time: the threads' own moments, merged over the block, then
//            all packs again to be written. The first read asks the caches to keep what it brings, the second to let it
//            go, so that the rows at work on a GPU, 13 MB of them, stay in its L2 cache among all that streams by.
#include "../common/norm/read_twice.cuh"

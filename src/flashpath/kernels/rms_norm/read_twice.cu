// RMS norm, rung 3: a long row is read twice, the second time from the L2 cache.
//
//   maths    out = x / sqrt(Σ x² / n + eps) * weight, of each row
//   layout   x, out: (rows, n), contiguous; weight: (n), in any float type, or null
//            rstd: (rows), for the backward pass, or null
//   cost     4 FLOPs an element; at least 2 rows n sizeof(T) bytes, and as much as x once more from the L2 cache
//   improves vectorized, for rows of many packs: no register holds the row while its sum crosses the block
//   idea     layer_norm's of the same name with the mean left out: the first read asks the caches to keep the row, the
//            second to let it go.
#include "../common/norm/read_twice.cuh"

// Layer norm, rung 7: all gradients from one read. rms_norm's are the same without the mean (kCentered false).
//
//   maths    x̂ = (x - mean) rstd, g = dy * weight; of each row
//            dx = rstd (g - Σ g / n - x̂ Σ (g x̂) / n); of each column dweight = Σ dy x̂, dbias = Σ dy
//   layout   dy, x, dx: (rows, n), contiguous; weight: (n), in any float type, or null; mean, rstd: (rows)
//            partials: (2, blocks, n) of dweight and dbias, (1, blocks, n) for rms_norm
//   cost     15 FLOPs an element; at least 3 rows n sizeof(T) bytes
//   improves backward: dy and x come from memory once, not three times, and every SM works on the columns' sums
//   idea     a few blocks per SM stay for many rows each. A thread always has the same columns, so their share of
//            dweight and dbias grows in its registers, and is written once, at the end: (blocks, n) partial sums, which
//            a second, small kernel adds up in a fixed order. No atomics: the same bits in every run on the same GPU.
//            Few threads are left, with many registers each, to keep the memory busy; so rows are fetched ahead,
//            straight into shared memory (cp.async), while the one before is worked on. Each thread fetches what it
//            will use itself: only the sums of a row need a barrier.
#include "../common/norm/backward_fused.cuh"

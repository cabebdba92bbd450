// One warp copies 128 elements of a, in quads, and stores them turned: column p of a becomes row p of the tile.
// width: how many columns of a the warp copies, 8 (16 rows of two quads) or 16 (8 rows of four quads).
// pitch: the words from one row of the tile to the next.
__global__ void turn(int width, int pitch, const float* a, float* out) {
  __shared__ float tile[16 * 72];
  const int t = threadIdx.x;
  const int quads = width / 4;
  const int row = t / quads, p = t % quads * 4;
  const float4 four = *reinterpret_cast<const float4*>(a + row * width + p);
  tile[(p + 0) * pitch + row] = four.x;
  tile[(p + 1) * pitch + row] = four.y;
  tile[(p + 2) * pitch + row] = four.z;
  tile[(p + 3) * pitch + row] = four.w;
  __syncwarp();
  out[t] = tile[t];
}

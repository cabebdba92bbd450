"""Clusters: blocks that run together, meet at a barrier of their own and see each other's shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flashpath as fp
from flashpath.gpus.shape import LaunchError

Array = np.ndarray[Any, Any]

SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Each block gets the sum of what all blocks of its cluster have.
__device__ void share(const int* x, int* out) {
    __shared__ int own;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = x[blockIdx.x + gridDim.x * blockIdx.y];
    cluster.sync();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (unsigned r = 0; r < cluster.num_blocks(); r++) sum += *cluster.map_shared_rank(&own, r);
        out[blockIdx.x + gridDim.x * blockIdx.y] = sum;
    }
    cluster.sync();
}
extern "C" __global__ void shares(const int* x, int* out) { share(x, out); }
extern "C" __global__ void __cluster_dims__(2, 2, 1) shares_in_fours(const int* x, int* out) { share(x, out); }

extern "C" __global__ void names(unsigned* out) {
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x != 0) return;
    unsigned* own = out + 12 * (blockIdx.x + gridDim.x * blockIdx.y);
    own[0] = cluster.block_rank();
    own[1] = cluster.num_blocks();
    own[2] = cluster.block_index().x;
    own[3] = cluster.block_index().y;
    own[4] = cluster.dim_blocks().x;
    own[5] = cluster.dim_blocks().y;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(own[6]));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(own[7]));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(own[8]));
    asm("mov.u32 %0, %%nclusterid.y;" : "=r"(own[9]));
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(own[10]));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(own[11]));
}

// A histogram spread over the shared memory of all blocks.
extern "C" __global__ void __cluster_dims__(4, 1, 1) histogram(const int* x, int n, int* bins) {
    __shared__ int own[16];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    cluster.sync();
    for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads()) {
        int* other = cluster.map_shared_rank(own, x[i] / 16);
        atomicAdd(other + x[i] % 16, 1);
    }
    cluster.sync();
    if (threadIdx.x < 16) bins[16 * cluster.block_rank() + threadIdx.x] = own[threadIdx.x];
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) halves(int* out) {
    __shared__ int own;
    unsigned rank = cg::this_cluster().block_rank();
    own = 10 + rank;
    asm volatile("barrier.cluster.arrive.release.aligned;");
    int busy = 0;
    for (int i = 0; i < 100; i++) busy += i;
    asm volatile("barrier.cluster.wait.acquire.aligned;");
    out[blockIdx.x] = *cg::this_cluster().map_shared_rank(&own, rank ^ 1) + (busy - 4950);
    cg::this_cluster().sync();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) leaves(int* out) {
    __shared__ int own;
    cg::cluster_group cluster = cg::this_cluster();
    own = 3;
    cluster.sync();
    if (cluster.block_rank() == 1) return;
    for (int i = 0; i < 1000; i++) __nanosleep(100);
    out[blockIdx.x] = *cluster.map_shared_rank(&own, 1);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) stays(int* out) {
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 1) __syncthreads();
    else cluster.sync();
    if (cluster.block_rank() == 1) while (atomicAdd(out, 0) == 0) {}
}
"""


@pytest.fixture(scope="module")
def module() -> fp.Module:
    return fp.compile(SOURCE, "sm_90a")


def zeros(count: int) -> Array:
    return np.zeros(count, np.int32)


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_blocks_read_each_others_shared_memory(module: fp.Module, size: int) -> None:
    x, out = np.arange(16, dtype=np.int32) ** 2, zeros(16)
    module["shares"].launch(16, 64, (x, out), cluster=size)
    assert out.tolist() == x.reshape(-1, size).sum(1).repeat(size).tolist()


def test_the_kernel_names_its_clusters(module: fp.Module) -> None:
    x, out = np.arange(24, dtype=np.int32) ** 2, zeros(24)
    module["shares_in_fours"].launch((4, 6), 64, (x, out))
    sums = x.reshape(3, 2, 2, 2).sum((1, 3))
    assert out.reshape(6, 4).tolist() == sums.repeat(2, 0).repeat(2, 1).tolist()


def test_what_blocks_are_told_of_their_cluster(module: fp.Module) -> None:
    out = np.zeros((6, 4, 12), np.uint32)
    module["names"].launch((4, 6), 32, (out,), cluster=(2, 3))
    for y in range(6):
        for x in range(4):
            row = [y % 3 * 2 + x % 2, 6, x % 2, y % 3, 2, 3, x // 2, y // 3, 2, 2, 1, 6]
            assert out[y, x].tolist() == row
    out[:] = 9
    module["names"].launch((4, 6), 32, (out,))
    for y in range(6):
        for x in range(4):
            assert out[y, x].tolist() == [0, 1, 0, 0, 1, 1, x, y, 4, 6, 0, 1]


def test_atomics_on_other_blocks(module: fp.Module) -> None:
    x, bins = np.random.default_rng(0).integers(0, 64, 5000).astype(np.int32), zeros(64)
    module["histogram"].launch(4, 128, (x, 5000, bins))
    assert bins.tolist() == np.bincount(x, minlength=64).tolist()


def test_arrival_and_wait_apart(module: fp.Module) -> None:
    out = zeros(4)
    module["halves"].launch(4, 96, (out,))
    assert out.tolist() == [11, 10, 11, 10]


@pytest.mark.parametrize("name", ["shares", "histogram", "halves"])
def test_nothing_is_found_in_them(module: fp.Module, name: str) -> None:
    x = np.random.default_rng(1).integers(0, 64, 500).astype(np.int32)
    shared = {"cluster": 4} if name == "shares" else {}
    args = {"shares": (x, zeros(4)), "histogram": (x, 500, zeros(64)), "halves": (zeros(4),)}[name]
    assert fp.sanitize(module[name], 4, 64, args, seeds=10, **shared) == []


def test_a_block_that_has_ended_has_no_memory(module: fp.Module) -> None:
    with pytest.raises(fp.KernelFault) as caught:
        module["leaves"].launch(2, 32, (zeros(2),))
    assert caught.value.kind == "out-of-bounds"
    assert "ended" in caught.value.message


def test_a_cluster_that_waits_for_ever(module: fp.Module) -> None:
    with pytest.raises(fp.KernelFault) as caught:
        module["stays"].launch(2, 32, (zeros(2),))
    assert caught.value.kind == "deadlock"
    assert "barrier of the cluster, where 32 of 64 have arrived" in caught.value.message


def test_launches_that_are_refused(module: fp.Module) -> None:
    x, out = zeros(16), zeros(16)
    for grid, cluster, device, code in (
        (16, 16, None, "vgpu.cluster-too-large"),
        (15, 2, None, "gpus.no-multiple-of-cluster"),
        (16, 2, "A100", "vgpu.no-clusters"),
    ):
        with pytest.raises(LaunchError) as caught:
            fp.profile(module["shares"], grid, 64, (x, out), device, cluster=cluster)
        assert caught.value.said.code == code
    with pytest.raises(LaunchError) as caught:
        module["shares_in_fours"].launch((4, 4), 64, (x, out), cluster=2)
    assert caught.value.said.code == "vgpu.other-cluster"

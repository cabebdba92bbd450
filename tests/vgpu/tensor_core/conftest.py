"""Runs a few lines of PTX in one warp: how the instructions themselves are tested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu.device import HostArray, VirtualModule
from flashpath.vgpu.launch import Launch, Packed
from flashpath.vgpu.options import Options

Array = np.ndarray[Any, Any]
Run = Callable[..., Any]


def _host_array(position: int, array: Array) -> HostArray:
    first = array.ctypes.data
    last = first + array.nbytes
    return HostArray(8 * position, first, first, last, first, last, True)


@pytest.fixture
def run_warp() -> Run:
    """run(body, *arrays): `%rd0` on are the arrays' addresses, `%r0` is the lane, `tile` shared memory."""

    def run(body: str, *arrays: Array, threads: int = 32, count: bool = False, exact: bool = True) -> Any:
        parameters = ", ".join(f".param .u64 p{k}" for k in range(len(arrays)))
        loads = "\n".join(
            f"ld.param.u64 %rd{k}, [p{k}]; cvta.to.global.u64 %rd{k}, %rd{k};" for k in range(len(arrays))
        )
        ptx = f"""
.version 8.4
.target sm_90
.address_size 64
.visible .entry k({parameters}) {{
  .reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<16>; .reg .f64 %d<64>; .reg .pred %p<4>;
  .shared .align 16 .b8 tile[4096];
  mov.u32 %r0, %tid.x;
  {loads}
  {body}
  ret;
}}"""
        places = [_host_array(k, array) for k, array in enumerate(arrays)]
        kernel = VirtualModule(ptx).kernel("k")
        options = Options(exact=exact, count=count)
        launch = Launch(
            kernel, LaunchShape((1, 1, 1), (threads, 1, 1)), Packed(bytes(8 * len(arrays)), places)
        )
        result = launch.run(options).result
        return {
            origin[0]: row for origin, row in zip(kernel.program.origins, result.instructions, strict=False)
        }

    return run

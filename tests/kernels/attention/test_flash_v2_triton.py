"""FlashAttention 2 in Triton: every two features together, forward and backward, against float64."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import pytest
from attention_checks import check_backward, check_forward
from attention_samples import Sample, covering, made

from flashpath.kernels.attention.flash_v2.triton import host

SAMPLES = covering()


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_forward(sample: Sample) -> None:
    check_forward(host.forward, made(sample))


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_backward(sample: Sample) -> None:
    with_dlse = sample.heads != (2, 2)
    check_backward(host.backward, made(sample), with_dlse=with_dlse, deterministic=sample.deterministic)

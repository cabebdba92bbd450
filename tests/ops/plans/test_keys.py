"""Keys tell apart what a call's decisions may depend on."""

from __future__ import annotations

from typing import Any

import torch

from flashpath.ops.plans import keys


def _key(*args: Any, makers: keys.KeyMakers = keys.KeyMakers(), **kwargs: Any) -> Any:  # noqa: B008
    make = makers.get((*map(type, args), *kwargs, *map(type, kwargs.values())))
    return None if make is None else make(*args, **kwargs)[0]


def test_shapes_strides_types_and_alignment() -> None:
    x = torch.zeros(8, 8)
    alike = [torch.zeros(8, 8), torch.ones(8, 8)]
    unlike = [x.t(), x[:, 1:], x.half(), x.reshape(64), torch.zeros(65)[1:].reshape(8, 8), x.reshape(4, 16)]
    assert all(_key(each) == _key(x) for each in alike)
    assert all(_key(each) != _key(x) for each in unlike)


def test_numbers_of_other_types_are_other_arguments() -> None:
    x = torch.zeros(4)
    values = [1, 1.0, True, "1", None, 0, 0.0, -0.0, False, (1, 2), (1, True), (1, 2.0)]
    made = [_key(x, value) for value in values]
    assert len(set(made)) == len(values)
    assert len({_key(x, dim=value) for value in values} | set(made)) == 2 * len(values)


def test_what_may_change_without_notice_has_no_key() -> None:
    x = torch.zeros(4)
    assert _key(x, [1, 2]) is None
    assert _key(x, object()) is None
    assert _key(torch.nn.Buffer(x), lambda: 1) is None

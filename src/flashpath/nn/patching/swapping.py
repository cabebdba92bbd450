"""How a module changes its forward: it becomes an instance of a subclass of its own class.

So parameters, buffers, hooks, names, `isinstance` and `state_dict` stay as they are, a call goes through no
layer more, and the way back is its old class. The subclass has the name of the class that it stands for
(checkpoints write it down), is made once for each class and kind, and made again where a pickled or copied
module is put together.
"""

from __future__ import annotations

import copyreg
import threading
from collections.abc import Callable
from typing import Any, cast

from torch import nn

Kind = tuple[Any, ...]  # its first element names who makes the forward; all are plain data
Forward = Callable[..., Any]
MAKERS: dict[str, Callable[..., Forward]] = {}
_kept: dict[tuple[type, Kind], type] = {}
_lock = threading.Lock()
_copyreg: Any = copyreg
_new_object = _copyreg.__newobj__


def makes(name: str) -> Callable[[Callable[..., Forward]], Callable[..., Forward]]:
    """Registers what makes the forward of a kind: a function of the old class and the kind's parameters."""

    def register(maker: Callable[..., Forward]) -> Callable[..., Forward]:
        MAKERS[name] = maker
        return maker

    return register


def original(module: nn.Module) -> type[nn.Module]:
    """The class that a module had, or has."""
    return getattr(type(module), "flashpath_original", type(module))


def kind_of(module: nn.Module) -> Kind | None:
    """What a module was changed to, if it was."""
    return getattr(type(module), "flashpath_kind", None)


def swap(module: nn.Module, kind: Kind) -> None:
    """Lets a module compute as this kind does."""
    module.__class__ = swapped_class(original(module), kind)


def swap_back(module: nn.Module) -> None:
    """Gives a module its old class."""
    if kind_of(module) is not None:
        module.__class__ = original(module)


def swapped_class(base: type[nn.Module], kind: Kind) -> type[nn.Module]:
    """The subclass for a class and a kind, of which there is one."""
    with _lock:
        made = _kept.get((base, kind))
        if made is None:
            name, *parameters = kind
            attributes = {
                "__module__": base.__module__,
                "__qualname__": base.__qualname__,
                "__doc__": base.__doc__,
                "__reduce_ex__": _reduce,
                "flashpath_original": base,
                "flashpath_kind": kind,
                "forward": MAKERS[name](base, *parameters),
            }
            made = _kept[base, kind] = type(base.__name__, (base,), attributes)
        return made


def _reduce(self: Any, protocol: Any) -> Any:
    """Pickles and copies as the old class does, but for the class to make, which no module holds."""
    made: Any = type(self)  # pyright: ignore[reportUnknownVariableType]
    above: Any = super
    reduced: Any = above(made, self).__reduce_ex__(protocol)
    parts = cast("tuple[Any, ...]", reduced)
    if not isinstance(reduced, tuple) or parts[0] is not _new_object:
        return parts  # the old class has its own way
    _, (_, *given), *rest = parts
    return _restored, (made.flashpath_original, made.flashpath_kind, *given), *rest


def _restored(base: type[nn.Module], kind: Kind, *given: Any) -> nn.Module:
    made: Any = swapped_class(base, kind)
    return made.__new__(made, *given)

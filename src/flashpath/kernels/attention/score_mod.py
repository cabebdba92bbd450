"""Functions of one's own between the scores and the softmax: a bias, a mask, a soft limit."""

from __future__ import annotations

import inspect
import itertools
import sys
import weakref
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.messages import Message

ARGUMENTS = ("score", "batch", "head", "query", "key")
_numbers = itertools.count()
_all: weakref.WeakValueDictionary[str, ScoreMod] = weakref.WeakValueDictionary()


@dataclass(frozen=True)
class ScoreMod:
    """score → another score, given in each language that is to run it; -inf hides a key from a query.

    Every form takes (score, batch, head, query, key): the scaled score, after softcap and ALiBi, and where it
    stands; `head` counts the heads of q, `query` and `key` count within their sequence. `torch` gets a float
    tensor and integer tensors that broadcast with it; `triton` is a `@triton.jit` function of tiles; `cuda`
    is a C++ expression of one `float score` and four `int`.

    Gradients go through the derivative of the new score by the old one. Without one it is 1, which is right
    for whatever only adds to a score or hides it.
    """

    name: str
    torch: Callable[..., Any] | None = None
    triton: Any | None = None
    cuda: str | None = None
    triton_derivative: Any | None = None
    cuda_derivative: str | None = None
    torch_derivative: Callable[..., Any] | None = None
    key: str = field(init=False, default="")
    """What an operator is given in its place: operators take text, not objects."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise FlashpathError("kernels.mod-name", name=f"{self.name!r:.80}")
        if self.torch is None and self.triton is None and self.cuda is None:
            raise FlashpathError("kernels.mod-empty", name=f"{self.name!r}")
        for name in ("torch", "torch_derivative"):
            if getattr(self, name) is not None and not _takes_a_place(getattr(self, name)):
                raise FlashpathError(
                    "kernels.mod-no-function",
                    name=f"{self.name!r}",
                    name2=name,
                    getattr=f"{getattr(self, name)!r:.80}",
                    arguments=list(ARGUMENTS),
                )
        object.__setattr__(self, "key", f"{self.name}#{next(_numbers)}")
        _all[self.key] = self

    def form(self, language: str) -> Any:
        """The function in that language."""
        found = getattr(self, language)
        if found is None:
            forms = [each for each in ("torch", "triton", "cuda") if getattr(self, each) is not None]
            has = forms or Message("kernels.none")
            raise FlashpathError("kernels.mod-no-form", name=f"{self.name!r}", language=language, has=has)
        return found

    def of_scores(self, scores: Any, *place: Any) -> Any:
        """What the form of torch makes of these scores."""
        import torch

        new = self.form("torch")(scores, *place)
        if not isinstance(new, torch.Tensor) or new.shape != scores.shape:
            got = f"{new!r:.80}"
            if isinstance(new, torch.Tensor):
                got = Message("kernels.a-tensor", {"shape": str(tuple(new.shape))})
            raise FlashpathError(
                "kernels.mod-gave", name=f"{self.name!r}", got=got, shape=str(tuple(scores.shape))
            )
        return new.to(scores.dtype)


def compiles_with(mod: ScoreMod | None) -> AbstractContextManager[None]:
    """Around a launch in Triton: what is wrong with `mod` is said of `mod`, not of the kernel around it."""
    return nullcontext() if mod is None else _compiles_with(mod)


@contextmanager
def _compiles_with(mod: ScoreMod) -> Generator[None]:
    try:
        yield
    except Exception as error:
        errors: Any = sys.modules.get("triton.compiler.errors")
        if errors is None or not isinstance(error, errors.CompilationError):
            raise
        inner: Any = error  # calls within calls: the innermost place says what is wrong
        while isinstance(inner.__cause__, errors.CompilationError):
            inner = inner.__cause__
        said = str(inner.error_message or inner.__cause__ or type(inner).__name__)
        lines = str(inner.src or "").splitlines()
        at = getattr(inner.node, "lineno", 0) - 1
        functions = [each for each in (mod.triton, mod.triton_derivative) if each is not None]
        own = inner.src in [each.src for each in functions] and 0 <= at < len(lines)
        line = {"number": at + 1, "text": lines[at].strip()} if own else {}
        where = Message("kernels.in-line", line) if own else ""
        raise FlashpathError(
            "kernels.mod-not-compiled",
            name=f"{mod.name!r}",
            said=f"{said:.300}",
            where=where,
            arguments=list(ARGUMENTS),
        ) from error


def _takes_a_place(function: Any) -> bool:
    """Whether it can be called with all ARGUMENTS, as far as can be told."""
    try:
        inspect.signature(function).bind(*ARGUMENTS)
    except TypeError:
        return False
    except ValueError:  # of what is not written in Python
        return True
    return True


def of_key(key: str) -> ScoreMod | None:
    """The one that `key` stands for; None for the empty key."""
    if not key:
        return None
    if key not in _all:
        raise FlashpathError("kernels.mod-gone", value=f"{key.partition('#')[0]!r}")
    return _all[key]


def given_mod(score_mod: Any) -> ScoreMod | None:
    """What a caller gave as `score_mod=`; a bare `@triton.jit` function adds to a score or hides it."""
    return score_mod if score_mod is None or isinstance(score_mod, ScoreMod) else _of_triton(score_mod)


def key_of(score_mod: Any) -> str:
    """What an operator is given in the place of what a caller gave."""
    mod = given_mod(score_mod)
    return "" if mod is None else mod.key


# As torch.compiler.assume_constant_result marks it, which would import half of torch's compiler for this.
key_of._dynamo_marked_constant = True  # pyright: ignore[reportFunctionMemberAccess]


_of_functions: dict[int, ScoreMod] = {}


def _of_triton(function: Any) -> ScoreMod:
    """The same one every time, which is also what keeps it alive."""
    jit: Any = sys.modules.get("triton.runtime.jit")  # whoever has such a function has imported Triton
    names = function.arg_names if jit is not None and isinstance(function, jit.JITFunction) else ()
    if len(names) != len(ARGUMENTS):
        raise FlashpathError("kernels.mod-is-none", function=f"{function!r:.80}", arguments=list(ARGUMENTS))
    if id(function) not in _of_functions:
        _of_functions[id(function)] = ScoreMod(function.__name__, triton=function)
    return _of_functions[id(function)]

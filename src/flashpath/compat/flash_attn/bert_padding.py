"""Between padded batches and the tokens that are there: flash-attn's `unpad_input` and `pad_input`."""

import torch

from flashpath.ops.checking import refuse, require_tensors

Tensor = torch.Tensor


def index_first_axis(input: Tensor, indices: Tensor) -> Tensor:  # noqa: A002 -- flash-attn's name for it
    """These rows of the first dimension."""
    require_tensors("index_first_axis", input=input, indices=indices)
    if not input.dim():
        refuse("compat.index-scalar")
    _require_places("index_first_axis", indices, input.shape[0])
    return input[indices]


def index_put_first_axis(values: Tensor, indices: Tensor, first_axis_dim: int) -> Tensor:
    """(first_axis_dim, …) with the values at these rows, and zeros elsewhere."""
    require_tensors("index_put_first_axis", values=values, indices=indices)
    if not values.dim() or indices.shape != values.shape[:1]:
        refuse("compat.put-rows", shape=str(tuple(indices.shape)), shape2=str(tuple(values.shape)))
    _require_places("index_put_first_axis", indices, first_axis_dim)
    return values.new_zeros((first_axis_dim, *values.shape[1:])).index_put((indices,), values)


def _require_places(name: str, indices: Tensor, rows: int) -> None:
    """Whole numbers of rows that there are; their values on the CPU only."""
    if indices.dtype not in (torch.int64, torch.int32):
        refuse("compat.indices-dtype", name=name, dtype=str(indices.dtype))
    if indices.is_cuda or not indices.numel() or torch.compiler.is_compiling():
        return
    least, most = int(indices.min()), int(indices.max())
    if least < 0 or most >= rows:
        refuse("compat.indices-range", name=name, least=least, most=most, rows=rows, rows2=rows - 1)


def unpad_input(
    hidden_states: Tensor, attention_mask: Tensor, unused_mask: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor, int, Tensor]:
    """(batch, sequence, …) and a mask (batch, sequence) → the tokens that are there, one after the other.

    Gives (tokens, where they were, bounds of the sequences in int32, the longest, tokens in use of each).
    `unused_mask` marks tokens that keep their place but are not in use.
    """
    require_tensors("unpad_input", hidden_states=hidden_states, attention_mask=attention_mask)
    if hidden_states.dim() < 2:
        refuse("compat.unpad-shape", shape=str(tuple(hidden_states.shape)))
    given = {"attention_mask": attention_mask}
    if unused_mask is not None:
        require_tensors("unpad_input", unused_mask=unused_mask)
        given["unused_mask"] = unused_mask
    for name, mask in given.items():
        if mask.shape != hidden_states.shape[:2]:
            refuse(
                "compat.unpad-mask",
                name=name,
                shape=str(tuple(mask.shape)),
                shape2=str(tuple(hidden_states.shape)),
                tuple=str(tuple(hidden_states.shape[:2])),
            )
    kept = attention_mask if unused_mask is None else attention_mask + unused_mask
    lengths = kept.sum(-1, dtype=torch.int32)
    in_use = attention_mask.sum(-1, dtype=torch.int32)
    indices = kept.flatten().nonzero().flatten()
    bounds = torch.zeros(len(lengths) + 1, dtype=torch.int32, device=lengths.device)
    bounds[1:] = lengths.cumsum(0)
    longest = int(lengths.max()) if len(lengths) else 0
    return index_first_axis(hidden_states.flatten(0, 1), indices), indices, bounds, longest, in_use


def pad_input(hidden_states: Tensor, indices: Tensor, batch: int, seqlen: int) -> Tensor:
    """The tokens back at their places of (batch, seqlen, …); zeros elsewhere."""
    require_tensors("pad_input", hidden_states=hidden_states, indices=indices)
    if not hidden_states.dim() or indices.shape != hidden_states.shape[:1]:
        refuse("compat.pad-shapes", shape=str(tuple(indices.shape)), shape2=str(tuple(hidden_states.shape)))
    if not indices.is_cuda and indices.numel() and not torch.compiler.is_compiling():
        least, most = int(indices.min()), int(indices.max())
        if least < 0 or most >= batch * seqlen:
            refuse(
                "compat.pad-range",
                least=least,
                most=most,
                batch=batch,
                seqlen=seqlen,
                batch2=batch * seqlen - 1,
            )
    padded = index_put_first_axis(hidden_states, indices, batch * seqlen)
    return padded.reshape(batch, seqlen, *hidden_states.shape[1:])

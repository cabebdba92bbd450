"""Between padded batches and the tokens that are there: flash-attn's `unpad_input` and `pad_input`."""

import torch

from flashpath.ops.checking import refuse, require_tensors

Tensor = torch.Tensor


def index_first_axis(input: Tensor, indices: Tensor) -> Tensor:  # noqa: A002 -- flash-attn's name for it
    """These rows of the first dimension."""
    require_tensors("index_first_axis", input=input, indices=indices)
    if not input.dim():
        refuse("index_first_axis got input of shape ().", "It takes (rows, …).")
    _require_places("index_first_axis", indices, input.shape[0])
    return input[indices]


def index_put_first_axis(values: Tensor, indices: Tensor, first_axis_dim: int) -> Tensor:
    """(first_axis_dim, …) with the values at these rows, and zeros elsewhere."""
    require_tensors("index_put_first_axis", values=values, indices=indices)
    if not values.dim() or indices.shape != values.shape[:1]:
        refuse(
            f"index_put_first_axis got indices of shape {tuple(indices.shape)} and values of "
            f"{tuple(values.shape)}.",
            "There is one index for each row of values.",
        )
    _require_places("index_put_first_axis", indices, first_axis_dim)
    return values.new_zeros((first_axis_dim, *values.shape[1:])).index_put((indices,), values)


def _require_places(name: str, indices: Tensor, rows: int) -> None:
    """Whole numbers of rows that there are; their values on the CPU only."""
    if indices.dtype not in (torch.int64, torch.int32):
        refuse(f"{name} got indices of {indices.dtype}.", "It takes int64 or int32.")
    if indices.is_cuda or not indices.numel() or torch.compiler.is_compiling():
        return
    least, most = int(indices.min()), int(indices.max())
    if least < 0 or most >= rows:
        refuse(
            f"{name} got indices from {least} to {most} for {rows} rows.", f"They are from 0 to {rows - 1}."
        )


def unpad_input(
    hidden_states: Tensor, attention_mask: Tensor, unused_mask: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor, int, Tensor]:
    """(batch, sequence, …) and a mask (batch, sequence) → the tokens that are there, one after the other.

    Gives (tokens, where they were, bounds of the sequences in int32, the longest, tokens in use of each).
    `unused_mask` marks tokens that keep their place but are not in use.
    """
    require_tensors("unpad_input", hidden_states=hidden_states, attention_mask=attention_mask)
    if hidden_states.dim() < 2:
        refuse(
            f"unpad_input got hidden_states of shape {tuple(hidden_states.shape)}.",
            "It takes (batch, sequence, …).",
        )
    given = {"attention_mask": attention_mask}
    if unused_mask is not None:
        require_tensors("unpad_input", unused_mask=unused_mask)
        given["unused_mask"] = unused_mask
    for name, mask in given.items():
        if mask.shape != hidden_states.shape[:2]:
            refuse(
                f"unpad_input got {name} of shape {tuple(mask.shape)} and hidden_states of "
                f"{tuple(hidden_states.shape)}.",
                f"The mask must be {tuple(hidden_states.shape[:2])}: (batch, sequence).",
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
        refuse(
            f"pad_input got indices of shape {tuple(indices.shape)} and hidden_states of "
            f"{tuple(hidden_states.shape)}.",
            "There is one index for each token: (tokens) and (tokens, …), as unpad_input gives them.",
        )
    if not indices.is_cuda and indices.numel() and not torch.compiler.is_compiling():
        least, most = int(indices.min()), int(indices.max())
        if least < 0 or most >= batch * seqlen:
            refuse(
                f"pad_input got indices from {least} to {most} for {batch} sequences of {seqlen}.",
                f"They are places from 0 to {batch * seqlen - 1}.",
            )
    padded = index_put_first_axis(hidden_states, indices, batch * seqlen)
    return padded.reshape(batch, seqlen, *hidden_states.shape[1:])

"""Between padded batches and the tokens that are there: flash-attn's `unpad_input` and `pad_input`."""

import torch

Tensor = torch.Tensor


def index_first_axis(input: Tensor, indices: Tensor) -> Tensor:  # noqa: A002 -- flash-attn's name for it
    """These rows of the first dimension."""
    return input[indices]


def index_put_first_axis(values: Tensor, indices: Tensor, first_axis_dim: int) -> Tensor:
    """(first_axis_dim, …) with the values at these rows, and zeros elsewhere."""
    return values.new_zeros((first_axis_dim, *values.shape[1:])).index_put((indices,), values)


def unpad_input(
    hidden_states: Tensor, attention_mask: Tensor, unused_mask: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor, int, Tensor]:
    """(batch, sequence, …) and a mask (batch, sequence) → the tokens that are there, one after the other.

    Gives (tokens, where they were, bounds of the sequences in int32, the longest, tokens in use of each).
    `unused_mask` marks tokens that keep their place but are not in use.
    """
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
    padded = index_put_first_axis(hidden_states, indices, batch * seqlen)
    return padded.reshape(batch, seqlen, *hidden_states.shape[1:])

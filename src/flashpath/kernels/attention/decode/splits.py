"""Into how many parts the keys of a step are split: a question of how many blocks a GPU runs at once."""

from __future__ import annotations


def splits_for(blocks: int, at_once: int, most: int) -> int:
    """As few as fill the GPU almost evenly: each one more is a part that has to be written and read again.

    `blocks` are there without splitting, of which the GPU runs `at_once` side by side.
    """

    def evenness(splits: int) -> float:
        waves = blocks * splits / at_once
        return waves / -(-blocks * splits // at_once)

    best = max(map(evenness, range(1, most + 1)))
    return next(splits for splits in range(1, most + 1) if evenness(splits) >= 0.9 * best)

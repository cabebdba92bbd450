"""What the 32 lanes of a warp can do together without memory: broadcast, reduce, vote, match, compact."""

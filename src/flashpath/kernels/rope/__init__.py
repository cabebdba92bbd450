"""Rotary position embedding: pairs of every head of q and k, turned by the angles of their position."""

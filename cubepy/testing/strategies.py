"""Hypothesis strategies for kernels.

A kernel is made from a seed, so an example is one number. :func:`cubepy.testing.reduce_kernel`
makes a failing one small, since hypothesis cannot shrink a seed.
"""

from __future__ import annotations

import zlib

from hypothesis import strategies as st

from cubepy.testing.generator import Feature, GeneratedKernel, generate_kernel

__all__ = ["kernels"]


def kernels(
    *, without: frozenset[Feature] = frozenset(), stream: str = "", size: int = 24
) -> st.SearchStrategy[GeneratedKernel]:
    """Random kernels that have none of some features; each `stream` has kernels of its own."""
    offset = zlib.crc32(stream.encode())
    seeds = st.integers(min_value=0, max_value=(1 << 32) - 1)
    made = seeds.map(lambda seed: generate_kernel(seed ^ offset, size=size))
    return made.filter(lambda kernel: not kernel.features & without) if without else made

"""Functions of whole vectors: the dot product, the length, the direction.

They are plain helpers of kernels, not ops of the table.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.frontend import library_function

__all__ = ["dot", "magnitude", "normalize"]


@library_function
def dot(a: Any, b: Any) -> Any:
    """The sum of the products of elements, added from first to last."""
    return sum(a * b)


@library_function
def magnitude(v: Any) -> Any:
    """The square root of the sum of squares; halves are squared and added in f32.

    Infinite where a square is too large for the type.
    """
    if v.dtype in (cb.f16, cb.bf16):
        wide = cb.f32(v)
        return cb.cast(v.dtype, cb.sqrt(dot(wide, wide)))
    return cb.sqrt(dot(v, v))


@library_function
def normalize(v: Any) -> Any:
    """`v / magnitude(v)`, NaN for a vector of zeros."""
    return v / magnitude(v)

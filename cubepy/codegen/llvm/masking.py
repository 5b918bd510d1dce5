"""Masks made from positions: which lanes of a gang lie below a bound."""

from __future__ import annotations

from cubepy.codegen.llvm.bounds import lane_limit, lanes_below
from cubepy.codegen.llvm.gang import Gang

__all__ = ["lanes_until"]


def lanes_until(gang: Gang, first: str, bound: str) -> tuple[str, ...]:
    """The lanes whose position, counted on from `first`, is below a bound."""
    masks = []
    for number in range(gang.parts):
        base = first
        if number:
            base = gang.w.value(f"add i64 {first}, {number * gang.layout.lanes}")
        masks.append(lanes_below(gang, lane_limit(gang, base, bound)))
    return tuple(masks)

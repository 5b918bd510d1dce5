"""Whether arrays agree to the bit, where any NaN is as good as another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cubepy.runtime import Device, device

__all__ = ["same_bits", "same_on_both"]

Numbers = np.ndarray[Any, np.dtype[Any]]


def same_bits(got: Numbers, expected: Numbers) -> Numbers:
    """A bool an element of two arrays of one type."""
    word = f"u{expected.itemsize}"
    same: Numbers = got.view(word) == expected.view(word)
    if expected.dtype.kind == "f":
        same |= np.isnan(got) & np.isnan(expected)
    return same


def same_on_both(
    kernel: Any, given: Sequence[Numbers], made: Sequence[Numbers], subject: Device
) -> None:
    """AssertionError where a kernel over `given` fills rows like those of `made` in another way on
    the device than on the reference.
    """
    results = []
    for where in (device("reference"), subject):
        out = [np.zeros_like(each) for each in made]
        kernel.over(given[0].size, device=where)(*given, *out)
        results.append(out)
    for expected, got in zip(*results, strict=True):
        for row, same in enumerate(same_bits(got, expected)):
            at = np.flatnonzero(~same)[:3]
            assert same.all(), (
                f"row {row}: {[[each[n] for each in given] for n in at]} gave "
                f"{got[row][at]}, not {expected[row][at]}"
            )

"""Unsigned numbers of 2**63 and more in guards and subscripts: none is taken as negative."""

from typing import Any

import numpy as np
import pytest

import cubepy as cb

TARGETS = ["reference", "cpu", "cpu:x86-64-v2+gang=4", "cpu+gang=64"]
UNITS = 37

GUARDS = [
    "u64(i) > 0xFFFFFFFFFFFFFFF0",
    "u64(i) >= u64(1 << 63)",
    "not u64(i) < 0x8000000000000000",
    "u64(0xFFFFFFFFFFFFFFFF) < u64(i)",
    "u64(i) + 0x8000000000000000 < u64(i)",
    "i > u64(0xFFFFFFFFFFFFFFFF)",
    "max(u64(i), large) < 64",
    "u64(i) * large > large and u64(i) > large",
]
SUBSCRIPTS = [
    "max(u64(i), 0xFFFFFFFFFFFFFF00)",
    "u64(i) + max(large, 0xFFFFFFFFFFFFFF00)",
    "u64(i) | 0x8000000000000000",
    "u64(i) + large",
    "max(large, u64(i))",
]


def kernel(text: str) -> Any:
    names: dict[str, Any] = {
        "cb": cb,
        **{each: getattr(cb, each) for each in ("Array", "i32", "u64")},
    }
    cb.exec(f"@cb.cube\ndef kernel(x: Array[i32], large: u64, out: Array[i32]):\n{text}", names)
    return names["kernel"]


def launched(text: str, device: str) -> np.ndarray[Any, Any]:
    """What a kernel leaves in the middle of an array that is larger on both sides."""
    around = np.zeros(3 * UNITS, np.int32)
    x = np.arange(1, UNITS + 1, dtype=np.int32)
    launch = kernel(text).over(UNITS, device=device)
    launch(x, (1 << 64) - 256, around[UNITS : 2 * UNITS])
    return around


@pytest.mark.parametrize("device", TARGETS)
@pytest.mark.parametrize("guard", GUARDS)
def test_guard_that_no_unit_passes(guard: str, device: str) -> None:
    body = f"    i = cb.ABSOLUTE_POS\n    if {guard}:\n        out[i] = x[i] + x[i] * 3\n"
    assert not launched(body, device).any()


@pytest.mark.parametrize("device", TARGETS)
@pytest.mark.parametrize("subscript", SUBSCRIPTS)
def test_subscript_far_outside(subscript: str, device: str) -> None:
    store = f"    i = cb.ABSOLUTE_POS\n    out[{subscript}] = x[i]\n"
    load = f"    i = cb.ABSOLUTE_POS\n    out[i] = x[{subscript}]\n"
    assert not launched(store, device).any()
    assert not launched(load, device).any()

"""checked, validate and unchecked mean the same for every kind of access.

Each kind reads an element, then writes it, at a subscript that each unit has of its own. Which
elements there are, and where they lie, is said once more in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cubepy as cb
from cubepy import Array, Comptime, Tensor, i32, i64
from cubepy.errors import OutOfBoundsError

SIZE, UNITS = 24, 37
DEVICES = ("reference", "cpu+gang=4", "cpu", "cpu+gang=64")
TILES = cb.Layout.tiled((4, 6), (2, 3))


@cb.cube
def one_of(array: Any, at: i64, value: i32) -> Any:
    before = array[at]
    array[at] = value
    return before


@cb.cube
def several_of(array: Any, at: i64, value: i32) -> Any:
    before = array[at]
    array[at] = value
    return sum(before)


@cb.cube
def global_memory(
    x: Array[i32], t: Tensor[i32], at: Array[i64], out: Array[i32], kind: Comptime[str]
) -> None:
    i = cb.ABSOLUTE_POS
    place, value = at[i], i32(i) + 100
    if kind == "array":
        out[i] = one_of(x, place, value)
    elif kind == "slice":
        out[i] = one_of(x[2:20:3], place, value)
    elif kind == "backwards":
        out[i] = one_of(x[::-1], place, value)
    elif kind == "first axis":
        out[i] = t[place, 2]
        t[place, 2] = value
    elif kind == "last axis":
        out[i] = t[1, place]
        t[1, place] = value
    elif kind == "row":
        out[i] = one_of(t[2], place, value)
    elif kind == "column":
        out[i] = one_of(t[1:, 4], place, value)
    elif kind == "reshaped":
        out[i] = one_of(x.reshape(4, 6)[1], place, value)
    else:
        out[i] = one_of(t.reshape(-1), place, value)


@cb.cube
def computed_places(
    x: Array[i32], t: Tensor[i32], at: Array[i64], out: Array[i32], kind: Comptime[str]
) -> None:
    i = cb.ABSOLUTE_POS
    place, value = at[i], i32(i) + 100
    if kind == "layout":
        tiles = x.view(TILES)
        out[i] = tiles[place, 5]
        tiles[place, 5] = value
    elif kind == "function":
        out[i] = one_of(x.view(5, lambda k: 23 - 4 * k), place, value)
    elif kind == "vectors":
        out[i] = several_of(x.vectorized(4), place, value)
    elif kind == "vectors of a slice":
        out[i] = several_of(x[3:].vectorized(4), place, value)
    else:
        out[i] = several_of(t[1].vectorized(2), place, value)


@cb.cube
def atomics(
    x: Array[i32], t: Tensor[i32], at: Array[i64], out: Array[i32], kind: Comptime[str]
) -> None:
    i = cb.ABSOLUTE_POS
    place, value = at[i], i32(i) + 100
    if kind == "atomic":
        out[i] = cb.atomic_exchange(x, place, value)
    elif kind == "atomic in a slice":
        out[i] = cb.atomic_exchange(x[1:9], place, value)
    elif kind == "atomic in a tensor":
        out[i] = cb.atomic_load(t, (place, 3))
        cb.atomic_store(t, (place, 3), value)
    else:
        before = cb.atomic_load(x, place, order="acquire")
        out[i] = cb.atomic_compare_exchange(x, place, before, value, order="acq_rel")


@cb.cube
def shared_memory(
    x: Array[i32], t: Tensor[i32], at: Array[i64], out: Array[i32], kind: Comptime[str]
) -> None:
    i = cb.UNIT_POS
    memory = cb.shared(i32, SIZE)
    if i < SIZE:
        memory[i] = x[i]
    cb.sync_cube()
    place, value = at[i], i32(i) + 100
    if kind == "shared":
        out[i] = one_of(memory, place, value)
    elif kind == "shared slice":
        out[i] = one_of(memory[3:9], place, value)
    elif kind == "shared table":
        out[i] = one_of(memory.reshape(4, 6)[:, 2], place, value)
    elif kind == "shared vectors":
        out[i] = several_of(memory.vectorized(8), place, value)
    else:
        out[i] = cb.atomic_exchange(memory[4:], place, value)
    cb.sync_cube()
    if i < SIZE:
        x[i] = memory[i]


@cb.cube
def private_memory(
    x: Array[i32], t: Tensor[i32], at: Array[i64], out: Array[i32], kind: Comptime[str]
) -> None:
    i = cb.ABSOLUTE_POS
    memory = cb.local_array(i32, (2, 3))
    for k in range(6):
        memory[k // 3, k % 3] = x[k]
    place, value = at[i], i32(i) + 100
    if kind == "private":
        out[i] = memory[1, place]
        memory[1, place] = value
    elif kind == "private slice":
        out[i] = one_of(memory[0][1:], place, value)
    else:
        out[i] = several_of(memory.reshape(-1).vectorized(2), place, value)
    total = 0
    for k in range(6):
        total = total * 7 + memory[k // 3, k % 3]
    out[UNITS + i] = total


# By kind: the kernel, how many subscripts are inside, and the elements that each one means.
Places = Callable[[int], Sequence[int]]
KINDS: dict[str, tuple[Any, int, Places]] = {
    "array": (global_memory, 24, lambda a: [a]),
    "slice": (global_memory, 6, lambda a: [2 + 3 * a]),
    "backwards": (global_memory, 24, lambda a: [23 - a]),
    "first axis": (global_memory, 4, lambda a: [6 * a + 2]),
    "last axis": (global_memory, 6, lambda a: [6 + a]),
    "row": (global_memory, 6, lambda a: [12 + a]),
    "column": (global_memory, 3, lambda a: [6 + 6 * a + 4]),
    "reshaped": (global_memory, 6, lambda a: [6 + a]),
    "flat": (global_memory, 24, lambda a: [a]),
    "layout": (computed_places, 4, lambda a: [TILES(a, 5)]),
    "function": (computed_places, 5, lambda a: [23 - 4 * a]),
    "vectors": (computed_places, 6, lambda a: list(range(4 * a, 4 * a + 4))),
    "vectors of a slice": (computed_places, 5, lambda a: list(range(3 + 4 * a, 7 + 4 * a))),
    "vectors of a row": (computed_places, 3, lambda a: [6 + 2 * a, 7 + 2 * a]),
    "atomic": (atomics, 24, lambda a: [a]),
    "atomic in a slice": (atomics, 8, lambda a: [1 + a]),
    "atomic in a tensor": (atomics, 4, lambda a: [6 * a + 3]),
    "compare and exchange": (atomics, 24, lambda a: [a]),
    "shared": (shared_memory, 24, lambda a: [a]),
    "shared slice": (shared_memory, 6, lambda a: [3 + a]),
    "shared table": (shared_memory, 4, lambda a: [6 * a + 2]),
    "shared vectors": (shared_memory, 3, lambda a: list(range(8 * a, 8 * a + 8))),
    "shared atomic": (shared_memory, 20, lambda a: [4 + a]),
    "private": (private_memory, 3, lambda a: [3 + a]),
    "private slice": (private_memory, 2, lambda a: [1 + a]),
    "private vectors": (private_memory, 3, lambda a: [2 * a, 2 * a + 1]),
}
WILD = [-(2**63), 2**63 - 1, -(2**31), 2**32, 2**32 + 1, 2**61, -(2**62) - 3, 2**62 // 3, 10**6]


def expected(kind: str, x: np.ndarray, at: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """The memory afterwards, and what was read."""
    _, count, places = KINDS[kind]
    after, out = x.copy(), np.zeros(2 * UNITS, np.int64)
    for unit, subscript in enumerate(at):
        own = x.copy() if kind.startswith("private") else after
        if 0 <= subscript < count:
            found = places(subscript)
            out[unit] = x[found].sum()
            own[found] = unit + 100
        if kind.startswith("private"):
            total = 0
            for value in own[:6].tolist():
                total = total * 7 + value
            out[UNITS + unit] = total
    return after, out.astype(np.int32)


def run(kind: str, device: str, check: str, at: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    x = np.arange(SIZE, dtype=np.int32) * 3 + 1
    out = np.zeros(2 * UNITS, np.int32)
    KINDS[kind][0].launch(
        x, x.reshape(4, 6), np.array(at, np.int64), out, kind, cube_count=1, cube_dim=UNITS,
        device=device, check=check,
    )  # fmt: skip
    return x, out


@given(st.sampled_from(sorted(KINDS)), st.sampled_from(DEVICES), st.data())
@settings(max_examples=80)
def test_every_access_in_every_mode(kind: str, device: str, data: st.DataObject) -> None:
    count = KINDS[kind][1]
    near = st.integers(-4, count + 4)
    drawn = st.lists(st.one_of(near, st.sampled_from(WILD)), unique=True, max_size=UNITS)
    at = data.draw(drawn)
    at += [-1 - unit * 1000 for unit in range(UNITS - len(at))]  # outside, every one
    order = data.draw(st.permutations(at)) if data.draw(st.booleans()) else at
    x = np.arange(SIZE, dtype=np.int32) * 3 + 1
    wanted = expected(kind, x, order)
    for got, want in zip(run(kind, device, "checked", order), wanted, strict=True):
        assert (got == want).all(), (kind, device)
    with pytest.raises(OutOfBoundsError) as caught:
        run(kind, device, "validate", order)
    assert caught.value.loc.known


# A cube is as large as the shared memory it fills, so each unit must find an element there.
_WHOLE = [kind for kind, (kernel, count, _) in sorted(KINDS.items())
          if kernel is not shared_memory or count == SIZE]  # fmt: skip


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize("kind", _WHOLE)
def test_inside_all_modes_are_the_same(kind: str, device: str) -> None:
    """As many units as there are subscripts inside."""
    kernel, count, _ = KINDS[kind]
    at = np.arange(count, dtype=np.int64)[::-1].copy()
    x = np.arange(SIZE, dtype=np.int32) * 3 + 1
    wanted, read = expected(kind, x, at.tolist())
    for check in ("checked", "validate", "unchecked"):
        memory, out = x.copy(), np.zeros(2 * UNITS, np.int32)
        kernel.launch(
            memory, memory.reshape(4, 6), at, out, kind, cube_count=1, cube_dim=at.size,
            device=device, check=check,
        )  # fmt: skip
        assert (memory == wanted).all(), check
        assert (out == read).all(), check

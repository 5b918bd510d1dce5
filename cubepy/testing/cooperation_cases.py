"""Cases for barriers, `cube_uniform` and atomics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cubepy.ir import BOOL, NO_ATTRS, SCALARS, SCOPES, OpDef, Scalar, Trait, ops
from cubepy.testing.cases import Case
from cubepy.testing.operands import operand_table
from cubepy.testing.text_cases import buffer, text_case

__all__ = ["COOPERATION_ROWS", "cooperation_cases"]

Array = np.ndarray[Any, Any]
UNITS = 50
CUBES = 3

_ATOMICS = {row.name: row for row in ops.BY_NAME.values() if row.has(Trait.ATOMIC)}
_COMMUTATIVE = ("atomic_add", "atomic_min", "atomic_max", "atomic_and_", "atomic_or_", "atomic_xor")
_WIDE = tuple(SCALARS[name] for name in ("i32", "u32", "i64", "u64", "f32", "f64"))
COOPERATION_ROWS = frozenset(_ATOMICS) | {
    "sync_cube", "sync_storage", "sync_plane", "fence", "cube_uniform",
}  # fmt: skip


def cooperation_cases(row: str, plane_dim: int) -> Iterator[Case]:
    """The cases of a row by which units work together."""
    if row == "sync_cube":
        yield from _rotations()
    elif row == "sync_storage":
        yield from (_exchange(units) for units in (1, 6, 64, 130))
    elif row == "fence":
        yield from (_fenced(scope) for scope in SCOPES)
    elif row == "sync_plane":
        yield _plane_exchange(plane_dim)
    elif row == "cube_uniform":
        yield from _spread()
    else:
        for type in _WIDE:
            if _takes(_ATOMICS[row], type):
                yield _own_atomic(_ATOMICS[row], type)
                if row in _COMMUTATIVE and not type.is_float:
                    yield _contended(_ATOMICS[row], type, shared=False)
                    yield _contended(_ATOMICS[row], type, shared=True)


def _content(type: Scalar, count: int, seed: int) -> Array:
    table = operand_table(type)
    return table[np.random.default_rng(seed).integers(0, table.size, count)]


# ── barriers ──


def _rotations() -> Iterator[Case]:
    """Two barriers a trip: each unit takes from its neighbour, then changes its element."""
    for units in (1, 7, 64, 130):
        body = f"""
          %memory: shared<i32, [{units}]> = shared [element=i32, shape=({units})]
          %i: index = absolute_pos
          %unit: index = unit_pos
          %value: i32 = load %values, %i [check=checked]
          store %memory, %unit, %value [check=checked]
          %size: index = const {units}
          %one: index = const 1
          %zero: index = const 0
          %up: index = add %unit, %one
          %next: index = floor_mod %up, %size
          %total: slot<i32> = local [element=i32]
          store_local %total, %value
          for %zero, %trips, %one (%k: index) {{
            sync_cube
            %other: i32 = load %memory, %next [check=checked]
            sync_cube
            %sum: i32 = load_local %total
            %more: i32 = add %sum, %other
            store_local %total, %more
            store %memory, %unit, %more [check=checked]
          }}
          %end: i32 = load_local %total
          store %out, %i, %end [check=checked]"""
        values = np.arange(CUBES * units, dtype=np.int32) * 7 % 31
        total = values.reshape(CUBES, units)
        for _ in range(5):
            total = total + np.roll(total, -1, axis=1)
        yield text_case(
            "sync_cube",
            f"{units} units",
            body,
            params={"values": buffer("i32"), "trips": "index", "out": buffer("i32")},
            arguments={"values": values, "trips": 5, "out": values},
            expected={"out": total.reshape(-1).astype(np.int32)},
            cube_dim=(units, 1, 1),
            cube_count=(CUBES, 1, 1),
        )


def _exchange(units: int) -> Case:
    """Each unit takes through global memory what another of its cube has."""
    body = f"""
      %i: index = absolute_pos
      %unit: index = unit_pos
      %value: i32 = load %values, %i [check=checked]
      store %between, %i, %value [check=checked]
      %last: index = const {units - 1}
      %mirror: index = sub %last, %unit
      %base: index = sub %i, %unit
      %other: index = add %base, %mirror
      sync_storage
      %read: i32 = load %between, %other [check=checked]
      store %out, %i, %read [check=checked]"""
    values = np.arange(CUBES * units, dtype=np.int32) * 7 % 31
    return text_case(
        "sync_storage",
        f"{units} units",
        body,
        params={name: buffer("i32") for name in ("values", "between", "out")},
        arguments={"values": values, "between": np.zeros_like(values), "out": values},
        expected={"out": values.reshape(CUBES, units)[:, ::-1].reshape(-1)},
        cube_dim=(units, 1, 1),
        cube_count=(CUBES, 1, 1),
    )


def _fenced(scope: str) -> Case:
    """A unit finds what it has written, whatever stands between."""
    body = f"""
      %i: index = absolute_pos
      %value: i32 = load %out, %i [check=checked]
      %one: i32 = const 1
      %next: i32 = add %value, %one
      store %out, %i, %next [check=checked]
      fence [scope={scope}]
      %again: i32 = load %out, %i [check=checked]
      %after: i32 = add %again, %one
      store %out, %i, %after [check=checked]"""
    values = np.arange(CUBES * UNITS, dtype=np.int32)
    return text_case(
        "fence",
        scope,
        body,
        params={"out": buffer("i32")},
        arguments={"out": values},
        expected={"out": values + 2},
        cube_dim=(UNITS, 1, 1),
        cube_count=(CUBES, 1, 1),
    )


def _plane_exchange(plane_dim: int) -> Case:
    """Neighbours in a plane exchange through shared memory."""
    units = 3 * plane_dim
    body = f"""
      %memory: shared<f32, [{units}]> = shared [element=f32, shape=({units})]
      %i: index = absolute_pos
      %unit: index = unit_pos
      %value: f32 = load %values, %i [check=checked]
      store %memory, %unit, %value [check=checked]
      sync_plane
      %one: index = const 1
      %other: index = bit_xor %unit, %one
      %read: f32 = load %memory, %other [check=checked]
      store %out, %i, %read [check=checked]"""
    values = np.arange(units, dtype=np.float32)
    return text_case(
        "sync_plane",
        "neighbours",
        body,
        params={"values": buffer("f32"), "out": buffer("f32")},
        arguments={"values": values, "out": values},
        expected={"out": values.reshape(-1, 2)[:, ::-1].reshape(-1)},
        cube_dim=(units, 1, 1),
    )


def _spread() -> Iterator[Case]:
    """Unit 0's value in all units, and a loop of so many trips with a barrier inside."""
    for type in (SCALARS["i32"], SCALARS["f64"], SCALARS["u8"], BOOL):
        body = f"""
          %i: index = absolute_pos
          %value: {type} = load %values, %i [check=checked]
          %same: {type} = cube_uniform %value
          store %out, %i, %same [check=checked]"""
        values = _content(type, CUBES * UNITS, 3)
        yield text_case(
            "cube_uniform",
            type.name,
            body,
            params={"values": buffer(type.name), "out": buffer(type.name)},
            arguments={"values": values, "out": values},
            expected={"out": np.repeat(values[::UNITS], UNITS)},
            cube_dim=(UNITS, 1, 1),
            cube_count=(CUBES, 1, 1),
        )


# ── atomics ──


def _takes(row: OpDef, type: Scalar) -> bool:
    bitwise = row.name in ("atomic_and_", "atomic_or_", "atomic_xor", "atomic_compare_exchange")
    return not (bitwise and type.is_float)


def _own_atomic(row: OpDef, type: Scalar) -> Case:
    """Each unit on an element of its own, some outside, some units not: old and new values."""
    size = CUBES * UNITS
    memory, value, expected = (_content(type, size, seed) for seed in (1, 2, 1))
    compares = row.name == "atomic_compare_exchange"
    if compares:
        expected[::3] = value[::3]
    units = np.arange(size)
    active, inside = units % 4 != 1, units < size - 5
    with np.errstate(all="ignore"):
        if compares:
            new = np.where(memory == expected, value, memory)
        elif row in (ops.ATOMIC_LOAD, ops.ATOMIC_STORE):
            new = memory if row is ops.ATOMIC_LOAD else value
        else:
            assert row.evaluate is not None
            new = row.evaluate(memory, value, type=type, attrs=NO_ATTRS)
    comparand = "%expected, " if compares else ""
    operands = f"%i, {comparand}%value" if row.has(Trait.WRITES) else "%i"
    result = f"%was: {type} = " if row is not ops.ATOMIC_STORE else ""
    keep = "store %old, %i, %was [check=checked]" if result else ""
    old = memory if result else np.zeros_like(memory)
    loads = f"%expected: {type} = load %comparands, %i [check=checked]" if compares else ""
    body = f"""
      %i: index = absolute_pos
      %value: {type} = load %values, %i [check=checked]
      {loads}
      %four: index = const 4
      %rest: index = floor_mod %i, %four
      %one: index = const 1
      %active: bool = ne %rest, %one
      if %active {{
        {result}{row.name} %memory, {operands} [check=checked, order=relaxed]
        {keep}
      }}"""
    nothing: Array = np.zeros(size, type.numpy)
    return text_case(
        row.name,
        f"{type}, own element",
        body,
        params={
            "memory": buffer(type.name, "1"),
            **{name: buffer(type.name) for name in ("values", "comparands", "old")},
        },
        arguments={"memory": memory, "values": value, "comparands": expected, "old": nothing},
        expected={
            "memory": np.where(active & inside, new, memory),
            "old": np.where(active & inside, old, nothing),
        },
        views={"memory": (0, (size - 5,), (1,))},
        cube_dim=(UNITS, 1, 1),
        cube_count=(CUBES, 1, 1),
    )


def _contended(row: OpDef, type: Scalar, *, shared: bool) -> Case:
    """Many units on few elements, one of them uniform for all; in any order the end is the same."""
    bins, size = 3, CUBES * UNITS
    values, initial = _content(type, size, 5), _content(type, bins + 1, 6)
    if row.name in ("atomic_and_", "atomic_or_"):  # so that not all bits are decided at once
        values = values | values[::-1] if row.name == "atomic_and_" else values & values[::-1]
    units = np.arange(size)
    active = units % 5 != 2
    totals = np.tile(initial, (CUBES, 1)) if shared else initial[None, :].copy()
    for at in np.flatnonzero(active).tolist():
        group = at // UNITS if shared else 0
        for place in (at % bins, bins):
            totals[group, place] = _once(row, type, totals[group, place], values[at])
    target = "%shared" if shared else "%memory"
    common = f"""
      %i: index = absolute_pos
      %value: {type} = load %values, %i [check=checked]
      %five: index = const 5
      %rest: index = floor_mod %i, %five
      %two: index = const 2
      %bins: index = const {bins}
      %bin: index = floor_mod %i, %bins
      %active: bool = ne %rest, %two"""
    update = f"""
      if %active {{
        %a: {type} = {row.name} {target}, %bin, %value [check=checked, order=relaxed]
        %b: {type} = {row.name} {target}, %bins, %value [check=checked, order=relaxed]
      }}"""
    if shared:
        body = f"""
          %shared: shared<{type}, [{bins + 1}]> = shared [element={type}, shape=({bins + 1})]
          {common}
          %unit: index = unit_pos
          %few: bool = le %unit, %bins
          if %few {{
            %start: {type} = load %initial, %unit [check=checked]
            store %shared, %unit, %start [check=checked]
          }}
          sync_cube
          {update}
          sync_cube
          if %few {{
            %cube: index = cube_pos
            %row: index = const {bins + 1}
            %base: index = mul %cube, %row
            %at: index = add %base, %unit
            %end: {type} = load %shared, %unit [check=checked]
            store %memory, %at, %end [check=checked]
          }}"""
    else:
        body = common + update
    memory = np.tile(initial, CUBES if shared else 1)
    return text_case(
        row.name,
        f"{type}, contended {'shared' if shared else 'global'}",
        body,
        params={name: buffer(type.name) for name in ("values", "initial", "memory")},
        arguments={"values": values, "initial": initial, "memory": memory},
        expected={"memory": totals.reshape(-1)},
        cube_dim=(UNITS, 1, 1),
        cube_count=(CUBES, 1, 1),
    )


def _once(row: OpDef, type: Scalar, old: Any, value: Any) -> Any:
    assert row.evaluate is not None
    with np.errstate(all="ignore"):
        pair = np.array([old], type.numpy), np.array([value], type.numpy)
        return row.evaluate(*pair, type=type, attrs=NO_ATTRS)[0]

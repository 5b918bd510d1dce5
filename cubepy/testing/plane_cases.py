"""Cases for plane operations: whole and partial planes, every type, lanes that are not there.

Planes are rows of `plane_dim` units of a cube. What is expected is computed lane by lane in plain
Python from the rules: missing lanes take no part, a float sum is a balanced tree over neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cubepy.ir import BOOL, FLOATS, INDEX, NO_ATTRS, SCALARS, OpDef, Scalar, ops
from cubepy.testing.cases import Case
from cubepy.testing.operands import operand_table
from cubepy.testing.text_cases import buffer, text_case

__all__ = ["PLANE_ROWS", "plane_cases"]

Array = np.ndarray[Any, Any]
Lanes = list[Any]

_COMBINE: Mapping[str, OpDef] = {"sum": ops.ADD, "prod": ops.MUL, "min": ops.MIN, "max": ops.MAX}
_SHUFFLES: Mapping[str, Callable[[int, int], int]] = {
    "shuffle": lambda lane, operand: operand,
    "shuffle_xor": lambda lane, operand: lane ^ operand,
    "shuffle_up": lambda lane, operand: lane - operand,
    "shuffle_down": lambda lane, operand: lane + operand,
}
_NUMBERS = tuple(type for type in SCALARS.values() if type not in (BOOL, INDEX))
_SHUFFLED = (("i32", "index"), ("u8", "i32"), ("f64", "u8"), ("f16", "i64"), ("bool", "u32"))
_VOTES = ("all", "any", "ballot", "elect")
PLANE_ROWS = frozenset(
    f"plane_{name}"
    for name in (
        *_COMBINE, *_SHUFFLES, *_VOTES, "broadcast", "inclusive_sum", "exclusive_sum",
        "inclusive_prod", "exclusive_prod",
    )
)  # fmt: skip


def plane_cases(row: str, plane_dim: int) -> Iterator[Case]:
    """The cases of a plane row on a device with planes of `plane_dim`."""
    name = row.removeprefix("plane_")
    for units in (4 * plane_dim, plane_dim + max(1, plane_dim // 2 - 1)):
        if name in _VOTES:
            yield _vote_case(row, name, units, plane_dim)
        elif name in _SHUFFLES or name == "broadcast":
            for value, lane in _SHUFFLED:
                types = SCALARS[value], SCALARS[lane]
                yield _shuffle_case(row, name, *types, units, plane_dim)
        else:
            for type in _NUMBERS:
                if type not in FLOATS or name in _COMBINE:
                    yield _number_case(row, name, type, units, plane_dim)


def _planes(values: Array, units: int, plane_dim: int) -> Iterator[Lanes]:
    """The lanes of each plane, as NumPy scalars."""
    for cube in range(0, values.size, units):
        for start in range(0, units, plane_dim):
            stop = min(start + plane_dim, units)
            yield [values[cube + at] for at in range(start, stop)]


def _content(type: Scalar, count: int) -> Array:
    """Table values in no order; most floats are small numbers, so that sums stay finite."""
    table = operand_table(type)
    random = np.random.default_rng(count)
    values = table[random.integers(0, table.size, count)]
    if type in FLOATS:
        small = random.normal(size=count).astype(np.float32).astype(type.numpy)
        values = np.where(np.arange(count) % 64 < 40, small, values)
    return np.asarray(values)


def _combined(row: OpDef, type: Scalar, a: Any, b: Any) -> Any:
    assert row.evaluate is not None
    with np.errstate(all="ignore"):
        pair = np.array([a], type.numpy), np.array([b], type.numpy)
        return row.evaluate(*pair, type=type, attrs=NO_ATTRS)[0]


def _tree(row: OpDef, type: Scalar, lanes: Lanes) -> Any:
    """Neighbours are combined, then those results; a lane without a neighbour stays as it is."""
    while len(lanes) > 1:
        pairs = [lanes[at : at + 2] for at in range(0, len(lanes), 2)]
        lanes = [_combined(row, type, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return lanes[0]


def _number(name: str, type: Scalar, lanes: Lanes) -> Lanes:
    if name in _COMBINE:
        return [_tree(_COMBINE[name], type, lanes)] * len(lanes)
    kind, _, operation = name.partition("_")
    row = _COMBINE[operation]
    result: Lanes = []
    running = type.numpy.type(0 if operation == "sum" else 1)
    for lane in lanes:
        after = _combined(row, type, running, lane)
        result.append(after if kind == "inclusive" else running)
        running = after
    return result


def _case(
    row: str, name: str, body: str, type: Scalar, inputs: Mapping[str, Array], expected: Array,
    units: int, plane_dim: int, types: Mapping[str, str],
) -> Case:  # fmt: skip
    """The op twice: by all planes, and in a branch that only every second plane takes."""
    cubes = expected.size // units
    odd = np.tile(np.arange(units) // plane_dim % 2 == 1, cubes)
    before = np.zeros(expected.size, expected.dtype)
    head = "\n".join(
        f"%{one}: {kind} = load %{one}_in, %i [check=checked]" for one, kind in types.items()
    )
    text = f"""
      %i: index = absolute_pos
      {head}
      {body.replace("RESULT", "result")}
      store %out, %i, %result [check=checked]
      %plane: index = plane_pos
      %two: index = const 2
      %rest: index = floor_mod %plane, %two
      %one: index = const 1
      %second: bool = eq %rest, %one
      if %second {{
        {body.replace("RESULT", "inside")}
        store %branch, %i, %inside [check=checked]
      }}"""
    params = {f"{one}_in": buffer(kind) for one, kind in types.items()}
    return text_case(
        row,
        f"{name}, {units} units",
        text,
        params={**params, "out": buffer(type.name), "branch": buffer(type.name)},
        arguments={
            **{f"{one}_in": array for one, array in inputs.items()},
            "out": before,
            "branch": before,
        },
        expected={"out": expected, "branch": np.where(odd, expected, before)},
        cube_dim=(units, 1, 1),
        cube_count=(cubes, 1, 1),
    )


def _number_case(row: str, name: str, type: Scalar, units: int, plane_dim: int) -> Case:
    values = _content(type, 2 * units)
    results = [_number(name, type, lanes) for lanes in _planes(values, units, plane_dim)]
    return _case(
        row,
        type.name,
        f"%RESULT: {type} = {row} %value",
        type,
        {"value": values},
        np.array([one for lanes in results for one in lanes], type.numpy),
        units,
        plane_dim,
        {"value": type.name},
    )


def _shuffle_case(
    row: str, name: str, type: Scalar, lane: Scalar, units: int, plane_dim: int
) -> Case:
    values = _content(type, 2 * units)
    random = np.random.default_rng(units)
    low = 0 if name == "broadcast" or not lane.is_signed else -2
    lanes = random.integers(low, plane_dim + 2, 2 * units)
    if name == "broadcast":  # the number is uniform and the lane is there
        lanes[:] = min(units % plane_dim or plane_dim, plane_dim) - 1
    numbers = lanes.astype(lane.numpy)
    expected: Lanes = []
    paired = zip(_planes(values, units, plane_dim), _planes(numbers, units, plane_dim), strict=True)
    for present, wanted in paired:
        for at, number in enumerate(wanted):
            source = int(number) if name == "broadcast" else _SHUFFLES[name](at, int(number))
            expected.append(present[source] if 0 <= source < len(present) else present[at])
    operand = f"%lane: {lane} = const {int(lanes[0])}\n" if name == "broadcast" else ""
    types = {"value": type.name} if operand else {"value": type.name, "lane": lane.name}
    return _case(
        row,
        f"{type}, lane {lane}",
        f"{operand.replace('%lane', '%lane_RESULT')}%RESULT: {type} = {row} %value, "
        + ("%lane_RESULT" if operand else "%lane"),
        type,
        {"value": values, "lane": numbers} if not operand else {"value": values},
        np.array(expected, type.numpy),
        units,
        plane_dim,
        types,
    )


def _vote(name: str, lanes: Sequence[bool]) -> Lanes:
    if name == "elect":
        return [at == 0 for at in range(len(lanes))]
    if name == "ballot":
        return [sum(1 << at for at, lane in enumerate(lanes) if lane)] * len(lanes)
    return [all(lanes) if name == "all" else any(lanes)] * len(lanes)


def _vote_case(row: str, name: str, units: int, plane_dim: int) -> Case:
    """Planes of all, none, one and some."""
    type = SCALARS["u64"] if name == "ballot" else BOOL
    plane = np.tile(np.arange(units) // plane_dim, 3)
    cube = np.repeat(np.arange(3), units)
    values = np.where(plane % 2 == 0, cube != 1, np.random.default_rng(1).random(3 * units) < 0.3)
    votes = [
        _vote(name, [bool(lane) for lane in lanes]) for lanes in _planes(values, units, plane_dim)
    ]
    operand = "" if name == "elect" else " %value"
    return _case(
        row,
        "vote",
        f"%RESULT: {type} = {row}{operand}",
        type,
        {"value": values},
        np.array([one for lanes in votes for one in lanes], type.numpy),
        units,
        plane_dim,
        {"value": "bool"},
    )

"""Cases for memory: bounds in every check mode, strides of every class, memory of cube and unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cubepy.errors import OutOfBoundsError
from cubepy.ir import BOOL, INDEX, SCALARS, Scalar
from cubepy.testing.cases import Argument, Case, View
from cubepy.testing.operands import operand_table, representative
from cubepy.testing.text_cases import buffer, text_case

__all__ = ["MEMORY_ROWS", "memory_cases"]

Array = np.ndarray[Any, Any]

SIZE = 11
# by stride class in IR text: start, stride
_VIEWS = {"1": (2, 1), "-1": (SIZE + 1, -1), "0": (5, 0), "?": (1, 3)}
_WILD = [-1, -2, -SIZE, 0, 1, 5, SIZE - 1, SIZE, SIZE + 1, 3 * SIZE, 1 << 31, (1 << 32) + 1]
_WILD += [-(1 << 63), (1 << 63) - 1, (1 << 62) // 3, -(1 << 32), 7, 2, 9, -(1 << 31)]
_STORED = tuple(type for type in SCALARS.values() if type is not INDEX)


def memory_cases(row: str) -> Iterator[Case]:
    """The cases of a memory row."""
    yield from _MAKERS[row]()


def _content(type: Scalar, count: int) -> Array:
    table = operand_table(type)
    return table[np.arange(count) % table.size]


def _reached(index: Array, extents: tuple[int, ...]) -> Array:
    inside: Array = np.all([(index >= 0) & (index < extent) for extent in extents], axis=0)
    return inside


def _length() -> Iterator[Case]:
    yield from _asked("length", lambda view, axis: view[1][axis])


def _stride() -> Iterator[Case]:
    yield from _asked("stride", lambda view, axis: view[2][axis])


def _asked(row: str, wanted: Any) -> Iterator[Case]:
    """Lengths or strides of buffers of each class, of one and of two axes."""
    for strides, view in (
        ("1", (0, (SIZE,), (1,))),
        ("?", (1, (7,), (3,))),
        ("-1", (9, (4,), (-1,))),
        ("0", (0, (6,), (0,))),
        ("?,1", (0, (3, 5), (7, 1))),
        ("1,?", (0, (5, 3), (1, 5))),
    ):
        axes = len(view[1])
        body = "\n".join(
            f"""%value{axis}: index = {row} %memory [axis={axis}]
            %at{axis}: index = const {axis}
            store %out, %at{axis}, %value{axis} [check=checked]"""
            for axis in range(axes)
        )
        expected = np.array([wanted(view, axis) for axis in range(axes)])
        yield text_case(
            row,
            f"[{strides}]",
            body,
            params={"memory": buffer("f32", strides), "out": buffer("index")},
            arguments={"memory": np.zeros(64, np.float32), "out": np.full(axes, -9)},
            expected={"out": expected},
            views={"memory": view},
            cube_dim=(1, 1, 1),
        )


# ── load and store ──


def _load() -> Iterator[Case]:
    for type in _STORED:
        yield _load_case(type, "1", "checked", np.array(_WILD))
    for strides in _VIEWS:
        yield _load_case(SCALARS["i32"], strides, "checked", np.array(_WILD))
        inside = np.arange(40) * 7 % SIZE
        yield _load_case(SCALARS["u16"], strides, "unchecked", inside)
        yield _load_case(SCALARS["f64"], strides, "validate", inside)
    yield _load_case(SCALARS["f32"], "1", "validate", np.array(_WILD), raises=True)
    yield from (_load_matrix(strides, view) for strides, view in _MATRICES)


def _load_case(
    type: Scalar, strides: str, check: str, index: Array, *, raises: bool = False
) -> Case:
    start, stride = _VIEWS[strides]
    memory = _content(type, start + SIZE * max(abs(stride), 1) + 2)
    there = _reached(index, (SIZE,))
    place = np.where(there, start + np.where(there, index, 0) * stride, 0)
    expected = np.where(there, memory[place], np.zeros(1, type.numpy)).astype(type.numpy)
    body = f"""
      %i: index = absolute_pos
      %at: index = load %index, %i [check=checked]
      %value: {type} = load %memory, %at [check={check}]
      store %out, %i, %value [check=checked]"""
    return text_case(
        "load",
        f"{type}, {strides}, {check}",
        body,
        params={
            "index": buffer("index"),
            "memory": buffer(type.name, strides),
            "out": buffer(type.name),
        },
        arguments={"index": index, "memory": memory, "out": np.zeros(index.size, type.numpy)},
        expected={"out": expected},
        views={"memory": (start, (SIZE,), (stride,))},
        cube_dim=(index.size, 1, 1),
        raises=OutOfBoundsError if raises else None,
    )


_MATRICES: tuple[tuple[str, View], ...] = (
    ("?,1", (3, (4, 6), (8, 1))),
    ("1,?", (0, (6, 4), (1, 7))),
    ("-1,?", (5, (6, 4), (-1, 6))),
    ("0,1", (2, (3, 9), (0, 1))),
)


def _load_matrix(strides: str, view: View) -> Case:
    """Subscripts that leave one axis and stay in memory must give 0."""
    start, (rows, columns), (down, along) = view
    row, column = (axis.reshape(-1) for axis in np.mgrid[-2 : rows + 2, -2 : columns + 3])
    memory = _content(SCALARS["i32"], 64)
    there = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    place = np.where(there, start + row * down + column * along, 0)
    body = """
      %i: index = absolute_pos
      %y: index = load %row, %i [check=checked]
      %x: index = load %column, %i [check=checked]
      %value: i32 = load %memory, %y, %x [check=checked]
      store %out, %i, %value [check=checked]"""
    return text_case(
        "load",
        f"matrix, {strides}",
        body,
        params={
            "row": buffer("index"),
            "column": buffer("index"),
            "memory": buffer("i32", strides),
            "out": buffer("i32"),
        },
        arguments={
            "row": row,
            "column": column,
            "memory": memory,
            "out": np.full(row.size, 77, np.int32),
        },
        expected={"out": np.where(there, memory[place], 0).astype(np.int32)},
        views={"memory": view},
        cube_count=(-(-row.size // 32), 1, 1),
    )


def _store() -> Iterator[Case]:
    for type in _STORED:
        yield _store_case(type, "1", "checked", np.array(_WILD))
    for strides in ("1", "-1", "?"):
        yield _store_case(SCALARS["i32"], strides, "checked", np.array(_WILD))
        inside = np.arange(SIZE) * 7 % SIZE
        yield _store_case(SCALARS["u8"], strides, "unchecked", inside)
        yield _store_case(SCALARS["f16"], strides, "validate", inside)
    yield _store_case(SCALARS["f32"], "1", "validate", np.array([0, SIZE]), raises=True)


def _store_case(
    type: Scalar, strides: str, check: str, index: Array, *, raises: bool = False
) -> Case:
    start, stride = _VIEWS[strides]
    memory = _content(type, start + SIZE * max(abs(stride), 1) + 2)
    values = memory[::-1][np.arange(index.size) % memory.size].copy()
    expected = memory.copy()
    for at, value in zip(index, values, strict=True):
        if 0 <= at < SIZE:
            expected[start + at * stride] = value
    body = f"""
      %i: index = absolute_pos
      %at: index = load %index, %i [check=checked]
      %value: {type} = load %values, %i [check=checked]
      store %memory, %at, %value [check={check}]"""
    return text_case(
        "store",
        f"{type}, {strides}, {check}",
        body,
        params={
            "index": buffer("index"),
            "values": buffer(type.name),
            "memory": buffer(type.name, strides),
        },
        arguments={"index": index, "values": values, "memory": memory},
        expected={"memory": expected},
        views={"memory": (start, (SIZE,), (stride,))},
        cube_dim=(index.size, 1, 1),
        raises=OutOfBoundsError if raises else None,
    )


# ── memory of the cube and of the unit ──


def _shared() -> Iterator[Case]:
    """Each unit writes its element and reads the one at the other end of the cube."""
    for type in _STORED:
        for units in (29, 64) if type.name in ("f32", "u8") else (29,):
            values = np.concatenate([_content(type, units), _content(type, units)[::-1]])
            body = f"""
              %memory: shared<{type}, [{units}]> = shared [element={type}, shape=({units})]
              %i: index = absolute_pos
              %unit: index = unit_pos
              %value: {type} = load %values, %i [check=checked]
              store %memory, %unit, %value [check=checked]
              sync_cube
              %last: index = const {units - 1}
              %other: index = sub %last, %unit
              %read: {type} = load %memory, %other [check=checked]
              store %out, %i, %read [check=checked]
              %far: index = add %unit, %last
              %beyond: {type} = load %memory, %far [check=checked]
              store %outside, %i, %beyond [check=checked]"""
            halves = values.reshape(2, units)
            outside = np.zeros((2, units), type.numpy)
            outside[:, 0] = halves[:, -1]
            yield text_case(
                "shared",
                f"{type}, {units} units",
                body,
                params={name: buffer(type.name) for name in ("values", "out", "outside")},
                arguments={"values": values, "out": values, "outside": values},
                expected={"out": halves[:, ::-1].reshape(-1), "outside": outside.reshape(-1)},
                cube_dim=(units, 1, 1),
                cube_count=(2, 1, 1),
            )


def _local_array() -> Iterator[Case]:
    """A 2 by 3 array of each unit, filled, changed at a subscript of its own, read at others."""
    units = 40
    unit = np.arange(units)
    for type in (SCALARS["i32"], SCALARS["u8"], SCALARS["f64"], SCALARS["i64"]):
        fill = "\n".join(
            f"""%y{k}: index = const {k // 3}
            %x{k}: index = const {k % 3}
            %v{k}: {type} = const {f"{k}.0" if type.is_float else k}
            store %memory, %y{k}, %x{k}, %v{k} [check=checked]"""
            for k in range(6)
        )
        body = f"""
          %memory: private<{type}, [2,3]> = local_array [element={type}, shape=(2, 3)]
          {fill}
          %i: index = absolute_pos
          %value: {type} = load %values, %i [check=checked]
          %two: index = const 2
          %row: index = floor_mod %i, %two
          %four: index = const 4
          %column: index = floor_mod %i, %four
          store %memory, %row, %column, %value [check=checked]
          %one: index = const 1
          %a: {type} = load %memory, %row, %one [check=checked]
          %b: {type} = load %memory, %one, %column [check=checked]
          %c: {type} = load %memory, %column, %two [check=checked]
          store %first, %i, %a [check=checked]
          store %second, %i, %b [check=checked]
          store %third, %i, %c [check=checked]"""
        values = (unit + 100).astype(type.numpy)
        arrays = np.zeros((units, 5, 5), type.numpy)
        arrays[:, :2, :3] = np.arange(6).reshape(2, 3)
        row, column = unit % 2, unit % 4
        inside = column < 3
        arrays[unit[inside], row[inside], column[inside]] = values[inside]
        yield text_case(
            "local_array",
            type.name,
            body,
            params={name: buffer(type.name) for name in ("values", "first", "second", "third")},
            arguments=dict.fromkeys(("values", "first", "second", "third"), values),
            expected={
                "first": arrays[unit, row, 1],
                "second": arrays[unit, 1, column],
                "third": arrays[unit, column, 2],
            },
            cube_dim=(units, 1, 1),
        )


def _slots(row: str) -> Iterator[Case]:
    """A variable set by all, then by some under a branch, then by fewer in a loop; read by all."""
    for type in SCALARS.values():
        choices = representative(type, 3 if type is not BOOL else 2)
        values = {name: choices[k % choices.size] for k, name in enumerate(("a", "b", "c"))}
        units = np.arange(45)
        gate = units % 3 == 1
        body = f"""
          %v: slot<{type}> = local [element={type}]
          store_local %v, %a
          %i: index = absolute_pos
          %three: index = const 3
          %rest: index = floor_mod %i, %three
          %one: index = const 1
          %chosen: bool = eq %rest, %one
          if %chosen {{
            store_local %v, %b
          }}
          %seen: {type} = load_local %v
          store %after_if, %i, %seen [check=checked]
          %zero: index = const 0
          for %zero, %rest, %one (%k: index) {{
            %last: bool = eq %k, %one
            if %last {{
              store_local %v, %c
              break
            }}
          }}
          %end: {type} = load_local %v
          store %after_loop, %i, %end [check=checked]"""
        after_if = np.where(gate, values["b"], values["a"]).astype(type.numpy)
        after_loop = np.where(units % 3 == 2, values["c"], after_if).astype(type.numpy)
        scalars: dict[str, Argument] = {name: value.item() for name, value in values.items()}
        if type.is_float:
            scalars = {name: float(value) for name, value in values.items()}
        yield text_case(
            row,
            type.name,
            body,
            params={
                **dict.fromkeys(values, type.name),
                **{name: buffer(type.name) for name in ("after_if", "after_loop")},
            },
            arguments={**scalars, "after_if": after_if[::-1], "after_loop": after_if[::-1]},
            expected={"after_if": after_if, "after_loop": after_loop},
            cube_dim=(15, 1, 1),
            cube_count=(3, 1, 1),
        )


_MAKERS: dict[str, Any] = {
    "length": _length,
    "stride": _stride,
    "load": _load,
    "store": _store,
    "shared": _shared,
    "local_array": _local_array,
    "local": lambda: _slots("local"),
    "load_local": lambda: _slots("load_local"),
    "store_local": lambda: _slots("store_local"),
}
MEMORY_ROWS = frozenset(_MAKERS)

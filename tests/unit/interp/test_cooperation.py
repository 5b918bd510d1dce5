"""Barriers and plane ops against loops over units in plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from cubepy.errors import DivergentBarrierError
from cubepy.interp import Reports
from cubepy.ir import SCALARS
from tests.unit.interp.launching import Array, launch

PLANE_OP = """
kernel @plane(%x: global<{type}, [1], read, 0>, %l: global<{lane}, [1], read, 1>,
              %y: global<{result}, [1], write, 2>) cube_dim({units}, 1, 1) {{
  %i: index = absolute_pos
  %v: {type} = load %x, %i [check=checked]
  %w: {lane} = load %l, %i [check=checked]
  %r: {result} = plane_{name} {operands}
  store %y, %i, %r [check=checked]
}}
"""


def by_plane(name: str, values: Array, lanes: Array, plane: int, units: int) -> Array:
    """Run a plane op over `values.size / units` cubes."""
    type = {"b": "bool", "i": f"i{8 * values.itemsize}", "u": f"u{8 * values.itemsize}"}.get(
        values.dtype.kind, f"f{8 * values.itemsize}"
    )
    lane = f"{lanes.dtype.kind}{8 * lanes.itemsize}"
    result = "u64" if name == "ballot" else "bool" if name == "elect" else type
    operands = "" if name == "elect" else "%v, %w" if name in LANE_OPS else "%v"
    out = np.zeros(values.size, dtype=SCALARS[result].numpy)
    text = PLANE_OP.format(
        type=type, lane=lane, result=result, units=units, name=name, operands=operands
    )
    launch(text, values, lanes, out, cubes=values.size // units, plane_dim=plane)
    return out


def planes_of(values: Array, plane: int, units: int) -> list[Array]:
    """The values of each plane; the last of a cube may be short."""
    cubes = values.reshape(-1, units)
    return [cube[start : start + plane] for cube in cubes for start in range(0, units, plane)]


def tree(values: Iterable[Any], combine: Callable[[Any, Any], Any]) -> Any:
    """A balanced tree over neighbours; who has no neighbour goes up alone."""
    level = list(values)
    while len(level) > 1:
        level = [
            combine(level[i], level[i + 1]) if i + 1 < len(level) else level[i]
            for i in range(0, len(level), 2)
        ]
    return level[0]


def running(values: Array, combine: Callable[[Any, Any], Any]) -> list[Any]:
    return list(itertools.accumulate(values, combine))


def py_min(a: Any, b: Any) -> Any:
    if np.isnan(a) or np.isnan(b):
        return a + b
    return min((a, np.copysign(1, a)), (b, np.copysign(1, b)))[0]


def py_max(a: Any, b: Any) -> Any:
    if np.isnan(a) or np.isnan(b):
        return a + b
    return max((a, np.copysign(1, a)), (b, np.copysign(1, b)))[0]


COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + b,
    "prod": lambda a, b: a * b,
    "min": py_min,
    "max": py_max,
}
LANE_OPS = ("broadcast", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down")
SIZES = [(4, 4), (4, 8), (4, 6), (4, 3), (8, 20), (16, 16), (16, 5), (1, 3)]
NO_LANES = np.zeros(400, dtype=np.int32)


def sample(dtype: str, count: int) -> Array:
    random = np.random.default_rng(3)
    if dtype.startswith("f"):
        values = random.normal(size=count) * 10.0 ** random.integers(-3, 4, count)
        values[:: max(1, count // 7)] = -0.0
        return values.astype(dtype)
    ends = np.iinfo(dtype)
    return random.integers(ends.min, ends.max, count, dtype=dtype, endpoint=True)


@pytest.mark.parametrize(("plane", "units"), SIZES)
@pytest.mark.parametrize("dtype", ["i1", "i4", "u8", "f2", "f4", "f8"])
@pytest.mark.parametrize("name", COMBINE)
def test_reductions_are_trees_over_the_lanes_that_exist(
    name: str, dtype: str, plane: int, units: int
) -> None:
    values = sample(dtype, 3 * units)
    with np.errstate(all="ignore"):
        expected = [
            tree(row, COMBINE[name]) for row in planes_of(values, plane, units) for _ in row
        ]
    got = by_plane(name, values, NO_LANES, plane, units)
    assert got.tobytes() == np.array(expected, dtype=dtype).tobytes()


@pytest.mark.parametrize(("plane", "units"), SIZES)
@pytest.mark.parametrize("dtype", ["i1", "u4", "f2", "f4"])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_scans_go_lane_by_lane(name: str, dtype: str, plane: int, units: int) -> None:
    values = sample(dtype, 3 * units)
    rows = planes_of(values, plane, units)
    empty = np.array(0 if name == "sum" else 1).astype(dtype)[()]
    with np.errstate(all="ignore"):
        inclusive = [running(row, COMBINE[name]) for row in rows]
    got = by_plane(f"inclusive_{name}", values, NO_LANES, plane, units)
    assert got.tobytes() == np.array([*itertools.chain(*inclusive)], dtype=dtype).tobytes()
    exclusive = [[empty, *row[:-1]] for row in inclusive]
    got = by_plane(f"exclusive_{name}", values, NO_LANES, plane, units)
    assert got.tobytes() == np.array([*itertools.chain(*exclusive)], dtype=dtype).tobytes()


def test_minimum_of_a_plane_is_nan_if_one_lane_is() -> None:
    values = np.array([1, np.nan, 3, 4, 0.0, -0.0, 0.0, 2], dtype=np.float32)
    low = by_plane("min", values, NO_LANES, 4, 4)
    high = by_plane("max", -values, NO_LANES, 4, 4)
    assert np.isnan(low[:4]).all()
    assert np.isnan(high[:4]).all()
    assert np.signbit(low[4:]).all()
    assert not np.signbit(high[4:]).any()


SOURCE: dict[str, Callable[[int, int], int]] = {
    "broadcast": lambda own, operand: operand,
    "shuffle": lambda own, operand: operand,
    "shuffle_xor": lambda own, operand: own ^ operand,
    "shuffle_up": lambda own, operand: own - operand,
    "shuffle_down": lambda own, operand: own + operand,
}


@pytest.mark.parametrize(("plane", "units"), SIZES)
@pytest.mark.parametrize("lane_dtype", ["i1", "u1", "i4", "u8", "i8"])
@pytest.mark.parametrize("name", LANE_OPS)
def test_shuffles_take_the_own_value_from_a_missing_lane(
    name: str, lane_dtype: str, plane: int, units: int
) -> None:
    values = np.arange(3 * units, dtype=np.int16) * 3 + 1
    ends = np.iinfo(lane_dtype)
    choice = [0, 1, 2, 3, plane - 1, plane, plane + 1, 64, ends.max, ends.max - 1, ends.min, -1, -2]
    choice = [lane for lane in choice if ends.min <= lane <= ends.max]
    picked = np.random.default_rng(4).integers(0, len(choice), values.size)
    lanes = np.array([choice[p] for p in picked], dtype=lane_dtype)
    got = by_plane(name, values, lanes, plane, units)
    expected = []
    lane_rows = planes_of(lanes, plane, units)
    for row, operands in zip(planes_of(values, plane, units), lane_rows, strict=True):
        for own, value in enumerate(row):
            lane = SOURCE[name](own, int(operands[own]))
            expected.append(row[lane] if 0 <= lane < len(row) else value)
    assert got.tolist() == [int(v) for v in expected]


@pytest.mark.parametrize(("plane", "units"), [*SIZES, (64, 70)])
@pytest.mark.parametrize("density", [0.0, 0.3, 0.9, 1.0])
def test_votes_count_the_lanes_that_exist(density: float, plane: int, units: int) -> None:
    votes = np.random.default_rng(9).random(3 * units) < density
    rows = planes_of(votes, plane, units)
    everyone = [bool(row.all()) for row in rows for _ in row]
    someone = [bool(row.any()) for row in rows for _ in row]
    bits = [sum(1 << p for p, vote in enumerate(row) if vote) for row in rows for _ in row]
    first = [lane == 0 for row in rows for lane in range(len(row))]
    assert by_plane("all", votes, NO_LANES, plane, units).tolist() == everyone
    assert by_plane("any", votes, NO_LANES, plane, units).tolist() == someone
    assert by_plane("ballot", votes, NO_LANES, plane, units).tolist() == bits
    assert by_plane("elect", votes, NO_LANES, plane, units).tolist() == first


def test_positions_follow_the_formulas() -> None:
    names = ["unit_pos", "unit_pos_x", "unit_pos_y", "unit_pos_z", "unit_pos_plane", "plane_pos"]
    names += ["plane_dim", "cube_pos", "cube_pos_x", "cube_pos_y", "cube_pos_z", "cube_count"]
    names += ["cube_count_x", "cube_count_y", "cube_count_z", "absolute_pos", "absolute_pos_x"]
    names += ["absolute_pos_y", "absolute_pos_z", "extent_x", "extent_y", "extent_z"]
    stores = "".join(
        f"%v{k}: index = {name}\n%k{k}: index = const {k}\n"
        f"store %y, %slot, %k{k}, %v{k} [check=unchecked]\n"
        for k, name in enumerate(names)
    )
    dim, count, extent, plane = (3, 2, 2), (2, 3, 2), (5, 6, 3), 5
    kernel = f"""
    kernel @where(%y: global<index, [?,1], write, 0>) cube_dim{dim} {{
      %u: index = unit_pos
      %c: index = cube_pos
      %units: index = const 12
      %first: index = mul %c, %units
      %slot: index = add %first, %u
      {stores}
    }}
    """
    out = np.zeros((12 * 12, len(names)), dtype=np.int64)
    launch(kernel, out, cubes=count, extent=extent, plane_dim=plane)
    row = 0
    for cz, cy, cx in np.ndindex(count[::-1]):
        for uz, uy, ux in np.ndindex(dim[::-1]):
            unit = ux + uy * 3 + uz * 6
            x, y, z = cx * 3 + ux, cy * 2 + uy, cz * 2 + uz
            expected = [unit, ux, uy, uz, unit % plane, unit // plane, plane]
            expected += [cx + cy * 2 + cz * 6, cx, cy, cz, 12, *count]
            expected += [x + y * 6 + z * 36, x, y, z, *extent]
            assert out[row].tolist() == expected
            row += 1


def test_cube_uniform_gives_the_value_of_unit_zero() -> None:
    kernel = """
    kernel @uniform(%x: global<f16, [1], read, 0>, %y: global<f16, [1], write, 1>)
        cube_dim(3, 1, 1) {
      %i: index = absolute_pos
      %v: f16 = load %x, %i [check=checked]
      %u: f16 = cube_uniform %v
      store %y, %i, %u [check=checked]
    }
    """
    for cubes in (1, 4):
        x = np.arange(3 * cubes, dtype=np.float16)
        out = np.zeros_like(x)
        launch(kernel, x, out, cubes=cubes)
        assert out.tolist() == [3.0 * (i // 3) for i in range(3 * cubes)]


REDUCE = """
kernel @block_sum(%x: global<i32, [1], read, 0>, %y: global<i32, [1], write, 1>)
    cube_dim(8, 1, 1) {
  %t: shared<i32, [8]> = shared [element=i32, shape=(8)]
  %u: index = unit_pos
  %i: index = absolute_pos
  %v: i32 = load %x, %i [check=checked]
  store %t, %u, %v [check=checked]
  sync_cube
  %w: slot<index> = local [element=index]
  %four: index = const 4
  %two: index = const 2
  %zero: index = const 0
  store_local %w, %four
  while {
    %h: index = load_local %w
    %on: bool = gt %h, %zero
    yield %on
  } do {
    %d: index = load_local %w
    %low: bool = lt %u, %d
    if %low {
      %j: index = add %u, %d
      %a: i32 = load %t, %u [check=checked]
      %b: i32 = load %t, %j [check=checked]
      %s: i32 = add %a, %b
      store %t, %u, %s [check=checked]
    }
    SYNC !0
    %half: index = floor_div %d, %two
    store_local %w, %half
  }
  %first: bool = eq %u, %zero
  if %first {
    %r: i32 = load %t, %zero [check=checked]
    %c: index = cube_pos
    store %y, %c, %r [check=checked]
  }
}
!0 = "sum.py" 20:4-20:17
"""


def test_block_reduction_with_barriers_in_a_loop() -> None:
    x = np.arange(40, dtype=np.int32) ** 2
    out = np.zeros(5, dtype=np.int32)
    launch(REDUCE.replace("SYNC", "sync_cube"), x, out, cubes=5)
    assert out.tolist() == x.reshape(5, 8).sum(axis=1).tolist()


DIVERGENT = """
kernel @divergent(%n: index) cube_dim(6, 1, 1) {
  %u: index = unit_pos
  %c: bool = lt %u, %n !1
  BODY
}
!0 = "d.py" 9:4-9:17
!1 = "d.py" 5:4-5:14
!2 = "d.py" 6:4-6:10
"""


@pytest.mark.parametrize(
    ("body", "note"),
    [
        ("if %c !1 { sync_cube !0 }", "5:5: note: unit 3 of cube 0 took another"),
        ("if %c { } else { return !2 } sync_cube !0",
         "6:5: note: unit 3 of cube 0 left"),
        ("block { if %c { } else { leave !2 } sync_cube !0 }", "d.py:6:5: note: unit 3"),
        ("while { %t: bool = const true yield %t } do { if %c { } else { break !2 } sync_cube !0 }",
         "d.py:6:5: note: unit 3"),
        ("""%a: index = const 0 %b: index = const 1
            for %a, %b, %b (%k: index) { if %c { } else { continue !2 } sync_cube !0 }""",
         "d.py:6:5: note: unit 3"),
        ("""%a: index = const 0 %b: index = const 1
            for %a, %n, %b (%k: index) { } for %a, %u, %b !1 (%q: index) { sync_cube !0 }""",
         "d.py:5:5: note: unit 0 of cube 0 took another way"),
    ],
)  # fmt: skip
def test_barrier_that_some_units_miss_is_reported_with_both_places(body: str, note: str) -> None:
    kernel = DIVERGENT.replace("BODY", body)
    with pytest.raises(DivergentBarrierError) as caught:
        launch(kernel, 3, cubes=2)
    assert str(caught.value).startswith("d.py:9:5: error: `sync_cube` is reached by ")
    assert note in str(caught.value)
    if "%u, %b" not in body and "while" not in body:
        for everyone in (6, 0):
            launch(kernel, everyone, cubes=2)
    if "while" not in body:
        launch(kernel, 3, cubes=2, reports=Reports(barriers=False))


def test_a_cube_that_skips_the_barrier_as_a_whole_is_fine() -> None:
    kernel = """
    kernel @skip(%y: global<i32, [1], write, 0>) cube_dim(2, 1, 1) {
      %c: index = cube_pos
      %one: index = const 1
      %on: bool = eq %c, %one
      if %on {
        sync_cube
        %i: index = absolute_pos
        %v: i32 = const 7
        store %y, %i, %v [check=checked]
      }
    }
    """
    out = np.zeros(8, dtype=np.int32)
    launch(kernel, out, cubes=4)
    assert out.tolist() == [0, 0, 7, 7, 0, 0, 0, 0]


def test_plane_op_in_a_part_of_a_plane_is_reported() -> None:
    kernel = """
    kernel @part(%n: index) cube_dim(6, 1, 1) {
      %u: index = unit_pos
      %c: bool = lt %u, %n
      if %c {
        %s: index = plane_sum %u
        sync_plane
      }
    }
    """
    for whole in (0, 4, 6):
        launch(kernel, whole, cubes=2)
    for partial, units in ((2, "2 of 4"), (5, "1 of 2")):
        with pytest.raises(DivergentBarrierError, match=f"`plane_sum` is reached by {units} units"):
            launch(kernel, partial, cubes=2)

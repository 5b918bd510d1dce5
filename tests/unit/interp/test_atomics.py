"""Atomics against a loop over the units in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cubepy.errors import UninitializedReadError
from cubepy.interp import Reports
from tests.unit.interp.launching import Array, launch

BF16 = np.dtype(ml_dtypes.bfloat16)
KERNEL = """
kernel @atomic(%x: global<{type}, [?], read_write, 0>, %p: global<index, [1], read, 1>,
               %v: global<{type}, [1], read, 2>, %old: global<{type}, [1], write, 3>)
    cube_dim(8, 1, 1) {{
  %i: index = absolute_pos
  %where: index = load %p, %i [check=checked]
  %what: {type} = load %v, %i [check=checked]
  %r: {type} = atomic_{name} %x, %where, %what [check=checked]
  {keep}
}}
"""
KEEP = "store %old, %i, %r [check=checked]"
TYPES = {
    "i8": "i1", "u8": "u1", "i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8",
    "f16": "f2", "bf16": BF16, "f32": "f4", "f64": "f8",
}  # fmt: skip


def ordered(value: Any) -> tuple[float, float]:
    """Numbers in order, with -0.0 below 0.0."""
    return value.item() if value.dtype.kind in "iu" else float(value), np.copysign(
        1.0, float(value)
    )


def extreme(pick: Callable[..., Any], a: Any, b: Any) -> Any:
    return a + b if np.isnan(a) or np.isnan(b) else pick(a, b, key=ordered)


COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "min": lambda a, b: extreme(min, a, b),
    "max": lambda a, b: extreme(max, a, b),
    "and_": lambda a, b: a & b,
    "or_": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "exchange": lambda a, b: b,
}


FLOATS = ("f16", "bf16", "f32", "f64")
CASES = [
    (name, type)
    for name in COMBINE
    for type in TYPES
    if type not in FLOATS or name not in ("and_", "or_", "xor")
]


def operands(type: str, count: int, spread: int) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(11)
    dtype = np.dtype(TYPES[type])
    if type.startswith(("i", "u")):
        x, v = (
            random.integers(0, 256, size, dtype=np.uint8).astype(dtype) * dtype.type(37)
            for size in (spread, count)
        )
    else:
        x, v = ((random.normal(size=size) * 100).astype(dtype) for size in (spread, count))
        v[:: max(1, count // 5)] = -0.0
        v[count // 2] = np.nan
    places = random.integers(-2, spread + 2, count)
    return x, v, places


@pytest.mark.parametrize("keep", [KEEP, ""], ids=["used", "unused"])
@pytest.mark.parametrize("spread", [1, 3, 200])
@pytest.mark.parametrize(("name", "type"), CASES)
def test_atomics_are_as_if_units_came_one_by_one(
    name: str, type: str, spread: int, keep: str
) -> None:
    x, v, places = operands(type, 48, spread)
    expected, old = x.copy(), np.zeros_like(v)
    with np.errstate(all="ignore"):
        for unit, place in enumerate(places):
            if 0 <= place < spread:
                old[unit] = expected[place]
                expected[place] = COMBINE[name](expected[place], v[unit])
    buffer = np.zeros(2 * spread, dtype=x.dtype)
    buffer[::2] = x
    seen = np.zeros_like(v)
    text = KERNEL.format(type=type, name=name, keep=keep)
    launch(text, buffer[::2], places, v, seen, cubes=6, reports=Reports(races="all"))
    assert np.array_equal(np.isnan(buffer[::2]), np.isnan(expected))
    bits = f"u{x.dtype.itemsize}"
    valid = ~np.isnan(expected)
    assert buffer[::2].view(bits)[valid].tolist() == expected.view(bits)[valid].tolist()
    assert not buffer[1::2].astype(np.float64).any()
    if keep:
        assert np.array_equal(seen.astype(np.float64), old.astype(np.float64), equal_nan=True)


@pytest.mark.parametrize("type", ["i32", "f32", "u64"])
def test_compare_exchange_takes_one_winner(type: str) -> None:
    kernel = """
    kernel @win(%x: global<TYPE, [1], read_write, 0>, %e: TYPE, %old: global<TYPE, [1], write, 1>)
        cube_dim(4, 1, 1) {
      %i: index = absolute_pos
      %z: index = const 0
      %v: TYPE = cast %i [to=TYPE]
      %five: TYPE = const FIVE
      %w: TYPE = add %v, %five
      %r: TYPE = atomic_compare_exchange %x, %z, %e, %w [check=checked]
      store %old, %i, %r [check=checked]
    }
    """.replace("TYPE", type).replace("FIVE", "5.0" if type == "f32" else "5")
    x, old = (np.zeros(size, dtype=TYPES[type]) for size in (1, 8))
    launch(kernel, x, 0, old, cubes=2)
    assert x.tolist() == [5]
    assert old.tolist() == [0] + [5] * 7
    launch(kernel, x, 7, old, cubes=2)
    assert x.tolist() == [5]


def test_compare_exchange_of_floats_compares_bits() -> None:
    kernel = """
    kernel @bits(%x: global<f32, [1], read_write, 0>, %e: f32) cube_dim(1, 1, 1) {
      %i: index = absolute_pos
      %v: f32 = const 5.0
      %r: f32 = atomic_compare_exchange %x, %i, %e, %v [check=checked]
    }
    """
    for stored, expected, after in ((0.0, -0.0, 0.0), (-0.0, -0.0, 5.0), (np.nan, np.nan, 5.0)):
        x = np.array([stored], dtype=np.float32)
        launch(kernel, x, expected)
        assert x.tolist() == [after]


def test_counter_in_shared_memory_gives_every_unit_its_number() -> None:
    kernel = """
    kernel @count(%y: global<u32, [1], write, 0>) cube_dim(6, 1, 1) {
      %c: shared<u32, [1]> = shared [element=u32, shape=(1)]
      %u: index = unit_pos
      %z: index = const 0
      %zero: u32 = const 0
      %one: u32 = const 1
      %first: bool = eq %u, %z
      if %first { store %c, %z, %zero [check=checked] }
      sync_cube
      %n: u32 = atomic_add %c, %z, %one [check=checked]
      sync_cube
      %total: u32 = load %c, %z [check=checked]
      %t: u32 = mul %n, %total
      %i: index = absolute_pos
      store %y, %i, %t [check=checked]
    }
    """
    out = np.zeros(18, dtype=np.uint32)
    launch(kernel, out, cubes=3)
    assert out.tolist() == [6 * (i % 6) for i in range(18)]
    with pytest.raises(UninitializedReadError):
        launch(kernel.replace("if %first { store %c, %z, %zero [check=checked] }", ""), out)


def test_histogram_over_many_cubes() -> None:
    kernel = """
    kernel @histogram(%x: global<u8, [1], read, 0>, %h: global<i32, [1], read_write, 1>)
        cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %v: u8 = load %x, %i [check=checked]
      %b: index = cast %v [to=index]
      %one: i32 = const 1
      %r: i32 = atomic_add %h, %b, %one [check=checked]
    }
    """
    x = np.random.default_rng(2).integers(0, 256, 64 * 500, dtype=np.uint8)
    h = np.zeros(256, dtype=np.int32)
    launch(kernel, x, h, cubes=500)
    assert h.tolist() == np.bincount(x, minlength=256).tolist()

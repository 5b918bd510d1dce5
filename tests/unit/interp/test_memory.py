"""Memory of the machine: strides, overlap, checks, initialisation."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

from cubepy.errors import OutOfBoundsError, UninitializedReadError
from cubepy.interp import Reports
from cubepy.ir import F32, BufferType, Builder, Kernel, ops, param, print_kernel
from tests.unit.interp.launching import launch

COPY = """
kernel @copy(%x: global<{type}, [?], read, 0>, %y: global<{type}, [?], write, 1>)
    cube_dim(4, 1, 1) {{
  %i: index = absolute_pos
  %v: {type} = load %x, %i [check={check}]
  store %y, %i, %v [check={check}]
}}
"""


@pytest.mark.parametrize(
    ("type", "dtype"),
    [("bool", "?"), ("i8", "i1"), ("u16", "u2"), ("f16", "f2"), ("f32", "f4"), ("f64", "f8"),
     ("bf16", ml_dtypes.bfloat16), ("i64", "i8"), ("index", "i8")],
)  # fmt: skip
def test_any_strides_reach_the_right_elements(type: str, dtype: object) -> None:
    source = np.arange(24).astype(dtype)  # type: ignore[call-overload]
    for view in (source[:8], source[::3], source[::-1], source[20:3:-2], source[5:6]):
        out = np.zeros(3 * view.size, dtype=source.dtype)
        cubes = -(-view.size // 4)
        launch(COPY.format(type=type, check="checked"), view, out[::3], cubes=cubes)
        assert np.array_equal(out[::3], view)
        assert not out[1::3].any()


def test_columns_of_a_matrix_are_read_through_their_stride() -> None:
    kernel = """
    kernel @transpose(%x: global<i32, [?,?], read, 0>, %y: global<i32, [?,1], write, 1>)
        cube_dim(2, 3, 1) {
      %i: index = absolute_pos_x
      %j: index = absolute_pos_y
      %v: i32 = load %x, %j, %i [check=checked]
      %s: index = stride %x [axis=0]
      %t: i32 = cast %s [to=i32]
      %w: i32 = mul %v, %t
      store %y, %i, %j, %w [check=checked]
    }
    """
    x = np.arange(30, dtype=np.int32).reshape(5, 6)
    out = np.zeros((6, 5), dtype=np.int32)
    launch(kernel, x, out, cubes=(3, 2, 1))
    assert np.array_equal(out, x.T * 6)
    out[:] = 0
    launch(kernel, x[::-1, ::-1], out[::-1], cubes=(3, 2, 1))
    assert np.array_equal(out[::-1], x[::-1, ::-1].T * -6)


def test_checked_access_outside_reads_zero_and_writes_nothing() -> None:
    kernel = """
    kernel @shift(%x: global<i32, [1], read, 0>, %y: global<i32, [1], write, 1>, %d: index)
        cube_dim(8, 1, 1) {
      %i: index = absolute_pos
      %j: index = add %i, %d
      %v: i32 = load %x, %j [check=checked]
      store %y, %i, %v [check=checked]
      store %y, %j, %v [check=checked]
    }
    """
    x = np.arange(1, 9, dtype=np.int32)
    for distance in (-9, -3, 0, 2, 100, -(1 << 63), (1 << 63) - 8):
        out = np.full(8, -1, dtype=np.int32)
        launch(kernel, x, out, distance)
        places = [i + distance for i in range(8)]
        expected = [int(x[j]) if 0 <= j < 8 else 0 for j in places]
        for j, value in zip(places, list(expected), strict=True):
            if 0 <= j < 8:
                expected[j] = value
        assert out.tolist() == expected
    launch(kernel, x[:0], np.zeros(0, dtype=np.int32), 0)


@pytest.mark.parametrize("check", ["validate", "unchecked"])
def test_access_outside_is_reported_with_its_place(check: str) -> None:
    kernel = """
    kernel @peek(%x: global<f32, [1], read, 0>, %y: global<f32, [1], write, 1>) cube_dim(4, 1, 1) {
      %i: index = absolute_pos
      %v: f32 = load %x, %i [check=CHECK] !0
      store %y, %i, %v [check=checked]
    }
    !0 = "peek.py" 7:4-7:20
    """.replace("CHECK", check)
    x, y = np.zeros(6, dtype=np.float32), np.zeros(8, dtype=np.float32)
    with pytest.raises(OutOfBoundsError) as caught:
        launch(kernel, x, y, cubes=2)
    assert caught.value.loc.line == 7
    message = "unit 2 of cube 1 reads `x[6]`, outside of its length 6"
    assert str(caught.value).startswith(f"peek.py:7:5: error: {message}")
    launch(kernel, y, x, cubes=2)  # everything read is inside


def test_store_outside_a_tensor_names_all_subscripts() -> None:
    kernel = """
    kernel @poke(%x: global<f32, [?,1], write, 0>) cube_dim(4, 4, 1) {
      %i: index = unit_pos_y
      %j: index = unit_pos_x
      %v: f32 = const 1.0
      store %x, %i, %j, %v [check=validate]
    }
    """
    message = re.escape("writes `x[0, 3]`, outside of its shape (5, 3)")
    with pytest.raises(OutOfBoundsError, match=message):
        launch(kernel, np.zeros((5, 3), dtype=np.float32))
    launch(kernel, np.zeros((4, 4), dtype=np.float32))


def test_inactive_units_are_never_outside() -> None:
    kernel = """
    kernel @guard(%x: global<i32, [1], read_write, 0>) cube_dim(8, 1, 1) {
      %i: index = absolute_pos
      %n: index = length %x [axis=0]
      %c: bool = lt %i, %n
      if %c {
        %v: i32 = load %x, %i [check=unchecked]
        %w: i32 = add %v, %v
        store %x, %i, %w [check=unchecked]
      }
    }
    """
    for count in (0, 1, 7, 8, 13):
        x = np.arange(count, dtype=np.int32)
        launch(kernel, x, cubes=2)
        assert x.tolist() == [2 * i for i in range(count)]


def test_overlapping_arguments_are_seen_in_program_order() -> None:
    """Each unit stores through one name and reads it back through the other."""
    kernel = """
    kernel @alias(%x: global<i32, [1], read_write, 0>, %y: global<i16, [1], read_write, 0>)
        cube_dim(4, 1, 1) {
      %i: index = absolute_pos
      %two: index = const 2
      %j: index = mul %i, %two
      %c: i32 = const 65537
      %v: i32 = load %x, %i [check=checked]
      %w: i32 = add %v, %c
      store %x, %i, %w [check=checked]
      %low: i16 = load %y, %j [check=checked]
      %hundred: i16 = const 100
      %s: i16 = add %low, %hundred
      store %y, %j, %s [check=checked]
      %r: i32 = load %x, %i [check=checked]
      %t: i32 = add %r, %r
      store %x, %i, %t [check=checked]
    }
    """
    x = np.arange(4, dtype=np.int32)
    launch(kernel, x, x.view(np.int16), reports=Reports(races="all"))
    assert x.tolist() == [2 * (i + 65537 + 100) for i in range(4)]


def test_private_arrays_belong_to_their_unit() -> None:
    kernel = """
    kernel @reverse(%x: global<i32, [1], read_write, 0>) cube_dim(4, 1, 1) {
      %p: private<i32, [2,3]> = local_array [element=i32, shape=(2, 3)]
      %i: index = absolute_pos
      %a: index = const 0
      %b: index = const 6
      %one: index = const 1
      %three: index = const 3
      for %a, %b, %one (%k: index) {
        %r: index = floor_div %k, %three
        %c: index = floor_mod %k, %three
        %s: index = add %k, %i
        %v: i32 = cast %s [to=i32]
        store %p, %r, %c, %v [check=checked]
      }
      %five: index = const 5
      %l: index = sub %five, %i
      %lr: index = floor_div %l, %three
      %lc: index = floor_mod %l, %three
      %v2: i32 = load %p, %lr, %lc [check=checked]
      %len: index = length %p [axis=1]
      %len32: i32 = cast %len [to=i32]
      %w: i32 = mul %v2, %len32
      store %x, %i, %w [check=checked]
    }
    """
    for units, cubes in ((4, 1), (2, 2), (1, 4)):
        x = np.zeros(4, dtype=np.int32)
        launch(kernel.replace("cube_dim(4", f"cube_dim({units}"), x, cubes=cubes)
        assert x.tolist() == [5 * 3] * 4


UNWRITTEN = """
kernel @unwritten(%y: global<i32, [1], write, 0>, %n: index) cube_dim(4, 1, 1) {
  %m: MEMORY
  %i: index = unit_pos
  %c: bool = lt %i, %n
  %one: i32 = const 1
  if %c {
    store %m, %i, %one [check=checked]
  }
  %v: i32 = load %m, %i [check=checked] !0
  store %y, %i, %v [check=checked]
}
!0 = "k.py" 12:8-12:13
"""


@pytest.mark.parametrize(
    "memory",
    ["shared<i32, [4]> = shared [element=i32, shape=(4)]",
     "private<i32, [4]> = local_array [element=i32, shape=(4)]"],
)  # fmt: skip
def test_reading_what_nothing_wrote_is_reported(memory: str) -> None:
    kernel = UNWRITTEN.replace("MEMORY", memory)
    out = np.zeros(4, dtype=np.int32)
    launch(kernel, out, 4, cubes=2)
    assert out.tolist() == [1, 1, 1, 1]
    with pytest.raises(UninitializedReadError) as caught:
        launch(kernel, out, 2, cubes=2)
    assert "k.py:12:9: error: unit 2 of cube 0 reads `m[2]`" in str(caught.value)
    launch(kernel, out, 2, reports=Reports(unwritten=False))
    assert out.tolist()[:2] == [1, 1]


def test_shared_memory_is_one_per_cube_and_keeps_its_content_in_loops() -> None:
    kernel = """
    kernel @keep(%y: global<i32, [1], write, 0>) cube_dim(2, 1, 1) {
      %i: index = unit_pos
      %c: index = cube_pos
      %c32: i32 = cast %c [to=i32]
      %a: index = const 0
      %b: index = const 3
      %one: index = const 1
      for %a, %b, %one (%k: index) {
        %m: shared<i32, [2]> = shared [element=i32, shape=(2)]
        %first: bool = eq %k, %a
        if %first {
          store %m, %i, %c32 [check=checked]
        } else {
          %v: i32 = load %m, %i [check=checked]
          %ten: i32 = const 10
          %w: i32 = add %v, %ten
          store %m, %i, %w [check=checked]
          %p: index = absolute_pos
          store %y, %p, %w [check=checked]
        }
      }
    }
    """
    out = np.zeros(8, dtype=np.int32)
    launch(kernel, out, cubes=4)
    assert out.tolist() == [20, 20, 21, 21, 22, 22, 23, 23]


def test_an_array_without_axes_has_one_element() -> None:
    x, y = param("x", BufferType(F32, ())), param("y", BufferType(F32, ()))
    build = Builder()
    with build.region() as body:
        value = build.emit(ops.LOAD, x, attrs={"check": "validate"})
        total = build.emit(ops.ADD, value, value)
        build.emit(ops.STORE, y, total, attrs={"check": "validate"})
    kernel = Kernel(name="scalar", params=(x, y), body=body.close())
    out = np.zeros((), dtype=np.float32)
    launch(kernel, np.array(1.5, dtype=np.float32), out)
    assert float(out) == 3.0
    launch(print_kernel(kernel), np.array(4.0, dtype=np.float32), out)
    assert float(out) == 8.0

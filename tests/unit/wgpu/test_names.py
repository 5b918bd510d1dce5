"""Parameters called as generated code calls its own words, on wgpu and OpenCL."""

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, i32, u8
from tests.opencl_devices import on_each
from tests.wgpu_devices import on_wgpu


@cb.cube
def added(values: Array[f32], at: i32, x_shape_0: f32) -> f32:
    extent_x = values[at] + x_shape_0
    return extent_x * 2.0


@cb.cube
def clash(
    x: Array[f32], x_offset: f32, x_start: i32, zero: f32, extent_x: i32, x_shape_0: f32,
    x_stride_0: f32, report: f32, x_start_1: Array[f32], first_x: cb.bool_, out: Array[f32],
) -> None:  # fmt: skip
    i = cb.ABSOLUTE_POS
    out_start = 3.0
    launch = 0.5
    for _ in range(extent_x):
        out_start = out_start + x[i] * launch
        if first_x:
            out_start = out_start + x_start_1[i]
    own = out_start + x[i] + x_offset + f32(x_start) + zero
    out[i] = own + x_shape_0 + x_stride_0 + report + added(x, 3, 7.0)


@pytest.mark.parametrize("name", [*on_wgpu("cpu"), *on_each()])
def test_no_name_of_a_kernel_is_one_of_generated_code(name: str) -> None:
    x, other, out = np.arange(8, dtype=np.float32), np.ones(8, np.float32), np.zeros(8, np.float32)
    clash.over(8, device=name)(x, 1, 2, 3, 4, 5, 6, 7, other, True, out)
    np.testing.assert_array_equal(out, 3 + 4 * (0.5 * x + 1) + x + 24 + 20)


@cb.cube
def narrow(
    place: Array[u8], bits: Array[u8], word: Array[u8], shift: Array[u8], element: Array[u8],
    seen: Array[u8], next: Array[u8], change: Array[u8], value: Array[u8],
) -> None:  # fmt: skip
    old = cb.shared(f32, 1)
    expected = cb.shared(f32, 1)
    i = cb.UNIT_POS
    if i == 0:
        old[0] = -9.0
        expected[0] = 4.0
    cb.sync_cube()
    cb.atomic_max(old, 0, f32(i))
    cb.atomic_compare_exchange(expected, 0, 4.0, 5.0)
    cb.atomic_add(value, i, u8(place[i]))
    cb.sync_cube()
    place[i] += 1
    bits[i] = u8(old[0])
    word[i] = u8(expected[0])
    shift[i] = place[i]
    element[i] = bits[i]
    seen[i] = word[i]
    next[i] = shift[i] * 2
    change[i] = 7


@pytest.mark.parametrize("name", [*on_wgpu("cpu"), *on_each()])
def test_no_array_is_called_as_what_is_in_functions_made_for_it(name: str) -> None:
    arrays = np.arange(9 * 7, dtype=np.uint8).reshape(9, 7)
    place, value = arrays[0].copy(), arrays[8].copy()
    narrow.launch(*arrays, cube_count=1, cube_dim=7, device=name)
    one = np.ones(7, np.uint8)
    wanted = [place + 1, 6 * one, 5 * one, place + 1, 6 * one, 5 * one, 2 * place + 2, 7 * one]
    np.testing.assert_array_equal(arrays, [*wanted, value + place])

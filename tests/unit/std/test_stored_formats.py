"""Arrays of small floats and of TF32: read, written, viewed and passed on as other arrays are.

What is read and stored is compared with ml_dtypes, in every memory a kernel has.
"""

from __future__ import annotations

from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor, f32
from cubepy.errors import ArgumentError, OutOfBoundsError

# mypy: disable-error-code="arg-type, misc, valid-type"

DEVICES = ("reference", "cpu", "cpu:x86-64-v2+gang=4")
every_device = pytest.mark.parametrize("target", DEVICES)
FORMATS: dict[str, Any] = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
    "tf32": np.float32,
}
every_format = pytest.mark.parametrize("name", FORMATS)
F = TypeVar("F", bound=cb.Float)


def kernels(name: str) -> Any:
    """Kernels on arrays of one format."""
    names: dict[str, Any] = {"cb": cb, "F": F}
    text = f"""
@cb.cube
def read(x: cb.Array[cb.{name}], out: cb.Array[cb.f32]):
    out[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS]

@cb.cube
def write(x: cb.Array[F], out: cb.Array[cb.{name}]):
    out[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS]

@cb.cube
def through(x: cb.Array[cb.{name}], out: cb.Array[cb.{name}]):
    i = cb.ABSOLUTE_POS
    part = cb.shared(cb.{name}, (2, 8))
    own = cb.local_array(cb.{name}, 3, fill=2.0)
    part[cb.UNIT_POS // 8, cb.UNIT_POS % 8] = x[i]
    cb.sync_cube()
    own[1] = part[cb.UNIT_POS // 8, 7 - cb.UNIT_POS % 8]
    if own[0] == 2.0:
        out[i] = out.dtype(own[1])
"""
    cb.exec(text, names)
    return names


def every_number(name: str) -> Any:
    """An array of each number that a format has, shuffled; of TF32 some."""
    random = np.random.default_rng(len(name))
    if name == "tf32":
        return random.normal(size=256).astype(np.float32)
    bits = {"e3m2": 6, "e2m3": 6, "e2m1": 4}.get(name, 8)
    return random.permutation(np.arange(1 << bits, dtype=np.uint8)).view(FORMATS[name])


def same(got: Any, wanted: Any) -> bool:
    """Whether two arrays are equal, NaN and NaN too."""
    a, b = np.asarray(got).astype(np.float32), np.asarray(wanted).astype(np.float32)
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(
        np.signbit(a[~np.isnan(a)]), np.signbit(b[~np.isnan(b)])
    )


@every_device
@every_format
def test_every_number_is_read(name: str, target: str) -> None:
    x = every_number(name)
    out = np.zeros(x.size, np.float32)
    kernels(name)["read"].over(x.size, device=target)(x, out)
    assert same(out, x)


@pytest.mark.parametrize("target", DEVICES[:2])
@every_format
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_floats_are_rounded_once_when_stored(name: str, target: str, dtype: Any) -> None:
    random = np.random.default_rng(7)
    exponents = random.integers(-12, 9, 3000)
    x = (random.normal(size=3000) * 2.0**exponents).astype(dtype)
    with np.errstate(over="ignore"):
        near = (every_number(name)[:200].astype(np.float64) * (1 + 2.0**-40)).astype(dtype)
    x = np.concatenate([x, near[np.isfinite(near)]])
    x = np.abs(x[x != 0]) if name == "ue8m0" else x
    out = np.zeros(x.size, FORMATS[name])
    kernels(name)["write"].over(x.size, device=target)(x, out)
    if name == "tf32":
        spacing = 2.0 ** (np.floor(np.log2(np.abs(x.astype(np.float64)))) - 10)
        wanted = np.round(x.astype(np.float64) / spacing) * spacing
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            wanted = x.astype(FORMATS[name])
    assert same(out, wanted)


@every_device
@every_format
def test_memory_of_the_cube_and_of_the_unit(name: str, target: str) -> None:
    x = every_number(name)[:64]
    x = np.resize(x, 64)
    out = np.zeros(64, FORMATS[name])
    kernels(name)["through"].launch(x, out, cube_count=4, cube_dim=16, device=target)
    kernels(name)["write"].over(64, device="reference")(x.astype(np.float32), x)  # rounds TF32
    assert same(out, x.reshape(-1, 8)[:, ::-1].reshape(-1))


def doubled(part: Array[cb.e4m3], at: Any) -> Any:
    return part[at] * 2.0


def summed(part: Array[F]) -> Any:
    total = F(0.0)
    for k in range(len(part)):
        total += part[k]
    return total


@cb.cube
def views(
    x: Array[cb.e4m3], t: Tensor[cb.e5m2], y: Array[cb.e4m3], out: Array[f32], sums: Array[f32]
) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = doubled(x[1:], i) + t[1][i % 4] + x.reshape(-1, 2)[0, 1]
    pair = x.vectorized(2)[i]
    y.vectorized(2)[i] = pair * 0.5
    t[0, i % 4] += 1.0
    cb.static_assert(x.dtype == cb.e4m3)
    cb.static_assert(x[::2].dtype == cb.e4m3)
    if i == 0:
        sums[0] = summed(t[1])


@every_device
def test_views_vectors_and_helpers(target: str) -> None:
    for stride in (1, 2, -1):
        memory = np.arange(1, 9).repeat(abs(stride)).astype(ml_dtypes.float8_e4m3fn)
        x, y = memory[::stride], np.zeros(8, ml_dtypes.float8_e4m3fn)
        before = x.astype(np.float32)
        table = np.arange(8).reshape(2, 4).astype(ml_dtypes.float8_e5m2)
        out, sums = np.zeros(4, np.float32), np.zeros(1, np.float32)
        views.over(4, device=target)(x, table, y, out, sums)
        assert out.tolist() == (2 * before[1:5] + np.arange(4, 8) + before[1]).tolist()
        assert same(y, before * 0.5)
        assert table.astype(int).tolist() == [[1, 2, 3, 4], [4, 5, 6, 7]]
        assert sums[0] == 22


@cb.cube
def beyond(x: Array[cb.e5m2], out: Array[f32]) -> None:
    out[0] = x[cb.ABSOLUTE_POS + 5]
    x[cb.ABSOLUTE_POS + 5] = 1.0


@every_device
def test_outside_of_the_array(target: str) -> None:
    x, out = np.ones(5, ml_dtypes.float8_e5m2), np.ones(1, np.float32)
    beyond.over(1, device=target)(x, out)
    assert out[0] == 0
    with pytest.raises(OutOfBoundsError, match="outside of its length 5"):
        beyond.over(1, device=target, check="validate")(x, out)


@cb.cube
def copied(x: Array[cb.e2m1], out: Array[cb.e2m1]) -> None:
    out[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS] * 2.0


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_buffers_of_a_device(target: str) -> None:
    machine = cb.device(target)
    x = machine.array(np.array([0.5, 1, 1.5, 6], ml_dtypes.float4_e2m1fn))
    out = machine.empty(4, ml_dtypes.float4_e2m1fn)
    copied.over(4)(x, out)
    assert out.numpy().astype(float).tolist() == [1, 2, 3, 6]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros(3, np.uint8), r"expected an array of e2m1, got uint8\n  help: pass x.view\("),
        (np.zeros(3, np.float32), r"expected an array of e2m1, got float32\n  help: pass x.astype"),
        (np.zeros(3, ml_dtypes.float8_e5m2), "expected an array of e2m1, got float8_e5m2"),
        (3.0, "expected an array, got float"),
    ],
)
def test_arrays_of_other_elements(given: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        copied.over(3)(given, np.zeros(3, ml_dtypes.float4_e2m1fn))


@cb.cube
def plain(x: Tensor[f32]) -> None:
    x[0] = 1.0


def test_arrays_of_small_floats_need_an_annotation() -> None:
    with pytest.raises(ArgumentError, match=r"no arrays of float8_e5m2\n.*cb\.e5m2"):
        plain.over(1)(np.zeros(1, ml_dtypes.float8_e5m2))


def test_kernels_of_one_text_differ_by_the_format() -> None:
    def made(format: Any) -> Any:
        @cb.cube
        def kernel(x: Array[format], out: Array[f32]) -> None:
            out[0] = x[0]

        return kernel

    out = np.zeros(1, np.float32)
    for name in ("e4m3", "e5m2", "e4m3"):
        made(getattr(cb, name)).over(1)(np.array([3], FORMATS[name]), out)
        assert out[0] == 3

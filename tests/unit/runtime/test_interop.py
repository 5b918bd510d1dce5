"""Arrays of other libraries: the same memory both ways, alive as long as needed, and respected."""

import array as arrays
import ctypes
import gc
import mmap
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, Tensor, bf16, f32, i32
from cubepy.errors import ArgumentError
from tests.unit.runtime.fake import FakeDevice

DEVICES = ["reference", "cpu"]


@cb.cube
def double(x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = 2.0 * x[i]


@cb.cube
def transposed(x: Tensor[f32], out: Tensor[f32]) -> None:
    i, j = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
    out[j, i] = x[i, j]


@cb.cube
def halves(x: Array[bf16], out: Array[bf16]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = x[i] * bf16(0.5)


@cb.cube
def anything(x, out, power: Comptime[int] = 1) -> None:  # type: ignore[no-untyped-def]
    i = cb.ABSOLUTE_POS
    out[i] = x[i] ** power


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> cb.Device:
    return cb.device(request.param)


class Owner(np.ndarray[Any, Any]):
    """An array that can be watched."""


class Interface:
    """Knows `__array_interface__` and nothing else."""

    def __init__(self, base: np.ndarray) -> None:
        self._base = base

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._base.__array_interface__


class Producer:
    """Knows DLPack and nothing else, as of now or as it was at first."""

    def __init__(self, base: Any, *, old: bool = False, place: tuple[int, int] = (1, 0)) -> None:
        self._base, self._old, self._place = base, old, place

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._place

    def __dlpack__(self, stream: Any = None, **wishes: Any) -> Any:
        if self._old and wishes:
            raise TypeError("unexpected keyword")
        return self._base.__dlpack__(**wishes)


class Refusing:
    """Has memory that it does not share."""

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("it is mine")


def seen(base: Any) -> memoryview:
    return memoryview(base)


def in_mapping(base: np.ndarray) -> Any:
    mapping = mmap.mmap(-1, base.nbytes)
    np.frombuffer(mapping, base.dtype)[:] = base
    return memoryview(mapping).cast("f")


SOURCES: dict[str, Callable[[np.ndarray], Any]] = {
    "interface": Interface,
    "dlpack": Producer,
    "old dlpack": lambda base: Producer(base, old=True),
    "array.array": lambda base: arrays.array("f", base.tolist()),
    "memoryview": lambda base: seen(base.copy()),
    "strided memoryview": lambda base: seen(np.repeat(base, 3))[::3],
    "bytearray": lambda base: memoryview(bytearray(base.tobytes())).cast("f"),
    "ctypes": lambda base: (ctypes.c_float * base.size)(*base.tolist()),
    "mmap": in_mapping,
    "subclass": lambda base: base.copy().view(Owner),
    "readonly bytes": lambda base: np.frombuffer(base.tobytes(), np.float32),
}


FROZEN = ("readonly bytes", "old dlpack")


@pytest.mark.parametrize("kind", SOURCES)
def test_arrays_of_others_are_read(kind: str, device: cb.Device) -> None:
    base = np.arange(40, dtype=np.float32)
    x, out = SOURCES[kind](base), np.zeros(40, np.float32)
    launch = double.over(40, device=device)
    for _ in range(3):
        out[:] = 0
        launch(x, out)
        assert np.array_equal(out, 2 * base)
    anything.over(40, device=device)(x, out, 2)
    assert np.array_equal(out, base * base)


@pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind not in FROZEN])
def test_arrays_of_others_are_written_where_they_are(kind: str, device: cb.Device) -> None:
    out = SOURCES[kind](np.zeros(40, np.float32))
    for factor in (1, 3):
        x = np.arange(40, dtype=np.float32) * factor
        double.over(40, device=device)(x, out)
        kept = out if kind != "interface" and "dlpack" not in kind else out._base
        assert np.array_equal(np.asarray(kept), 2 * x)


def test_read_only_memory_of_others_is_not_written(device: cb.Device) -> None:
    frozen = np.zeros(8, np.float32)
    frozen.flags.writeable = False
    for out in (
        Producer(frozen),
        Producer(np.zeros(8, np.float32), old=True),  # which cannot say that it may be written
        Interface(frozen),
        seen(frozen),
        memoryview(bytes(32)).cast("f"),
    ):
        double.over(8, device=device)(out, np.zeros(8, np.float32))
        for _ in range(2):
            with pytest.raises(ArgumentError, match=r"'out' is written .* read-only"):
                double.over(8, device=device)(np.zeros(8, np.float32), out)


def test_read_only_buffers_are_not_written(device: cb.Device) -> None:
    frozen = np.zeros(8, np.float32)
    frozen.flags.writeable = False
    x, out = device.from_dlpack(frozen), device.array(np.ones(8, np.float32))
    double.over(8)(x, out)
    with pytest.raises(ArgumentError, match=r"'out' is written .* read-only"):
        double.over(8)(out, x)
    assert not frozen.any()


def test_overlap_of_arrays_of_others_is_seen(device: cb.Device) -> None:
    """In place: each unit reads what it then writes."""
    base = np.arange(40, dtype=np.float32)
    for first, second in ((Producer(base), Interface(base)), (seen(base), base)):
        base[:] = np.arange(40)
        double.over(40, device=device)(first, second)
        assert np.array_equal(base, 2 * np.arange(40))


@pytest.mark.parametrize(
    ("view", "shape"),
    [
        (lambda w: w.T, (8, 6)),
        (lambda w: w[::-1, ::2], (6, 4)),
        (lambda w: np.broadcast_to(w[0], (5, 8)), (5, 8)),
        (lambda w: w[3:3], (0, 8)),
    ],
)
def test_layouts_arrive(
    view: Callable[[Any], Any], shape: tuple[int, int], device: cb.Device
) -> None:
    x = view(np.arange(48, dtype=np.float32).reshape(6, 8))
    assert x.shape == shape
    out = np.zeros(shape[::-1], np.float32)
    for given in (x, Producer(x), Interface(x), device.from_dlpack(x)):
        out[:] = 0
        transposed.over(shape, device=device)(given, out)
        assert np.array_equal(out, x.T)


def test_halves_pass_through_dlpack(device: cb.Device) -> None:
    values = np.arange(16).astype(ml_dtypes.bfloat16)
    x = device.from_dlpack(device.array(values))
    assert x.dtype == ml_dtypes.bfloat16
    out = np.zeros(16, ml_dtypes.bfloat16)
    halves.over(16, device=device)(Producer(x), out)
    assert np.array_equal(out, values * ml_dtypes.bfloat16(0.5))
    assert np.array_equal(x.numpy(), values)


def test_a_buffer_from_dlpack_is_the_same_memory() -> None:
    device, base = cb.device("cpu"), np.zeros(10, np.float32)
    buffer = device.from_dlpack(Producer(base[::2]))
    double.over(5)(np.ones(5, np.float32), buffer)
    assert base.tolist() == [2, 0] * 5
    assert buffer.numpy().tolist() == [2] * 5
    base[:] = 3
    assert buffer.numpy().tolist() == [3] * 5


def test_a_buffer_from_dlpack_on_a_device_with_memory_of_its_own_is_a_copy() -> None:
    base = np.arange(4, dtype=np.float32)
    buffer = FakeDevice(host_memory=False).from_dlpack(Producer(base))
    base[:] = 0
    assert buffer.numpy().tolist() == [0, 1, 2, 3]


def test_producers_live_as_long_as_their_buffers() -> None:
    base = np.ones(8, np.float32).view(Owner)
    alive = weakref.ref(base)
    buffer = cb.device("cpu").from_dlpack(Producer(base))
    del base
    gc.collect()
    assert alive() is not None
    assert buffer.numpy().tolist() == [1] * 8
    del buffer
    gc.collect()
    assert alive() is None


def test_consumers_share_the_memory_of_a_buffer_and_keep_it() -> None:
    device = cb.device("cpu")
    buffer = device.array(np.arange(6, dtype=np.int32).reshape(2, 3))
    lease = weakref.ref(buffer.lease)
    seen = [np.from_dlpack(buffer), np.asarray(buffer)]
    if sys.version_info >= (3, 12):
        seen.append(np.asarray(memoryview(buffer)))
    seen[0][0, 0] = 9
    assert all(each[0, 0] == 9 for each in seen)
    assert buffer.numpy()[0, 0] == 9
    copied = np.array(buffer)
    copied[:] = 0
    assert np.asarray(buffer, dtype=np.float64)[0, 0] == 9
    del buffer, copied
    gc.collect()
    others = [device.array(np.zeros(6, np.int32)) for _ in range(4)]
    assert seen[1][0, 0] == 9
    del seen, others
    gc.collect()
    assert lease() is None


def test_consumers_get_copies_from_devices_with_memory_of_their_own() -> None:
    buffer = FakeDevice(host_memory=False).array(np.arange(3))
    for seen in (np.from_dlpack(buffer), np.asarray(buffer)):
        assert seen.tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="without a copy"):
        buffer.__dlpack__(copy=False)
    with pytest.raises(ValueError, match="without a copy"):
        buffer.__array__(copy=False)


def test_consumers_wait_for_streams() -> None:
    device = cb.device("cpu")
    stream, x = device.stream(), device.array(np.ones(1 << 20, np.float32))
    for _ in range(20):
        double.over(1 << 20).on(stream)(x, x)
    assert np.from_dlpack(x)[0] == 2.0**20


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Producer(np.zeros(4, np.float32), place=(2, 1)), "a CUDA GPU \\(number 1\\).*\n.*host"),
        (Producer(np.zeros(4, np.float32), place=(99, 0)), "DLPack's kind 99"),
        (Producer(Refusing()), "Producer does not hand out its memory"),
        (bytes(16), "expected an array, got bytes"),
        ("text", "expected an array, got str"),
        (arrays.array("d", [1.0]), "expected an array of f32, got f64"),
        (Interface(np.zeros(4, ">f4")), "byte order of another machine"),
        (type("Gpu", (), {"__cuda_array_interface__": {}})(), "memory of a GPU"),
    ],
)
def test_what_is_not_to_be_had_is_told(value: Any, message: str, device: cb.Device) -> None:
    for _ in range(2):
        with pytest.raises(ArgumentError, match=message):
            double.over(4, device=device)(value, np.zeros(4, np.float32))


def test_memory_maps_of_files(tmp_path: Path, device: cb.Device) -> None:
    base = np.arange(10, dtype=np.float32)
    base.tofile(tmp_path / "x")
    x = np.memmap(tmp_path / "x", np.float32, "r")
    out = np.memmap(tmp_path / "out", np.float32, "w+", shape=(10,))
    double.over(10, device=device)(x, out)
    out.flush()
    assert np.array_equal(np.fromfile(tmp_path / "out", np.float32), 2 * base)


def test_torch_both_ways() -> None:
    torch = pytest.importorskip("torch")
    device = cb.device("cpu")
    x, out = torch.arange(10, dtype=torch.float32), torch.zeros(10)
    for _ in range(2):
        double.over(10)(x, out)
        assert out.tolist() == [2.0 * i for i in range(10)]
    strided = torch.zeros(5, 4)[:, 1]
    double.over(5)(x[::2], strided)
    assert strided.tolist() == [0, 4, 8, 12, 16]
    halved = torch.zeros(10, dtype=torch.bfloat16)
    halves.over(10)(x.to(torch.bfloat16), halved)
    assert halved.tolist() == [0.5 * i for i in range(10)]
    buffer = device.from_dlpack(out)
    shared = torch.from_dlpack(buffer)
    shared[0] = 7
    assert (out[0], buffer.numpy()[0]) == (7, 7)
    halves_there = torch.from_dlpack(device.array(np.ones(4, ml_dtypes.bfloat16)))
    assert halves_there.dtype == torch.bfloat16
    assert halves_there.tolist() == [1] * 4
    with pytest.raises(ArgumentError, match="does not hand out its memory"):
        double.over(10)(torch.zeros(10, requires_grad=True), out)


@cb.cube
def counted(x: Array[i32]) -> None:
    x[cb.ABSOLUTE_POS] += 1


@pytest.mark.parametrize("seed", range(4))
def test_random_views_do_what_they_do_as_arrays(seed: int, device: cb.Device) -> None:
    chance = np.random.default_rng(seed)
    base = np.zeros(200, np.int32)
    expected = base.copy()
    for _ in range(20):
        start, stop = sorted(chance.integers(0, 200, 2))
        part = slice(int(start), int(stop), int(chance.integers(1, 5)))
        wrap = (Producer, Interface, seen, device.from_dlpack)[chance.integers(4)]
        size = len(base[part])
        counted.over(size, device=device)(wrap(base[part]))
        expected[part] += 1
        assert np.array_equal(base, expected)


def test_jax_both_ways() -> None:
    """JAX's arrays never change: kernels read them, and JAX reads what kernels wrote."""
    jax = pytest.importorskip("jax")
    device = cb.device("cpu")
    x, out = jax.numpy.arange(10, dtype=jax.numpy.float32), np.zeros(10, np.float32)
    for _ in range(2):
        double.over(10)(x, out)
        assert out.tolist() == [2.0 * i for i in range(10)]
    with pytest.raises(ArgumentError, match="read-only"):
        double.over(10)(out, x)
    halved = np.zeros(10, ml_dtypes.bfloat16)
    halves.over(10)(x.astype(jax.numpy.bfloat16), halved)
    assert halved.tolist() == [0.5 * i for i in range(10)]
    buffer = device.array(out)
    seen_by_jax = jax.dlpack.from_dlpack(buffer)
    assert seen_by_jax.tolist() == out.tolist()
    assert float(jax.numpy.sum(seen_by_jax)) == out.sum()
    there = jax.dlpack.from_dlpack(device.array(np.ones(4, ml_dtypes.bfloat16)))
    assert there.dtype == jax.numpy.bfloat16
    kept = device.from_dlpack(x)
    del x
    assert kept.numpy().tolist() == list(range(10))

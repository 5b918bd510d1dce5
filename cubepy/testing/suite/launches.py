"""What launches must do: the same results whatever the sizes, layouts and kinds of arguments."""

from __future__ import annotations

import gc
import math
import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from cubepy import frontend
from cubepy.cube import cube
from cubepy.errors import ArgumentError, BackendError, LaunchError, OutOfBoundsError
from cubepy.frontend import Array as Vector
from cubepy.frontend import Tensor, f32, i32
from cubepy.ir import BOOL, Scalar
from cubepy.records import replace
from cubepy.runtime import LoadedKernel, capture, grid_over, launch
from cubepy.runtime import device as find_device
from cubepy.target import Artifact
from cubepy.testing.suite.subject import Array, Subject, same, where_supported

__all__ = ["LaunchSuite"]

T = TypeVar("T")


@cube
def saxpy(a: f32, x: Vector[f32], y: Vector[f32]) -> None:
    """Y = a x + y."""
    i = frontend.ABSOLUTE_POS
    if i < len(y):
        y[i] = a * x[i] + y[i]


@cube
def transposed(x: Tensor[i32], out: Tensor[i32]) -> None:
    """The other way round."""
    i, j = frontend.ABSOLUTE_POS_Y, frontend.ABSOLUTE_POS_X
    if i < x.shape[0] and j < x.shape[1]:
        out[j, i] = x[i, j]


@cube
def stored(out: Vector[T], value: T) -> None:
    """A number as it arrives."""
    out[frontend.ABSOLUTE_POS] = value


@cube
def counted(out: Vector[i32]) -> None:
    """One for each unit, at its place."""
    i = frontend.ABSOLUTE_POS
    if i < len(out):
        out[i] += 1


@cube
def outside(out: Vector[f32]) -> None:
    """Writes behind the end."""
    out[frontend.ABSOLUTE_POS + 100] = 1.0


#: Transposed, reversed, every other element, one column, nothing at all.
LAYOUTS: tuple[Callable[[Array], Array], ...] = (
    lambda whole: whole[:6, :9],
    lambda whole: whole[:9, :6].T,
    lambda whole: whole[5::-1, 8::-1],
    lambda whole: whole[:12:2, :18:2],
    lambda whole: whole[:9, 3:4],
    lambda whole: whole[3:3, :4],
)


class LaunchSuite(Subject):
    """Launches without streams."""

    def test_sizes(self) -> None:
        for count in (1, 2, 31, 64, 255, 257, 1000, 70_001):
            x = np.random.default_rng(count).normal(size=count).astype(np.float32)
            y = np.arange(count, dtype=np.float32)
            expected = np.float32(2.5) * x + y
            for given in (y.copy(), self.subject.array(y)):
                saxpy.over(count, device=self.subject)(2.5, x, given)
                same(given if isinstance(given, np.ndarray) else given.numpy(), expected)

    def test_launches_of_many_sizes_keep_no_buffer(self) -> None:
        device = self.subject
        before = device.memory_stats().in_use
        for count in range(100, 110):
            out = device.array(np.zeros(count, np.int32))
            for _ in range(3):
                counted.over(count, device=device)(out)
            same(out.numpy(), np.full(count, 3, np.int32))
            del out
        gc.collect()
        assert device.memory_stats().in_use <= before

    def test_launches_over_nothing_do_nothing(self) -> None:
        out = np.zeros(4, np.int32)
        for shape in (0, (0, 3), (3, 0), (2, 0, 2)):
            counted.over(shape, device=self.subject)(out)
        counted.launcher((3, 0), 4, self.subject)(out)
        counted.over(4, device=self.subject)(out[:0])
        assert not out.any()

    def test_exactly_the_units_asked_for_run(self) -> None:
        limit = self.subject.target.features.max_cube_units
        shapes = ((37,), (3, 5), (2, 3, 7), (300, 2), (1, 1000))
        for shape in shapes:
            out = np.zeros(math.prod(shape) + 50, np.int32)
            counted.over(shape, device=self.subject)(out)
            assert out.sum() == math.prod(shape), shape
        for count, dim in (((3, 2), 8), (5, (4, 2)), ((2, 2, 2), (2, 2, 2)), (1, min(limit, 64))):
            units = math.prod(np.atleast_1d(count)) * math.prod(np.atleast_1d(dim))
            out = np.zeros(units + 50, np.int32)
            counted.launcher(count, dim, self.subject)(out)
            same(out, (np.arange(units + 50) < units).astype(np.int32))

    def test_grids_larger_than_a_device_takes_at_once(self) -> None:
        for count in ((70_000, 1, 1), (1, 70_000, 1), (1, 1, 70_000)):
            out = np.zeros(70_000, np.int32)
            counted.launcher(count, 1, self.subject)(out)
            assert (out == 1).all(), count

    def test_layouts(self) -> None:
        for view in LAYOUTS:
            for there in ("x", "out"):
                whole = np.arange(400, dtype=np.int32).reshape(20, 20)
                seen = view(whole)
                other = np.full(seen.shape[::-1], -1, np.int32)
                x, out = (seen, other) if there == "x" else (other, seen)
                expected, before = whole.copy(), x.copy()
                transposed.over(x.shape, device=self.subject)(x, out)
                same(out, before.T)
                if there == "out":
                    view(expected)[...] = before.T
                same(whole, expected)

    def test_broadcast_and_misaligned_arrays(self) -> None:
        y = np.zeros(40, np.float32)
        saxpy.over(40, device=self.subject)(3.0, np.broadcast_to(np.float32(2), 40), y)
        same(y, np.full(40, 6, np.float32))
        octets = np.zeros(4 * 40 + 1, np.uint8)[1:]
        y = octets.view(np.float32)
        saxpy.over(40, device=self.subject)(3.0, np.ones(40, np.float32), y)
        same(y.copy(), np.full(40, 3, np.float32))

    def test_arguments_may_be_the_same_memory(self) -> None:
        x = np.arange(1000, dtype=np.float32)
        saxpy.over(1000, device=self.subject)(2.0, x, x)
        same(x, 3 * np.arange(1000, dtype=np.float32))
        buffer = self.subject.array(x)
        saxpy.over(1000)(1.0, buffer, buffer)
        same(buffer.numpy(), 6 * np.arange(1000, dtype=np.float32))

    def test_what_must_not_be_written_is_refused(self) -> None:
        frozen = np.ones(8, np.float32)
        frozen.flags.writeable = False
        repeated = np.lib.stride_tricks.as_strided(np.ones(1, np.float32), (8,), (0,))
        for out in (frozen, repeated):
            try:
                saxpy.over(8, device=self.subject)(1.0, np.ones(8, np.float32), out)
            except ArgumentError:
                continue
            raise AssertionError("an array was written that must not be")
        assert (frozen == 1).all()

    def test_numbers_arrive_exactly(self) -> None:
        for type in self.scalars:
            for value in _numbers(type):
                out = self.subject.empty(3, type.numpy)
                stored.over(3)(out, type.numpy.type(value))
                same(out.numpy(), np.full(3, value).astype(type.numpy))

    def test_buffers_of_another_device_are_refused(self) -> None:
        other = find_device("cpu" if self.subject.name == "reference" else "reference")
        try:
            counted.over(4, device=self.subject)(other.array(np.zeros(4, np.int32)))
        except LaunchError:
            return
        raise AssertionError(f"a buffer of {other.name} was taken")

    def test_launches_happen_in_order(self) -> None:
        x = self.subject.array(np.zeros(500, np.float32))
        expected = np.float32(0)
        for _ in range(60):
            saxpy.over(500)(0.5, x, x)
            saxpy.over(500)(1.0, np.ones(500, np.float32), x)
            expected = expected * np.float32(1.5) + np.float32(1)
        same(x.numpy(), np.full(500, expected, np.float32))

    def test_threads_launch_at_once(self) -> None:
        device, wrong = self.subject, list[int]()

        def work(number: int) -> None:
            y = np.zeros(300, np.float32)
            for _ in range(20):
                saxpy.over(300, device=device)(1.0, np.full(300, number, np.float32), y)
            wrong.extend([number] * (not (y == 20 * number).all()))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []

    def test_faults_are_raised(self) -> None:
        with where_supported():
            launcher = outside.over(4, device=self.subject, check="validate")
            for out in (np.zeros(4, np.float32), self.subject.array(np.zeros(4, np.float32))):
                try:
                    launcher(out)
                except OutOfBoundsError:
                    continue
                raise AssertionError("a write outside was not reported")
        outside.over(4, device=self.subject)(np.zeros(4, np.float32))

    def test_text_that_is_no_program_is_an_error_with_the_tools_words(self) -> None:
        artifact = replace(self._artifact(), text="this is no program {", binary=b"")
        try:
            self.subject.load(artifact)
        except BackendError:
            return
        raise AssertionError("nonsense was loaded")

    def test_binaries_are_loaded_like_text(self) -> None:
        artifact = self._artifact()
        if not self.subject.toolchain:
            return
        binary = self.subject.compile(artifact)
        self._try(self.subject.load(replace(artifact, text="", binary=binary)))
        self._try(self.subject.load(artifact))

    def test_captured_launches_are_replayed(self) -> None:
        x, out = np.ones(100, np.float32), self.subject.array(np.zeros(100, np.float32))
        with capture() as recording:
            saxpy.over(100, device=self.subject)(2.0, x, out)
            saxpy.over(100, device=self.subject)(1.0, out, out)
        same(out.numpy(), np.zeros(100, np.float32))
        for _ in range(3):
            recording.replay()
        same(out.numpy(), np.full(100, 28, np.float32))

    def _artifact(self) -> Artifact:
        x = np.zeros(1, np.float32)
        stages = saxpy.over(100, device=self.subject).inspect(1.0, x, x.copy())
        return stages.artifact

    def _try(self, kernel: LoadedKernel) -> None:
        y = np.arange(100, dtype=np.float32)
        grid = grid_over((100,), kernel.artifact.cube_dim)
        launch(self.subject, kernel, grid, [3.0, np.ones(100, np.float32), y])
        same(y, np.arange(3, 103, dtype=np.float32))


def _numbers(type: Scalar) -> tuple[float, ...]:
    if type.is_float:
        info = np.finfo(np.float32)
        wide = (float(info.tiny), 1e38) if type.bits > 16 else (0.5,)
        return (0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, *wide)
    if type is BOOL:
        return (True, False)
    return (0, 1, type.minimum, type.maximum)

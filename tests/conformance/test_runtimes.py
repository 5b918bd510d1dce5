"""The published suite: the runtimes at hand pass it, and runtimes with a fault do not."""

import contextlib
import unittest
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from cubepy.runtime import (
    Binding,
    Device,
    Grid,
    LoadedKernel,
    Stream,
    WorkerStream,
    device,
    grid_of,
)
from cubepy.target import Artifact, Target
from cubepy.testing import RuntimeSuite, reference_for

# All rows on both are test_conformance.py's.
SOME_ROWS = ("const", "floor", "load", "plane_sum", "sync_cube", "while")


class TestReference(RuntimeSuite):
    device = "reference"
    rows = SOME_ROWS


class TestCpu(RuntimeSuite):
    device = "cpu"
    rows = SOME_ROWS
    same_bits_as = reference_for("cpu")


class Apart(Device):
    """The reference with memory of its own."""

    def __init__(self) -> None:
        self._inner = device("reference")
        self.launches = 0

    @property
    def name(self) -> str:
        return "apart"

    @property
    def target(self) -> Target:
        return self._inner.target

    @property
    def host_memory(self) -> bool:
        return False

    def alloc(self, size: int) -> Any:
        return self._inner.alloc(size)

    def write(self, memory: Any, data: np.ndarray) -> None:
        self._inner.write(memory, data)

    def read(self, memory: Any, data: np.ndarray) -> None:
        self._inner.read(memory, data)

    def wrap(self, data: np.ndarray) -> Any:
        raise NotImplementedError

    def load(self, artifact: Artifact) -> LoadedKernel:
        return self._inner.load(artifact)

    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        self.launches += 1
        self._inner.launch(kernel, grid, bindings)

    def sync(self) -> None:
        pass


class LosesLastByte(Apart):
    def write(self, memory: Any, data: np.ndarray) -> None:
        octets = data.reshape(-1).view(np.uint8)
        super().write(memory, np.concatenate([octets[:-1], np.zeros(1, np.uint8)]))


class ClearsBeforeWriting(Apart):
    def alloc(self, size: int) -> Any:
        memory = super().alloc(size)
        self._sizes = {**getattr(self, "_sizes", {}), id(memory): (memory, size)}
        return memory

    def write(self, memory: Any, data: np.ndarray) -> None:
        super().write(memory, np.zeros(self._sizes[id(memory)][1], np.uint8))
        super().write(memory, data)


class SharesMemory(Apart):
    def alloc(self, size: int) -> Any:
        self._block = getattr(self, "_block", None) or super().alloc(4_000_000)
        return self._block if size <= 100 else super().alloc(size)


class RunsOutBadly(Apart):
    def alloc(self, size: int) -> Any:
        if size > 1 << 40:
            raise MemoryError("no room")
        return super().alloc(size)


class ForgetsALaunch(Apart):
    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        super().launch(kernel, grid, bindings)
        if self.launches % 20 == 0:
            super().launch(kernel, grid, bindings)


class LimitsGrids(Apart):
    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        x, y, z = (min(count, 65_535) for count in grid.cube_count)
        cut = grid_of((x, y, z), kernel.artifact.cube_dim)
        super().launch(kernel, cut if cut.cube_count != grid.cube_count else grid, bindings)


class IgnoresOffsets(Apart):
    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        flat = [
            type(each)(**{**_fields(each), "offset": 0}) if hasattr(each, "offset") else each
            for each in bindings
        ]
        super().launch(kernel, grid, flat)


def _fields(binding: Any) -> dict[str, Any]:
    return {name: getattr(binding, name) for name in ("memory", "element", "shape", "strides")}


class SwallowsFaults(Apart):
    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        with contextlib.suppress(IndexError):
            super().launch(kernel, grid, bindings)


class LoadsAnything(Apart):
    def load(self, artifact: Artifact) -> LoadedKernel:
        try:
            return super().load(artifact)
        except RuntimeError:
            return LoadedKernel(artifact=artifact, handle=None)


class _NeverWaits(WorkerStream):
    def wait(self, event: Any) -> None:
        pass


class StreamsDoNotWait(Apart):
    """And are slow, so that it shows."""

    def stream(self) -> Stream:
        return _NeverWaits(self)

    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        for _ in range(self.launches % 3):
            sum(range(50_000))
        super().launch(kernel, grid, bindings)


FAULTS = [
    LosesLastByte,
    ClearsBeforeWriting,
    SharesMemory,
    RunsOutBadly,
    ForgetsALaunch,
    LimitsGrids,
    IgnoresOffsets,
    SwallowsFaults,
    LoadsAnything,
    StreamsDoNotWait,
]
TESTS = [name for name in dir(RuntimeSuite) if name.startswith("test_") and "row" not in name]


def failures(subject: Device, *, enough: int = 1000) -> list[str]:
    """Names of the tests that a device fails."""

    class Suite(RuntimeSuite):
        device = subject

    found = []
    for name in TESTS:
        try:
            getattr(Suite(), name)()
        except unittest.SkipTest:
            continue
        except Exception as error:  # noqa: BLE001 - whatever it is, the suite saw it
            found.append(f"{name}: {error!r}")
        if len(found) == enough:
            break
    return found


def test_a_device_with_memory_of_its_own_passes() -> None:
    assert failures(Apart()) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_device_fails(fault: type[Apart]) -> None:
    assert failures(fault(), enough=1) != []

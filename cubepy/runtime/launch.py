"""One launch: arguments in the order of a kernel's parameters become bindings of a device.

What every runtime shares stands here: refusing arguments a kernel may not write, copies for arrays
that a device cannot use as they lie, converting scalars, waiting for results on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cubepy.errors import ArgumentError, LaunchError
from cubepy.ir import Access, Scalar, StrideClass
from cubepy.late import late_import
from cubepy.records import dataclass, field
from cubepy.runtime.arguments import ArrayFacts, array_of, facts_of, span_of
from cubepy.runtime.base import ArrayBinding, Binding, Device, Grid, LoadedKernel, ScalarBinding
from cubepy.runtime.buffers import Buffer
from cubepy.runtime.events import Event, Uses
from cubepy.runtime.observation import observers, run_observed
from cubepy.runtime.scalars import convert_scalar
from cubepy.runtime.streams import Stream
from cubepy.runtime.targeted import memory_owner
from cubepy.target import Artifact

if TYPE_CHECKING:
    from cubepy.runtime.staging import Staged

__all__ = ["UNSURE", "check_access", "launch"]

Array = np.ndarray[Any, Any]
WRITES = (Access.WRITE, Access.READ_WRITE)
#: How a kernel uses an array that it may write.
UNSURE = (Access.UNKNOWN, *WRITES)


def _place(artifact: Artifact, number: int) -> str:
    return f"{artifact.kernel_name}: argument {artifact.abi.names[number]!r}"


def check_access(artifact: Artifact, facts: Sequence[ArrayFacts | None]) -> None:
    """Refuse arguments that the kernel writes and must not: read-only ones and broadcast views."""
    for number, (access, fact) in enumerate(zip(artifact.access, facts, strict=True)):
        if fact is None or access not in UNSURE:
            continue
        if not fact.writable:
            raise ArgumentError(
                f"{_place(artifact, number)} is written by the kernel, and the array is read-only\n"
                "  help: pass a copy, or an array with flags.writeable"
            )
        if StrideClass.ZERO in fact.classes:
            raise ArgumentError(
                f"{_place(artifact, number)} is written by the kernel, and several of its elements "
                "share memory (an axis has stride 0)\n  help: pass a copy of the broadcast view"
            )


def launch(
    device: Device,
    kernel: LoadedKernel,
    grid: Grid,
    values: Sequence[object],
    stream: Stream | None = None,
) -> None:
    """Launch `kernel` with `values`, one a parameter, and wait for what lies in host memory."""
    if grid.cubes == 0:
        return
    plan = _Plan(device=device, artifact=kernel.artifact)
    for number, value in enumerate(values):
        plan.add(number, value)
    bindings = plan.finish()
    if stream is None:
        _launch_here(device, kernel, grid, bindings, plan.buffers)
    else:
        _launch_there(stream, kernel, grid, bindings, plan.buffers)
    if plan.host:
        device.sync() if stream is None else stream.synchronize()
    for after in reversed(plan.afterwards):  # from the device first, then from aligned copies
        after()


# The uses of a buffer, and whether the launch writes it.
Touched = Sequence[tuple[Uses, bool]]


def _launch_here(
    device: Device, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding], buffers: Touched
) -> None:
    for uses, writes in buffers:
        uses.settle_streams(writes=writes)
    if observers:
        run_observed(device, None, kernel, grid, bindings)
    else:
        device.launch(kernel, grid, bindings)
    event = device.pending() if buffers else None
    if event is not None:
        _remember(event, buffers)


def _launch_there(
    stream: Stream, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding], buffers: Touched
) -> None:
    for uses, writes in buffers:
        for event in uses.before(writes=writes):
            if event.stream is not stream:
                stream.wait(event)
    if observers:
        run_observed(stream.device, stream, kernel, grid, bindings)
    else:
        stream.launch(kernel, grid, bindings)
    if buffers:
        _remember(stream.record(), buffers)


def _remember(event: Event, buffers: Touched) -> None:
    for uses, writes in buffers:
        uses.add(event, writes=writes)


@dataclass(slots=True, kw_only=True)
class _Plan:
    """The bindings of a launch while they are collected.

    `host`: its arguments in host memory. `staged`: copies of those, in memory that nobody else must
    get before the launch is done.
    """

    device: Device
    artifact: Artifact
    bindings: dict[int, Binding] = field(default_factory=dict)
    host: dict[int, Array] = field(default_factory=dict)
    staged: Sequence[Staged] = ()
    buffers: list[tuple[Uses, bool]] = field(default_factory=list)
    afterwards: list[Callable[[], None]] = field(default_factory=list)

    def add(self, number: int, value: object) -> None:
        """Take the argument of one parameter."""
        type = self.artifact.abi.types[number]
        if isinstance(type, Scalar):
            converted = convert_scalar(value, type, _place(self.artifact, number))
            self.bindings[number] = ScalarBinding(element=type, value=converted)
            return
        array = array_of(value, _place(self.artifact, number))
        if isinstance(array, Buffer):
            self._check_device(number, array)
            self.buffers.append((array.uses, self.artifact.access[number] in UNSURE))
            self.bindings[number] = self._bound(
                number, array.memory, array.offset, array.shape, array.strides
            )
        else:
            self.host[number] = array

    def finish(self) -> list[Binding]:
        """All bindings, in the order of the parameters."""
        usable = {number: self._usable(number, array) for number, array in self.host.items()}
        if self.device.host_memory:
            for number, array in usable.items():
                memory = self.device.wrap(array)
                self.bindings[number] = self._bound(number, memory, 0, array.shape, array.strides)
        elif usable:
            self._stage(usable)
        return [self.bindings[number] for number in range(len(self.artifact.abi.types))]

    def _stage(self, arrays: dict[int, Array]) -> None:
        with late_import:
            from cubepy.runtime.staging import stage  # noqa: PLC0415 - for memory of devices

        self.staged = stage(self.device, list(arrays.values()))
        for (number, array), copied in zip(arrays.items(), self.staged, strict=True):
            self.bindings[number] = self._bound(
                number, copied.memory, copied.offset, array.shape, array.strides
            )
            if self.artifact.access[number] in UNSURE:
                self.afterwards.append(_back(copied.copy_back, self.device))

    def _check_device(self, number: int, buffer: Buffer) -> None:
        if buffer.device is not memory_owner(self.device):
            raise LaunchError(
                f"{_place(self.artifact, number)} is on {buffer.device.name}, the launch on "
                f"{self.device.name}\n  help: pass it with .to(device)"
            )

    def _usable(self, number: int, array: Array) -> Array:
        """The array, or a copy where its elements do not lie as kernels need them."""
        if not facts_of(array).staged:
            return array
        self._refuse_overlap(number, array)
        copied = np.array(array, order="C", copy=True)
        if self.artifact.access[number] in UNSURE:
            self.afterwards.append(_back(np.copyto, array, copied))
        return copied

    def _refuse_overlap(self, number: int, array: Array) -> None:
        _, low, high = span_of(array)
        for other, neighbour in self.host.items():
            _, start, stop = span_of(neighbour)
            written = {self.artifact.access[number], self.artifact.access[other]} & set(UNSURE)
            if other != number and written and low < stop and start < high:
                raise LaunchError(
                    f"{_place(self.artifact, number)} is not aligned to its elements and overlaps "
                    f"{self.artifact.abi.names[other]!r}\n  help: pass an aligned copy"
                )

    def _bound(
        self,
        number: int,
        memory: object,
        offset: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> ArrayBinding:
        element = self.artifact.abi.types[number].element  # type: ignore[attr-defined]
        return ArrayBinding(
            memory=memory,
            element=element,
            offset=offset // element.size,
            shape=shape,
            strides=tuple(stride // element.size for stride in strides),
        )


def _back(function: Callable[..., object], *arguments: object) -> Callable[[], None]:
    def run() -> None:
        function(*arguments)

    return run

"""The CPU as a device: NumPy memory as it is, LLVM text compiled and loaded, tasks over threads.

An artifact's text becomes object code (from the disk store, if it has been compiled before) and
then an address; a launch fills the block of argument words, counts tasks by the artifact's schedule
and runs them. Launches have finished when they return. How threads share the work is `threads.py`'s
business.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from cubepy.errors import BackendError
from cubepy.late import late_import
from cubepy.location import excerpt
from cubepy.records import replace
from cubepy.runtime import (
    ArrayBinding,
    Binding,
    Device,
    Grid,
    Lease,
    LoadedKernel,
    Runtime,
    pack,
)
from cubepy.target import Artifact, Features, Target
from cubepy_cpu import entry, jit, threads
from cubepy_cpu.host import Machine, host, supports
from cubepy_cpu.host_memory import HostMemory, allocate, wrap
from cubepy_cpu.loaded_code import Code

if TYPE_CHECKING:
    from cubepy.location import Loc
    from cubepy.runtime import Timing
    from cubepy.target import MachineCode

__all__ = ["CpuDevice", "CpuRuntime", "HostMemory", "features_of_host", "machine_of", "runtime"]

_LLVM_PLACE = r"<string>:(\d+):\d+: error"


class CpuDevice(Device):
    """This machine's processor."""

    def __init__(self) -> None:
        self._target = Target(language="cpu", features=features_of_host())

    @property
    def name(self) -> str:
        return "cpu"

    @property
    def target(self) -> Target:
        return self._target

    @property
    def host_memory(self) -> bool:
        return True

    @property
    def takes_words(self) -> bool:
        return True

    def alloc(self, size: int) -> HostMemory:
        """Memory of arbitrary content."""
        return allocate(size)

    def write(self, memory: HostMemory, data: np.ndarray[Any, Any]) -> None:
        """Copy a contiguous host array to the start of a memory."""
        if data.nbytes:
            np.copyto(_view(memory.address, data.nbytes), data.reshape(-1).view(np.uint8))

    def read(self, memory: HostMemory, data: np.ndarray[Any, Any]) -> None:
        """Copy the start of a memory into a contiguous host array."""
        if data.nbytes:
            np.copyto(data.reshape(-1).view(np.uint8), _view(memory.address, data.nbytes))

    def wrap(self, data: np.ndarray[Any, Any]) -> HostMemory:
        """The array's own memory, from the element with all subscripts 0 on."""
        return wrap(data)

    def host_view(
        self, lease: Lease, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> np.ndarray[Any, Any] | None:
        """Leased memory as an array."""
        memory: HostMemory = lease.memory
        return memory.view(shape, dtype, lease)

    def native_kind(self, base: type) -> entry.Kind | None:
        """A subclass of `base` whose calls are launches in machine code, where that is open."""
        return entry.kind_of(base)

    def native_table(self, base: type) -> entry.Table | None:
        """A subclass of `base` whose calls are looked up in machine code, where that is open."""
        return entry.table_of(base)

    @property
    def announced(self) -> Mapping[str, object]:
        """The processor's own instructions."""
        machine = host()
        known = [each[1:] for each in machine.features.split(",") if each.startswith("+")]
        return {"processor": machine.cpu, "system": machine.triple, "instructions": known}

    @property
    def probed(self) -> Mapping[str, object]:
        """Whether launches are taken in machine code here."""
        with late_import:
            from cubepy_cpu import probe  # noqa: PLC0415 - every launch has asked before

        return {"launches in machine code": probe.why_not() or True}

    @property
    def toolchain(self) -> Sequence[tuple[str, bytes]]:
        """Nothing where lines are asked for, which the store does not keep."""
        return () if _lines_for_perf() else jit.settings(host())

    def compile(self, artifact: Artifact) -> bytes:
        """The object code of the artifact's text."""
        with _explained(artifact):
            return jit.compile_object(artifact.text, machine_of(artifact))

    def load(self, artifact: Artifact) -> LoadedKernel:
        """Compile the artifact, or take its object code from the disk store, and map it."""
        machine = machine_of(artifact)
        if not supports(machine):
            raise BackendError(
                f"{artifact.kernel_name} is compiled for {machine.cpu} ({machine.triple}), "
                f"which this processor ({host().cpu}) does not run; use the target `cpu`"
            )
        with _explained(artifact):
            if _lines_for_perf() and not artifact.binary:
                address = _load_with_lines(artifact, machine)
            else:
                data = artifact.binary or jit.cached_object(artifact.text, machine)
                address = jit.load(data, artifact.entry)
        x, y, z = artifact.cube_dim
        code = Code(
            entry=address,
            schedule=artifact.schedule,
            task_units=artifact.task_units,
            task_rows=artifact.task_rows,
            cube_units=x * y * z,
            arena_bytes=artifact.arena_bytes,
            work_per_unit=artifact.work_per_unit,
            lanes=max(1, artifact.target.features.vector_bits // 32),
            reports=bool(artifact.faults or artifact.prints),
        )
        return LoadedKernel(artifact=artifact, handle=code)

    def time_places(
        self,
        artifact: Artifact,
        repeated: Callable[[LoadedKernel, int], Callable[[], None]],
        seconds: float,
    ) -> Mapping[Loc, int]:
        """By samples of where the processor is."""
        with late_import:
            from cubepy_cpu import lines, sampling  # noqa: PLC0415 - for people only

        found, table = lines.located(artifact)
        data = jit.cached_object(found.text, machine_of(found))
        kernel = self.load(replace(found, binary=data))
        code: Code = kernel.handle
        known = lines.line_table(data, found.entry, table)
        return sampling.sample(code.entry, known, lambda count: repeated(kernel, count), seconds)

    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        """Run the kernel and wait; raises what it reported."""
        self._ready(kernel, grid, bindings)()

    def timed_launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> Timing:
        """Between the call of machine code and its return."""
        run = self._ready(kernel, grid, bindings)
        begin = time.perf_counter()
        run()
        end = time.perf_counter()
        return lambda: (begin, end)

    def _ready(
        self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]
    ) -> Callable[[], None]:
        """A launch with its block filled."""
        addresses = [
            binding.memory.address if isinstance(binding, ArrayBinding) else 0
            for binding in bindings
        ]
        words = pack(kernel.artifact.abi, bindings, grid, addresses)
        return functools.partial(self.words_launch(kernel, grid), words.tobytes())

    def address(self, memory: HostMemory) -> int:
        """Where a memory begins."""
        return memory.address

    def words_launch(self, kernel: LoadedKernel, grid: Grid) -> Callable[[bytes], None]:
        """Runs the kernel on a filled block of words and waits; raises what it reported."""
        code: Code = kernel.handle
        tasks, hint = code.tasks(grid), code.work(grid)
        if tasks and code.reports:
            return functools.partial(_launch_reporting, kernel, grid, tasks, hint)
        size = 8 * len(kernel.artifact.abi.words)
        return entry.block_launch(code.entry, tasks, code.arena_bytes, hint, size)

    def words_replay(
        self, launches: Sequence[tuple[LoadedKernel, Grid, bytes]]
    ) -> Callable[[], None] | None:
        """All launches in one call of machine code, where that is open."""
        return entry.replay([(kernel.handle, grid, words) for kernel, grid, words in launches])

    def sync(self) -> None:
        """Nothing to wait for: launches have finished when they return."""


def _launch_reporting(
    kernel: LoadedKernel, grid: Grid, tasks: int, hint: int, words: bytes
) -> None:
    """A launch whose last word leads to the block where it may report something."""
    with late_import:
        from cubepy.runtime import (  # noqa: PLC0415 - few kernels report anything
            raise_fault,
            report_block,
            write_prints,
        )

    code: Code = kernel.handle
    block = report_block(kernel.artifact)
    assert block is not None
    words = words[:-8] + block.ctypes.data.to_bytes(8, "little")
    try:
        threads.run(code.entry, words, tasks, code.arena_bytes, hint)
    finally:
        write_prints(kernel.artifact, grid, block)
    raise_fault(kernel.artifact, grid, block)


def _lines_for_perf() -> bool:
    """Whether `perf` is to know the lines of kernels."""
    return os.environ.get("CUBEPY_PERF") == "lines"


def _load_with_lines(artifact: Artifact, machine: Machine) -> int:
    """The address of the artifact's code, of whose lines `perf` is told."""
    with late_import:
        from cubepy_cpu import lines, perf  # noqa: PLC0415 - for those who ask for it

    found, table = lines.located(artifact)
    data = jit.cached_object(found.text, machine)
    address = jit.load(data, found.entry)
    known = lines.line_table(data, found.entry, table)
    perf.write_lines(found.entry, address, known)
    return address


def _view(address: int, size: int) -> np.ndarray[Any, Any]:
    return np.asarray((ctypes.c_uint8 * size).from_address(address))


@contextmanager
def _explained(artifact: Artifact) -> Iterator[None]:
    """Adds to a BackendError which kernel it is about, and the line that LLVM complains of."""
    try:
        yield
    except BackendError as error:
        error.add_note(f"while compiling {artifact.kernel_name}")
        place = re.search(_LLVM_PLACE, error.output)
        loc = artifact.line_map.get(int(place[1])) if place else None
        if loc is not None:
            error.add_note(f"{loc}: from this line of the kernel\n{excerpt(loc)}")
        raise


def machine_of(artifact: Artifact) -> Machine:
    """The machine an artifact is for; what its target leaves open is the host's."""
    features = artifact.target.features
    if not features.triple:
        return host()
    return Machine(
        triple=features.triple,
        cpu=features.cpu_name or "generic",
        features=features.cpu_features,
    )


def features_of_host() -> Features:
    """What code generation may use on this processor."""
    machine = host()
    present = set(machine.features.split(","))
    masks = {"+avx512f", "+avx512bw", "+avx512dq", "+avx512vl"} <= present
    wide = {"+avx2", "+fma"} <= present
    bits = 512 if masks else 256 if wide else 128
    return Features(
        plane_dim=bits // 32,
        vector_bits=bits,
        mask_registers=masks,
        fma="+fma" in present or machine.architecture == "aarch64",
        half_conversion="+f16c" in present or machine.architecture == "aarch64",
        triple=machine.triple,
        cpu_name=machine.cpu,
        cpu_features=machine.features,
    )


class CpuRuntime(Runtime):
    """One device, always there."""

    def __init__(self) -> None:
        self._device = CpuDevice()

    @property
    def name(self) -> str:
        return "cpu"

    def devices(self) -> Sequence[Device]:
        """The one device."""
        return (self._device,)

    @property
    def num_threads(self) -> int:
        """How many threads a large launch uses, the calling one included."""
        return threads.num_threads()

    def set_num_threads(self, count: int | None) -> None:
        """Use `count` threads from the next launch on; None for one a processor."""
        threads.set_num_threads(count)

    def assembly(self, artifact: Artifact) -> str:
        """The assembly text of an artifact for its own machine, whichever this one is."""
        with _explained(artifact):
            return jit.assembly(artifact.text, machine_of(artifact))

    def machine_code(self, artifact: Artifact) -> MachineCode:
        """The same with the kernel's place of each line, and its size."""
        with late_import:
            from cubepy_cpu import places  # noqa: PLC0415 - for people only, and LLVM comes with it

        with _explained(artifact):
            return places.machine_code(artifact, machine_of(artifact))


def runtime() -> Runtime:
    """The entry point of the group `cubepy.runtimes`."""
    return CpuRuntime()

"""The hall: the only place that knows the order of the stages.

`build` leads from a specialization to an artifact and needs no device. :class:`Program` is one
captured function with everything compiled of it: kernels are kept by specialization and device, and
each is compiled once however many threads ask.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from cubepy import config, frontend, ir
from cubepy.cache import Key, key_of, store
from cubepy.depth import deep
from cubepy.errors import CubeError
from cubepy.late import late_import
from cubepy.records import dataclass, field
from cubepy.runtime import Device, LoadedKernel, memory_owner, tell_compiled
from cubepy.target import Artifact, Target, artifact_of_bytes, bytes_of_artifact

if TYPE_CHECKING:
    from cubepy.target import Decision

__all__ = [
    "Observe",
    "Program",
    "Stages",
    "build",
    "finish",
    "key_on",
    "library",
    "lower",
    "provide_library",
]

Observe: TypeAlias = "Callable[[str, ir.Kernel], None]"
# Kernels of one function kept in memory; beyond that the oldest goes.
KEPT = 512
# Kernels of one specialization that differ by what captures do not tell, such as a class attribute.
VARIANTS = 16
# Lowered kernels of one function at hand for other devices; those with planes of another size
# may want another one.
RECENT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """What each stage made of one specialization; `remarks` are what passes decided."""

    lowered: ir.Kernel
    optimized: ir.Kernel
    artifact: Artifact
    remarks: tuple[Decision, ...] = ()


def build(
    source: frontend.KernelSource,
    specialization: frontend.Specialization,
    target: Target,
    *,
    observe: Observe | None = None,
) -> Stages:
    """All stages from a specialization to an artifact."""
    return finish(lower(source, specialization), target, observe=observe)


def lower(
    source: frontend.KernelSource,
    specialization: frontend.Specialization,
    *,
    notes: list[frontend.Note] | None = None,
) -> ir.Kernel:
    """The kernel as the front end makes it, well formed; `notes` as of `frontend.lower`."""
    return _lowered(source, specialization, notes).kernel


def finish(kernel: ir.Kernel, target: Target, *, observe: Observe | None = None) -> Stages:
    """Optimise, verify and emit. `observe` is given the kernel after every pass, by name."""
    # Late, because a warm start finds its kernels compiled and needs neither.
    with late_import:
        from cubepy import codegen, passes  # noqa: PLC0415

    native = codegen.native_ops(target)
    remarks: list[Decision] = []
    every = config.current().compilation.verify == "every_pass"
    with deep(kernel.name, kernel.loc):
        optimized = passes.run(
            kernel,
            target,
            library,
            native=native,
            observe=observe,
            remark=remarks.append,
            check=every,
        )
        if not every:  # else the passes have seen to it
            ir.verify(optimized, passes.level_of(target, native))
        artifact = codegen.emit(optimized, target)
    return Stages(lowered=kernel, optimized=optimized, artifact=artifact, remarks=tuple(remarks))


# A Python function and the types of its parameters, by name and first operand's type of an op.
Definition = tuple[Callable[..., object], Sequence[ir.Scalar]]


class _Loaded:
    """Loaded kernels by what they were made of: functions of the same text share one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._kernels: dict[tuple[str, Device], LoadedKernel] = {}

    def get(self, digest: str, device: Device) -> LoadedKernel | None:
        """The kernel, if it is there."""
        with self._lock:
            known = self._kernels.pop((digest, device), None)
            if known is not None:
                self._kernels[digest, device] = known
            return known

    def get_or_make(
        self, digest: str, device: Device, make: Callable[[], LoadedKernel]
    ) -> LoadedKernel:
        """The kernel; the one used longest ago goes when there are too many."""
        known = self.get(digest, device)
        if known is not None:
            return known
        made = make()
        with self._lock:
            while len(self._kernels) >= KEPT:
                del self._kernels[next(iter(self._kernels))]
            return self._kernels.setdefault((digest, device), made)

    def clear(self) -> None:
        """Forget them all."""
        with self._lock:
            self._kernels.clear()

    def unlock_after_fork(self) -> None:
        """In a child, where another thread of the parent may have held the lock."""
        self._lock = threading.RLock()


loaded = _Loaded()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=loaded.unlock_after_fork)


def _lowered(
    source: frontend.KernelSource,
    specialization: frontend.Specialization,
    notes: list[frontend.Note] | None = None,
) -> frontend.Lowered:
    with deep(source.name, source.loc):
        made = frontend.lower_and_tell(source, specialization, notes=notes)
        ir.verify(made.kernel, "lowered")
    return made


def load(
    source: frontend.KernelSource,
    specialization: frontend.Specialization,
    device: Device,
    lowered: Callable[[], frontend.Lowered],
) -> tuple[LoadedKernel, frontend.Watched]:
    """The kernel, ready to launch on a device, and what was read for it beyond the captures.

    It is lowered unless the store on disk knows what its origin becomes, and compiled unless a
    kernel like it is in memory, or its artifact in the store.
    """
    origin = _origin(source, specialization, device)
    digest = None if origin is None else store().get(origin)
    known = None if digest is None else _loaded_already(digest.decode(), device)
    if known is not None:
        return known, frontend.Watched()
    lowering = lowered()
    kernel = lowering.kernel
    key = key_on(device, kernel)
    owner = memory_owner(device)
    made = loaded.get_or_make(key.digest, owner, lambda: owner.load(_compiled(kernel, device, key)))
    if origin is not None and lowering.repeatable and digest is None:
        store().put(origin, key.digest.encode())
    return made, lowering.watched


def key_on(device: Device, kernel: ir.Kernel) -> Key:
    """The key of a kernel of the front end in the store on disk: all that its code depends on."""
    return key_of([*_parts(kernel), *_surroundings(device)], f"{kernel.name} for {device.target}")


def _origin(
    source: frontend.KernelSource, specialization: frontend.Specialization, device: Device
) -> Key | None:
    """The key under which the store has the digest of the kernel's own key."""
    origin = frontend.origin_of(source, specialization) if device.toolchain else None
    if origin is None:
        return None
    label = f"origin of {_label(source, device)}"
    return key_of([("origin", origin), *_surroundings(device)], label)


def _loaded_already(digest: str, device: Device) -> LoadedKernel | None:
    """A kernel from memory, or from its artifact in the store; None if neither has it."""
    owner = memory_owner(device)
    known = loaded.get(digest, owner)
    if known is not None:
        return known
    data = store().get(Key(digest=digest, parts=()))
    if data is None:
        return None
    artifact = artifact_of_bytes(data, device.target)
    return loaded.get_or_make(digest, owner, lambda: owner.load(artifact))


def _label(source: frontend.KernelSource, device: Device) -> str:
    return f"{source.name} for {device.target}"


def _compiled(kernel: ir.Kernel, device: Device, key: Key) -> Artifact:
    """The artifact, from the store on disk if it is there."""
    if not device.toolchain:
        return finish(kernel, device.target).artifact

    def make() -> bytes:
        artifact = finish(kernel, device.target).artifact
        return bytes_of_artifact(artifact, device.compile(artifact))

    return artifact_of_bytes(store().get_or_make(key, make), device.target)


def _parts(kernel: ir.Kernel) -> Iterator[tuple[str, bytes]]:
    text = ir.print_kernel(kernel)
    if any(word in text for word in REPORTS):  # the places are part of what is compiled
        text = ir.print_kernel(kernel, locations=True)
    yield "kernel", kernel.name.encode()
    yield "ir", text.encode()


def _surroundings(device: Device) -> Iterator[tuple[str, bytes]]:
    target = device.target
    yield "target", f"{target} {', '.join(target.features.described())}".encode()
    yield "cubepy", sources(target.language)
    yield from device.toolchain


# Words of IR text that stand where a fault is reported with its place.
REPORTS = ("validate", "assert", "check_bounds")


@functools.cache
def sources(language: str) -> bytes:
    """What tells one state of cubepy's own code from another: names, sizes and times of the files
    that have a say in what a kernel becomes in a language.
    """
    folder = os.path.dirname(os.path.abspath(__file__))
    try:
        files = sorted(_files(folder, _WITHOUT_A_SAY | _OTHERS.get(language, frozenset())))
    except OSError:  # packed into an archive
        while not os.path.exists(folder):
            folder = os.path.dirname(folder)
        facts = os.stat(folder)
        files = [(os.path.basename(folder), facts.st_size, facts.st_mtime_ns)]
    return repr(files).encode()


def _files(folder: str, silent: frozenset[str]) -> list[tuple[str, int, int]]:
    """All files but those in silent folders; looking at one takes a while."""
    found, pending = [], [folder]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith((".py", ".lark")):
                    facts = entry.stat()
                    found.append((name, facts.st_size, facts.st_mtime_ns))
                elif name not in silent and "." not in name:
                    pending.append(entry.path)
    return found


_WITHOUT_A_SAY = frozenset(
    {"__pycache__", "debug", "inspection", "interp", "launcher", "profiling", "replay", "runtime"}
    | {"testing", "tools"}
)
_OTHERS = {
    "cpu": frozenset({"opencl", "structured", "wgsl"}),
    "opencl": frozenset({"llvm", "wgsl"}),
    "wgsl": frozenset({"llvm", "opencl"}),
}


Definitions = Callable[[str, ir.Scalar], Definition | None]
_definitions: Definitions = lambda name, type: None  # noqa: E731


def provide_library(definitions: Definitions) -> None:
    """Say which Python function defines a library op for a type: `cubepy.std`, which lies above."""
    global _definitions
    _definitions = definitions
    library.cache_clear()


@functools.cache
def library(opdef: ir.OpDef, type: ir.Scalar) -> Sequence[ir.Function]:
    """The definition of a library op by its first operand's type, after the functions it calls."""
    definition = _definitions(opdef.name, type)
    if definition is None:
        raise CubeError(f"no definition of {opdef.name} for {type}")
    function, types = definition
    return frontend.lower_function(function, types, name=f"std.{opdef.name}.{type}")


@dataclass(slots=True, eq=False)
class _Entry:
    """The kernels of one specialization and device: one, unless it reads what captures do not
    tell. Each comes with what was read for it.
    """

    lock: threading.RLock = field(default_factory=threading.RLock)
    loaded: tuple[tuple[LoadedKernel, frontend.Watched], ...] = ()

    def valid(self) -> tuple[LoadedKernel, frontend.Watched] | None:
        """The kernel for which everything is as it was read, if there is one."""
        return next((each for each in self.loaded if each[1].unchanged()), None)


class Program:
    """A captured function and its compiled kernels. Safe to use from several threads."""

    def __init__(self, source: frontend.KernelSource) -> None:
        self.source = source
        self._lock = threading.RLock()
        self._entries: dict[tuple[frontend.Specialization, Device], _Entry] = {}
        self._recent: tuple[tuple[frontend.Specialization, frontend.Lowered], ...] = ()

    def kernel(
        self, specialization: frontend.Specialization, device: Device
    ) -> tuple[LoadedKernel, frontend.Watched]:
        """The kernel for `specialization`, ready to launch on `device`, and all that it read."""
        entry = self._entry(specialization, device)
        known = entry.valid()
        if known is None:
            with entry.lock:
                known = entry.valid()
                if known is None:
                    known = self._load(specialization, device)
                    entry.loaded = (known, *entry.loaded[: VARIANTS - 1])
        captured = specialization.captures.watched(self.source.function)
        return known[0], captured + known[1]

    def _load(
        self, specialization: frontend.Specialization, device: Device
    ) -> tuple[LoadedKernel, frontend.Watched]:
        begin = time.perf_counter()
        with deep(self.source.name, self.source.loc):
            made = load(self.source, specialization, device, lambda: self._lowered(specialization))
        tell_compiled(self.source.name, device, begin)
        return made

    def _lowered(self, specialization: frontend.Specialization) -> frontend.Lowered:
        """The kernel of the front end: a recent one again where only the device is another."""
        for known, made in self._recent:
            if known == specialization and made.watched.unchanged():
                return made
        made = _lowered(self.source, specialization)
        if made.lasting:
            self._recent = ((specialization, made), *self._recent[: RECENT - 1])
        return made

    def _entry(self, specialization: frontend.Specialization, device: Device) -> _Entry:
        key = (specialization, device)
        with self._lock:
            if key not in self._entries:
                if len(self._entries) >= KEPT:
                    del self._entries[next(iter(self._entries))]
                self._entries[key] = _Entry()
            return self._entries[key]

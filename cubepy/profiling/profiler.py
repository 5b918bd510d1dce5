"""What was launched while a profile was on, and how long each launch took on its device.

A profile observes launches (`cubepy.runtime.observe`), keeps of each what a reader wants to know,
and asks for its time once there is no hurry. It holds no argument and no device.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from math import prod
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from cubepy.errors import CubeError
from cubepy.ir import Access
from cubepy.late import late_import
from cubepy.records import dataclass, replace
from cubepy.runtime import (
    ArrayBinding,
    Device,
    Grid,
    Observed,
    Stream,
    Timing,
    observe,
    unobserve,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Compiled", "LaunchTime", "Profile", "Row", "profile"]

# Launches whose times have not been asked for: more than a device is likely to lag behind.
_PENDING = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchTime:
    """One launch; times in seconds of `time.perf_counter`.

    `track` is what it was ordered by: its stream, its thread where the device is the host's own
    processor, else the device's queue. `octets` are those of its arguments if each element is
    touched once, None where a unit must have touched several or that is not known.
    """

    kernel: str
    device: str
    target: str
    track: str
    shape: tuple[int, ...]
    octets: int | None
    begin: float = 0.0
    end: float = 0.0

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A kernel made ready to launch, from source or from the store on disk."""

    kernel: str
    device: str
    track: str
    begin: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """All launches of a kernel over one shape on one device; times in seconds, octets of all."""

    kernel: str
    device: str
    target: str
    shape: tuple[int, ...]
    count: int
    total: float
    shortest: float
    longest: float
    octets: int | None

    @property
    def mean(self) -> float:
        """Seconds a launch."""
        return self.total / self.count

    @property
    def bandwidth(self) -> float | None:
        """Octets a second, each element of each argument counted once; None if not known."""
        return None if self.octets is None or not self.total else self.octets / self.total


class Profile:
    """A context manager; launches of all threads count while it is on, and go a slower way.

    `rows` sums up, longest first; `launches` has each launch, the first `keep` of them; `print`
    shows a table, `trace` writes a file for the trace viewers of browsers.
    """

    def __init__(self, *, keep: int = 100_000) -> None:
        self.compiled_kernels: list[Compiled] = []
        self.failed = 0
        self.wall = 0.0
        self._keep = keep
        self._lock = threading.RLock()
        self._pending: deque[tuple[LaunchTime, Timing]] = deque()
        self._launches: list[LaunchTime] = []
        self._rows: dict[tuple[object, ...], Row] = {}
        self._streams: WeakKeyDictionary[Stream, int] = WeakKeyDictionary()
        self._begun = 0.0

    def __enter__(self) -> Profile:
        self._begun = time.perf_counter()
        observe(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        unobserve(self)
        self._settle(0)
        self.wall += time.perf_counter() - self._begun

    @property
    def launches(self) -> Sequence[LaunchTime]:
        """The launches by the time they were given; waits for those that have not finished."""
        self._settle(0)
        return tuple(self._launches)

    @property
    def rows(self) -> Sequence[Row]:
        """What took longest first."""
        self._settle(0)
        return sorted(self._rows.values(), key=lambda row: -row.total)

    def trace(self, path: str | Path) -> None:
        """Write a trace for ui.perfetto.dev, chrome://tracing or a profiler that reads these."""
        with late_import:
            from cubepy.profiling import trace  # noqa: PLC0415 - for people only

        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(trace.as_json(self), encoding="utf-8")

    # ── what the runtime tells ──────────────────────────────────────────────────────────────────

    def launched(self, launch: Observed) -> None:
        """See `cubepy.runtime.Observer`."""
        artifact = launch.kernel.artifact
        known = LaunchTime(
            kernel=artifact.kernel_name,
            device=launch.device.name,
            target=str(artifact.target),
            track=self._track(launch),
            shape=_shape(launch.grid),
            octets=_octets(launch),
        )
        with self._lock:
            self._pending.append((known, launch.timing))
        self._settle(_PENDING)

    def compiled(self, name: str, device: Device, begin: float, end: float) -> None:
        """See `cubepy.runtime.Observer`."""
        track = threading.current_thread().name
        made = Compiled(kernel=name, device=device.name, track=track, begin=begin, end=end)
        with self._lock:
            self.compiled_kernels.append(made)

    def _track(self, launch: Observed) -> str:
        if launch.stream is not None:
            with self._lock:
                number = self._streams.setdefault(launch.stream, len(self._streams) + 1)
            return f"stream {number}"
        return launch.thread.name if launch.device.host_memory else "queue"

    def _settle(self, most: int) -> None:
        """Ask for times until at most so many are left to ask for."""
        while True:
            with self._lock:
                if len(self._pending) <= most:
                    return
                launch, timing = self._pending.popleft()
            try:
                begin, end = timing()
            except CubeError:  # raised by whoever waits for its results, too
                with self._lock:
                    self.failed += 1
                continue
            with self._lock:
                self._count(replace(launch, begin=begin, end=end))

    def _count(self, launch: LaunchTime) -> None:
        if len(self._launches) < self._keep:
            self._launches.append(launch)
        key = (launch.kernel, launch.device, launch.target, launch.shape)
        one, before = _row(launch), self._rows.get(key)
        self._rows[key] = one if before is None else _sum(before, one)

    # ── for people ──────────────────────────────────────────────────────────────────────────────

    def __repr__(self) -> str:
        count = sum(row.count for row in self.rows)
        return f"<profile of {count} launches of {len(self._rows)} kinds: print to see them>"

    def __str__(self) -> str:
        with late_import:
            from cubepy.profiling import table  # noqa: PLC0415 - for people only

        return table.plain(self)

    def __rich__(self) -> RenderableType:
        with late_import:
            from cubepy.profiling import table  # noqa: PLC0415

        return table.rendered(self)

    def _repr_html_(self) -> str:
        with late_import:
            from cubepy.profiling import table  # noqa: PLC0415

        return table.page(self)


def _row(launch: LaunchTime) -> Row:
    """Of one launch."""
    return Row(
        kernel=launch.kernel,
        device=launch.device,
        target=launch.target,
        shape=launch.shape,
        count=1,
        total=launch.seconds,
        shortest=launch.seconds,
        longest=launch.seconds,
        octets=launch.octets,
    )


def _sum(some: Row, more: Row) -> Row:
    """Of launches of one kind."""
    known = some.octets is not None and more.octets is not None
    return replace(
        some,
        count=some.count + more.count,
        total=some.total + more.total,
        shortest=min(some.shortest, more.shortest),
        longest=max(some.longest, more.longest),
        octets=some.octets + more.octets if known else None,  # type: ignore[operator]
    )


def profile(*, keep: int = 100_000) -> Profile:
    """`with cb.profile() as p:` measures every launch inside; then `print(p)` or `p.trace(file)`.

    Outside of it nothing is slower than without. `keep`: how many launches the trace may have.
    """
    return Profile(keep=keep)


def _shape(grid: Grid) -> tuple[int, ...]:
    """The extent as it is written: x last, without axes of 1 before it."""
    z, y, x = reversed(grid.extent)
    return (z, y, x) if z != 1 else (y, x) if y != 1 else (x,)


# How often an element that a kernel touches once passes between memory and processor.
_TIMES = {Access.READ: 1, Access.WRITE: 1, Access.READ_WRITE: 2}


def _octets(launch: Observed) -> int | None:
    """See `LaunchTime`."""
    total, units = 0, prod(launch.grid.extent)
    for access, binding in zip(launch.kernel.artifact.access, launch.bindings, strict=True):
        if not isinstance(binding, ArrayBinding) or access is Access.NONE:
            continue
        axes = zip(binding.shape, binding.strides, strict=True)
        count = prod(size for size, stride in axes if stride)
        if count > units or access not in _TIMES:
            return None
        total += _TIMES[access] * count * binding.element.size
    return total or None

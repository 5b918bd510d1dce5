"""Who is told of every launch while it lasts: a profile, or anything else that looks on.

With nobody looking a launch does not come here at all: observers close the calls in machine code
and the short ways, so that each launch takes the general one, which tells them. What a launch took
is a :data:`Timing`, asked for once somebody wants to know.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from cubepy.records import dataclass
from cubepy.runtime.switches import close_calls, reopen_calls

if TYPE_CHECKING:
    from cubepy.runtime.base import Binding, Device, Grid, LoadedKernel
    from cubepy.runtime.streams import Stream

__all__ = [
    "Observed",
    "Observer",
    "Timing",
    "observe",
    "observers",
    "run_observed",
    "tell_compiled",
    "unobserve",
]

#: When a launch began and ended on its device, in seconds of `time.perf_counter`; waits for it.
Timing = Callable[[], tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One launch. `stream` is None for those given to none; `thread` is who launched it."""

    device: Device
    kernel: LoadedKernel
    grid: Grid
    bindings: Sequence[Binding]
    stream: Stream | None
    thread: threading.Thread
    timing: Timing


class Observer(Protocol):
    """Called on the thread that launches."""

    def launched(self, launch: Observed) -> None:
        """A launch has been given to its device; it may not have finished."""
        ...

    def compiled(self, name: str, device: Device, begin: float, end: float) -> None:
        """A kernel was made ready between two times of `time.perf_counter`."""
        ...


#: Who has to be told of launches, for reading only: always the same list, as launches ask it most.
observers: list[Observer] = []
_lock = threading.Lock()


def observe(observer: Observer) -> None:
    """Tell an observer of all launches of the process from now on."""
    close_calls()
    with _lock:
        observers.append(observer)


def unobserve(observer: Observer) -> None:
    """Tell it no more."""
    with _lock:
        observers[:] = [each for each in observers if each is not observer]
    reopen_calls()


def tell_compiled(name: str, device: Device, begin: float) -> None:
    """Tell the observers of a kernel that is ready now."""
    end = time.perf_counter()
    for observer in tuple(observers):
        observer.compiled(name, device, begin, end)


def run_observed(
    device: Device,
    stream: Stream | None,
    kernel: LoadedKernel,
    grid: Grid,
    bindings: Sequence[Binding],
) -> None:
    """Launch, on a stream if there is one, and tell the observers."""
    timing = (stream or device).timed_launch(kernel, grid, bindings)
    launch = Observed(
        device=device,
        kernel=kernel,
        grid=grid,
        bindings=bindings,
        stream=stream,
        thread=threading.current_thread(),
        timing=timing,
    )
    for observer in tuple(observers):
        observer.launched(launch)

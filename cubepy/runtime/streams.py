"""Streams: launches in order that the caller does not wait for.

:class:`Stream` is the contract. A device whose driver has queues makes its own; any other has
:class:`WorkerStream`, a thread that takes one launch after the other. While work of such a thread
is pending, calls in machine code are closed, for they know nothing of the memory it uses.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self

from cubepy.errors import ArgumentError, LaunchError, shown, stays_here
from cubepy.runtime.events import Event, HostEvent
from cubepy.runtime.switches import close_calls, reopen_calls

if TYPE_CHECKING:
    import numpy as np

    from cubepy.runtime.base import Binding, Device, Grid, LoadedKernel
    from cubepy.runtime.buffers import Buffer
    from cubepy.runtime.observation import Timing

__all__ = ["Stream", "WorkerStream", "check_stream", "on_a_thread"]

_EXIT_SECONDS = 2.0


class Stream(ABC):
    """Launches of one device, one after the other. Safe to use from several threads."""

    def __new__(cls, *_: object, **__: object) -> Self:
        """Those of a device's own class only."""
        if cls is Stream:
            raise ArgumentError(
                "a stream is not made by its class\n"
                '  help: a device makes streams: cb.device("cpu").stream()'
            )
        return super().__new__(cls)

    def __init__(self, device: Device) -> None:
        self.device = device

    @abstractmethod
    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        """Give the stream a launch, and keep the memory it uses until that is done.

        What the launch reports is raised by the events behind it, and by `synchronize`.
        """

    def timed_launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> Timing:
        """The same, and when it began and ended. By default the host waits before and after it."""
        self.record().wait()
        begin = time.perf_counter()
        self.launch(kernel, grid, bindings)
        self.record().wait()
        end = time.perf_counter()
        return lambda: (begin, end)

    @abstractmethod
    def record(self) -> Event:
        """An event behind everything given to the stream so far."""

    @abstractmethod
    def wait(self, event: Event) -> None:
        """Let what is given to the stream from now on begin after an event of any stream."""

    def gather(
        self, reads: Sequence[tuple[Buffer, np.ndarray[Any, Any]]]
    ) -> tuple[Event | None, Event]:
        """Copy buffers into contiguous host arrays, after everything given to the stream so far.

        Gives two events as `Device.gather` does. By default the host waits.
        """
        self.record().wait()
        return self.device.gather(reads, ())

    def synchronize(self) -> None:
        """Wait until the stream has nothing to do; raises what went wrong in it."""
        self.record().wait()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.device.name}>"

    def __reduce__(self) -> NoReturn:
        raise stays_here("a stream", "make one there, with device.stream()")


def check_stream(value: object) -> None:
    """Refuse what is no stream."""
    if not isinstance(value, Stream):
        raise LaunchError(
            f"{shown(value)} is no stream\n  help: stream = device.stream() makes one"
        )


class WorkerStream(Stream):
    """A stream whose launches a thread of this process runs.

    After an error it drops what it is given, until `synchronize` has raised the error. Work that is
    pending when the interpreter ends is dropped too.
    """

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self._worker = _Worker()
        weakref.finalize(self, self._worker.finish).atexit = False

    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        """The launch is the device's own, and waited for by the thread."""

        def work() -> None:
            self.device.launch(kernel, grid, bindings)
            self.device.sync()

        self.submit(work)

    def timed_launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> Timing:
        """The thread measures."""
        measured: list[Timing] = []

        def work() -> None:
            measured.append(self.device.timed_launch(kernel, grid, bindings))

        event = self._worker.submit(work, self)

        def timing() -> tuple[float, float]:
            event.await_quietly()  # what went wrong is for those who wait for results
            if not measured:
                raise LaunchError(
                    "a launch on a stream was not done, and took no time\n"
                    "  help: stream.sync() raises what kept it from being done"
                )
            return measured[0]()

        return timing

    def gather(
        self, reads: Sequence[tuple[Buffer, np.ndarray[Any, Any]]]
    ) -> tuple[Event | None, Event]:
        """The thread copies."""

        def work() -> None:
            self.device.gather(reads, ())[1].wait()

        arrived = self.submit(work)
        return arrived, arrived

    def submit(self, work: Callable[[], object]) -> Event:
        """Give the thread something to call; the event behind it."""
        return self._worker.submit(work, self)

    def record(self) -> Event:
        """An event behind the last launch."""
        return self._worker.behind(self)

    def wait(self, event: Event) -> None:
        """The thread waits."""
        if not event.done:
            self.submit(event.wait)

    def synchronize(self) -> None:
        """Wait for the thread."""
        last = self._worker.last()
        if last is not None:
            last.await_quietly()
        self._worker.raise_error()


class _Item:
    """Something to call, and the event behind it."""

    __slots__ = ("event", "work")

    def __init__(self, work: Callable[[], object], event: HostEvent) -> None:
        self.work: Callable[[], object] | None = work
        self.event = event


class _Worker:
    """The thread of a stream, started with the first work, and the work it has."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._pending: deque[_Item] = deque()  # the first is being worked on
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._finishing = False
        _workers.add(self)

    def submit(self, work: Callable[[], object], stream: object) -> HostEvent:
        """Add work."""
        item = _Item(work, HostEvent(stream))
        with self._changed:
            if self._finishing:
                raise LaunchError(
                    "the interpreter is shutting down, and streams take no more work\n"
                    "  help: launch without a stream, or wait before the program ends"
                )
            close_calls()
            self._pending.append(item)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="cubepy-stream", daemon=True)
                self._thread.start()
            self._changed.notify()
        return item.event

    def last(self) -> HostEvent | None:
        """The event behind all work, None if there is none."""
        with self._changed:
            return self._pending[-1].event if self._pending else None

    def behind(self, stream: object) -> HostEvent:
        """The event behind all work; with none left, one that tells how the work ended."""
        with self._changed:
            if self._pending:
                return self._pending[-1].event
            event = HostEvent(stream)
            event.reach(self._error)
            return event

    def raise_error(self) -> None:
        """Raise the error that stopped the work, once."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _run(self) -> None:
        # No name may hold an item while the thread waits: it would keep its stream alive.
        while self._step():
            pass

    def _step(self) -> bool:
        """Do the next work; False when the thread is to end."""
        with self._changed:
            while not self._pending:
                if self._finishing:
                    return False
                self._changed.wait()
            item = self._pending[0]
        self._do(item)
        with self._changed:
            if not self._pending or self._pending[0] is not item:
                return False  # what there was has been dropped
            self._pending.popleft()
            reopen_calls()
            item.event.reach(self._error)
            return True

    def _do(self, item: _Item) -> None:
        """Do the work, unless some before it failed; an error is everybody's behind it."""
        work, item.work = item.work, None
        if self._error is None and work is not None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                self._error = error

    def finish(self) -> None:
        """Let the thread end when its work is done."""
        with self._changed:
            self._finishing = True
            self._changed.notify()

    def leave(self) -> None:
        """Drop the work there is; the first of it may still be going on for a moment."""
        with self._changed:
            for item in self._dropped():
                item.event.reach(LaunchError("the interpreter is shutting down"))
            self._finishing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(_EXIT_SECONDS)

    def begin_again(self) -> None:
        """In the child of a fork, which has neither the thread nor what the locks held."""
        self._changed = threading.Condition()
        for item in self._dropped():
            item.event.abandon(LaunchError("the process was forked before this work was done"))
        self._thread = None

    def _dropped(self) -> deque[_Item]:
        pending, self._pending = self._pending, deque()
        for item in pending:
            reopen_calls()
            item.work = None
        return pending


def on_a_thread(work: Callable[[], object]) -> Event:
    """Call something on a thread of its own; the event behind it."""
    worker = _Worker()
    event = worker.submit(work, object())
    worker.finish()
    return event


_workers: weakref.WeakSet[_Worker] = weakref.WeakSet()


@atexit.register
def _leave() -> None:
    """Threads must not be in the middle of something when the interpreter is taken apart."""
    for worker in tuple(_workers):
        worker.leave()


def _begin_again() -> None:
    for worker in tuple(_workers):
        worker.begin_again()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)

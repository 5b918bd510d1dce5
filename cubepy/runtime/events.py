"""Points in the work of streams, and what of it a memory still waits for.

An :class:`Event` stands behind everything that was given to its stream before. :class:`Uses` keeps,
for one memory, the events of the launches that may still read or write it, so that launches on
different streams, and reads on the host, happen in the right order without being told.
"""

from __future__ import annotations

import contextlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NoReturn

from cubepy.errors import CubeError, stays_here

__all__ = ["Event", "HostEvent", "Uses"]


class Event(ABC):
    """A point in the work of a stream; `stream` tells which, None for launches without one."""

    stream: object | None = None

    def __reduce__(self) -> NoReturn:
        raise stays_here("an event", "wait for it here, and send what the launches made")

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether everything before it has finished; never waits."""

    @abstractmethod
    def wait(self) -> None:
        """Wait until everything before it has finished; raises what went wrong there."""

    @property
    @abstractmethod
    def seconds(self) -> float:
        """When it was reached, by the device's clock, which starts anywhere; waits for it."""

    def since(self, earlier: Event) -> float:
        """Seconds that the device spent between an earlier event of it and this one."""
        return self.seconds - earlier.seconds


class HostEvent(Event):
    """An event that a thread of this process reaches."""

    def __init__(self, stream: object | None = None) -> None:
        self.stream = stream
        self.error: BaseException | None = None
        self._reached = threading.Event()
        self._seconds = 0.0

    @classmethod
    def now(cls, stream: object | None = None) -> HostEvent:
        """One that has been reached already."""
        event = cls(stream)
        event.reach()
        return event

    def reach(self, error: BaseException | None = None) -> None:
        """Say that everything before it has finished, or what went wrong."""
        self._seconds = time.perf_counter()
        self.error = error
        self._reached.set()

    def abandon(self, error: BaseException) -> None:
        """The same in the child of a fork, where nobody will, whatever its lock looks like."""
        self._reached = threading.Event()
        self.reach(error)

    @property
    def done(self) -> bool:
        return self._reached.is_set()

    def wait(self) -> None:
        """As told above; a signal handler's exception ends it."""
        self.await_quietly()
        if self.error is not None:
            raise self.error

    def await_quietly(self) -> None:
        """Wait, and leave the error to others."""
        self._reached.wait()

    @property
    def seconds(self) -> float:
        self._reached.wait()
        return self._seconds


class _Quiet(Event):
    """An event as somebody sees it who has nothing to do with what went wrong before it."""

    def __init__(self, event: Event) -> None:
        self.stream = event.stream
        self._event = event

    @property
    def done(self) -> bool:
        return self._event.done

    def wait(self) -> None:
        """Wait, and raise nothing but what a signal handler does."""
        with contextlib.suppress(CubeError):
            self._event.wait()

    @property
    def seconds(self) -> float:
        return self._event.seconds


class Uses:
    """The launches on streams that may not have finished with a memory."""

    __slots__ = ("_readers", "_writer")

    def __init__(self) -> None:
        self._writer: Event | None = None
        self._readers: tuple[Event, ...] = ()

    @property
    def any(self) -> bool:
        """Whether there may be some."""
        return self._writer is not None or bool(self._readers)

    def before(self, *, writes: bool) -> Iterator[Event]:
        """What a use has to wait for: readers do not wait for one another."""
        if self._writer is not None:
            yield self._writer
        if writes:
            yield from self._readers

    def add(self, event: Event, *, writes: bool) -> None:
        """Remember a use that has been given to a stream."""
        if writes:
            self._writer, self._readers = event, ()
        else:
            # an event is behind all earlier ones of its stream
            others = [each for each in self._readers if each.stream is not event.stream]
            self._readers = (*(each for each in others if not each.done), event)

    def settle_streams(self, *, writes: bool) -> None:
        """Wait for launches on streams; those without a stream happen in order as they are."""
        if any(event.stream is not None for event in self.before(writes=writes)):
            self.settle(writes=writes)

    def pass_on(self) -> None:
        """The memory is another's now, who waits with writing, and gets no errors of before."""
        left = (each for each in self.before(writes=True) if not each.done)
        self._readers = tuple(_Quiet(event) for event in left)
        self._writer = None

    def settle(self, *, writes: bool) -> None:
        """Wait until the host may read, or write. An error is raised once."""
        waited = tuple(self.before(writes=writes))
        self._writer = None
        if writes:
            self._readers = ()
        for event in waited:
            event.wait()

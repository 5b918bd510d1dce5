"""Buffers that come back to the host while it does something else.

:func:`read_back` starts one transfer for all buffers it is given and hands out a
:class:`Readback`, which has their content once it is there. How the bytes travel is the `gather` of
the device, or of the stream; what is read is the content of that moment in the order of launches.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Sequence
from typing import Any, NoReturn

import numpy as np

from cubepy.errors import ArgumentError, CubeError, LaunchError, shown, stays_here
from cubepy.late import late_import
from cubepy.runtime.base import Device
from cubepy.runtime.buffers import Buffer
from cubepy.runtime.events import Event
from cubepy.runtime.recording import recording_here
from cubepy.runtime.streams import Stream, check_stream
from cubepy.runtime.targeted import memory_owner

__all__ = ["Readback", "read_back"]

Array = np.ndarray[Any, Any]
# Seconds between two looks at whether the content is there, where nothing tells.
_SHORT, _LONG = 0.0001, 0.005


class Readback:
    """The content of buffers on its way to the host. Safe to use from several threads.

    It may be awaited, too: `arrays = await device.read_back(x, y)` lets an event loop of asyncio
    go on meanwhile.
    """

    def __init__(
        self, device: Device, arrays: tuple[Array, ...], awaited: tuple[Event, ...]
    ) -> None:
        self._device = device
        self._arrays = arrays
        self._awaited = awaited
        self._error: CubeError | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        state = "done" if self.done else "on its way"
        return f"<Readback of {len(self._arrays)} buffers from {self._device.name}, {state}>"

    def __reduce__(self) -> NoReturn:
        raise stays_here("a readback", "send the arrays of its result()")

    @property
    def done(self) -> bool:
        """Whether `result` has something to say; never waits."""
        return not self._awaited or self._device.lost or all(each.done for each in self._awaited)

    def result(self, timeout: float | None = None) -> tuple[Array, ...]:
        """An array a buffer, in their order, with memory of its own: the same ones each time.

        Waits, at most `timeout` seconds, after which there is a TimeoutError and one may ask
        again. Raises what the launches raised that write the buffers, or the driver did.
        """
        if timeout is not None:
            self._look_until(time.monotonic() + timeout)
        with self._lock:
            if self._awaited and self._device.lost:
                self._device.sync()  # says so, where nothing else would ever come
            self._wait()
        if self._error is not None:
            raise self._error
        return self._arrays

    def _wait(self) -> None:
        while self._awaited:
            try:
                self._awaited[0].wait()
            except CubeError as error:
                self._error, self._awaited = error, ()
            else:
                self._awaited = self._awaited[1:]

    def _look_until(self, deadline: float) -> None:
        pause = _SHORT
        while not self.done:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("the content of the buffers is not there yet")
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONG)

    def __await__(self) -> Generator[Any, None, tuple[Array, ...]]:
        return self._look_between_tasks().__await__()

    async def _look_between_tasks(self) -> tuple[Array, ...]:
        with late_import:
            import asyncio  # noqa: PLC0415 - whoever awaits has it

        pause = _SHORT
        while not self.done:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONG)
        return self.result()


def read_back(device: Device, buffers: Sequence[object], stream: Stream | None = None) -> Readback:
    """Start reading; see `Device.read_back`."""
    owner = memory_owner(device)
    checked = [_checked(owner, number, each) for number, each in enumerate(buffers)]
    _check_place(owner, stream)
    reads = [(each, np.empty(each.shape, each.dtype)) for each in checked]
    writers = _writers(checked)
    elsewhere = [each for each in writers if each.stream is not stream and not each.done]
    if stream is None:
        behind, arrived = owner.gather(reads, elsewhere)
    else:
        for event in elsewhere:
            stream.wait(event)
        behind, arrived = stream.gather(reads)
    if behind is not None:
        for each in checked:
            each.uses.add(behind, writes=False)
    return Readback(owner, tuple(array for _, array in reads), (*writers, arrived))


def _writers(buffers: Sequence[Buffer]) -> tuple[Event, ...]:
    """The launches on streams that write them, each once."""
    events = [event for each in buffers for event in each.uses.before(writes=False)]
    return tuple({id(event): event for event in events}.values())


def _checked(owner: Device, number: int, value: object) -> Buffer:
    if not isinstance(value, Buffer):
        raise ArgumentError(
            f"read_back: argument {number} is {shown(value)}, and only buffers are read back\n"
            "  help: arrays of the host are there already; several buffers are given as *buffers"
        )
    if value.device is not owner:
        raise LaunchError(
            f"read_back: argument {number} is on {value.device.name}, the read on {owner.name}\n"
            f"  help: ask the device that has it: buffer.device.read_back(buffer)"
        )
    return value


def _check_place(owner: Device, stream: Stream | None) -> None:
    if stream is not None:
        check_stream(stream)
        if memory_owner(stream.device) is not owner:
            raise LaunchError(
                f"the read is on {owner.name}, the stream is of {stream.device.name}\n"
                f"  help: make a stream of it: cb.device({owner.name!r}).stream()"
            )
    if recording_here() is not None:
        raise LaunchError(
            "buffers cannot be read back inside a capture, where no launch is done\n"
            "  help: read them after the replay"
        )

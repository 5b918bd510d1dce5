"""Launches captured once and replayed often, for less than a call of Python each.

Inside `with capture() as recording:` launches of this thread are written down instead of done.
`recording.replay()` does them: same kernels, same sizes, same numbers, same arrays with whatever
they hold by then. A device that takes words may do them all in one call of machine code.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from cubepy.errors import LaunchError, stays_here
from cubepy.ir import Scalar
from cubepy.records import dataclass
from cubepy.runtime.arguments import array_of, facts_of, is_writable
from cubepy.runtime.base import Device, Grid, LoadedKernel
from cubepy.runtime.buffers import Buffer
from cubepy.runtime.launch import UNSURE, check_access, launch
from cubepy.runtime.observation import observers
from cubepy.runtime.quick import MemoryLaunch, QuickLaunch
from cubepy.runtime.streams import Stream, check_stream
from cubepy.runtime.switches import close_calls, reopen_calls, switches
from cubepy.runtime.targeted import memory_owner

__all__ = ["Recording", "capture", "recording_here", "this_thread"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Step:
    """One launch. `values`: one a parameter of the kernel; `words`: its block, if there is one."""

    device: Device
    kernel: LoadedKernel
    grid: Grid
    values: Sequence[Any]
    words: bytes | None

    def check(self) -> None:
        """Refuse arrays that were made read-only since, if the kernel writes them."""
        artifact = self.kernel.artifact
        facts = [
            None if isinstance(type, Scalar) else facts_of(array_of(value, artifact.kernel_name))
            for type, value in zip(artifact.abi.types, self.values, strict=True)
        ]
        check_access(artifact, facts)

    def written(self) -> Iterator[np.ndarray[Any, Any]]:
        """The host's arrays that the kernel may write."""
        for access, value in zip(self.kernel.artifact.access, self.values, strict=True):
            if access in UNSURE and isinstance(value, np.ndarray):
                yield value

    def run(self, stream: Stream | None) -> None:
        self.check()
        launch(self.device, self.kernel, self.grid, self.values, stream)


class Recording:
    """The launches of one capture. Safe to replay from several threads."""

    def __init__(self) -> None:
        self._steps: list[_Step] = []
        self._replay: Callable[[], None] | None = None
        self._written: tuple[np.ndarray[Any, Any], ...] = ()

    def __len__(self) -> int:
        return len(self._steps)

    def __repr__(self) -> str:
        return f"<Recording of {len(self)} launches>"

    def __reduce__(self) -> NoReturn:
        raise stays_here("a recording", "capture the launches there again")

    def add(
        self,
        device: Device,
        kernel: LoadedKernel,
        grid: Grid,
        arguments: Sequence[Any],
        positions: Sequence[int],
        quick: QuickLaunch | MemoryLaunch | None,
    ) -> None:
        """Write a launch down. `positions`: which argument each parameter of the kernel is."""
        if grid.cubes == 0:
            return
        # A number may be an array without axes, or an object that changes: it counts as it is now.
        values = [_fixed(arguments[at]) for at in positions]
        words = None if quick is None else quick.words(grid, arguments)
        self._steps.append(
            _Step(device=device, kernel=kernel, grid=grid, values=values, words=words)
        )

    def finish(self) -> None:
        """Make the replay ready, once all launches are there."""
        owners = {memory_owner(step.device) for step in self._steps}
        launches = [
            (step.kernel, step.grid, step.words) for step in self._steps if step.words is not None
        ]
        if len(owners) == 1 and len(launches) == len(self._steps):
            self._replay = owners.pop().words_replay(launches)
            every = {id(array): array for step in self._steps for array in step.written()}
            self._written = tuple(every.values())

    def replay(self, stream: Stream | None = None) -> None:
        """Do all launches in order, on a stream if one is given."""
        if recording_here() is not None:
            raise LaunchError(
                "a recording cannot be replayed inside a capture\n  help: call the kernels"
            )
        if stream is not None:
            check_stream(stream)
        if self._replay is not None and stream is None and not observers:
            if switches.closed:
                self._settle()
            for array in self._written:
                if not is_writable(array):
                    self._refuse()
            self._replay()
            return
        for step in self._steps:
            if stream is not None and memory_owner(step.device) is not memory_owner(stream.device):
                raise LaunchError(
                    f"a launch of the recording is for {step.device.name}, the stream is of "
                    f"{stream.device.name}\n  help: run it on a stream of that device"
                )
        for step in self._steps:
            step.run(stream)

    def _refuse(self) -> None:
        for step in self._steps:
            step.check()

    def _settle(self) -> None:
        """Wait for streams that work on the buffers."""
        for step in self._steps:
            for value in step.values:
                if isinstance(value, Buffer):
                    value.uses.settle(writes=True)


def _fixed(value: Any) -> Any:
    scalar = isinstance(value, np.ndarray) and not value.ndim
    return value.copy() if scalar else value


class _Here(threading.local):
    recording: Recording | None = None


#: What is special in this thread; `recording_here` says what.
this_thread = _Here()


def recording_here() -> Recording | None:
    """What launches of this thread are to be written to, None if they are to be done."""
    return this_thread.recording


@contextlib.contextmanager
def capture() -> Iterator[Recording]:
    """Write the launches of this thread down instead of doing them."""
    if this_thread.recording is not None:
        raise LaunchError(
            "a capture is going on in this thread already\n"
            "  help: end that one first; several recordings can be run one after the other"
        )
    recording = Recording()
    close_calls()
    this_thread.recording = recording
    try:
        yield recording
    finally:
        this_thread.recording = None
        reopen_calls()
    recording.finish()

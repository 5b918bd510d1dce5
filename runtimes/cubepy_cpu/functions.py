"""What `worker_code` defines, as functions of Python, and the memory that all launches share.

A function is made when it is first asked for: a process that only does small launches needs one.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cubepy.errors import LaunchError, OutOfMemoryError
from cubepy.runtime import switches
from cubepy_cpu import jit, probe, worker_code
from cubepy_cpu.structures import Context

__all__ = [
    "CONTEXT",
    "Functions",
    "complain",
    "context",
    "explain",
    "functions",
    "machine_functions",
    "reserve_arena",
]

_Function = Callable[..., Any]
_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int64


class Functions:
    """The entry points of `workers.ll`; `launch_held` does not let go of Python's lock.

    `native`: Python's objects are known, so `run` is all of a launch in machine code, and the
    others are not called from Python. `sleeps`: workers sleep in machine code.
    """

    def __init__(self, *, futex: bool, native: bool) -> None:
        self.sleeps = futex
        self.native = native
        self._addresses = machine_functions(futex, native)

    def _released(self, name: str, result: Any, *arguments: Any) -> _Function:
        return ctypes.CFUNCTYPE(result, *arguments)(self._addresses[f"cubepy_{name}"])

    def _held(self, name: str, result: Any, *arguments: Any) -> _Function:
        return ctypes.PYFUNCTYPE(result, *arguments)(self._addresses[f"cubepy_{name}"])

    @functools.cached_property
    def launch(self) -> _Function:
        return self._released("launch", _NUMBER, *_LAUNCH)

    @functools.cached_property
    def launch_held(self) -> _Function:
        return self._held("launch", _NUMBER, *_LAUNCH)

    @functools.cached_property
    def alone(self) -> _Function:
        return self._held("alone", None, _POINTER, _POINTER)

    @functools.cached_property
    def resume(self) -> _Function:
        return self._released("resume", _NUMBER, _POINTER, _POINTER, _NUMBER)

    @functools.cached_property
    def share(self) -> _Function:
        return self._released("share", None, _POINTER, _POINTER, _NUMBER)

    @functools.cached_property
    def cancel(self) -> _Function:
        return self._held("cancel", None, _POINTER)

    @functools.cached_property
    def stop(self) -> _Function:
        return self._held("stop", None, _POINTER)

    @functools.cached_property
    def worker(self) -> _Function:
        return self._released("worker", None, _POINTER, _POINTER, _NUMBER)

    @functools.cached_property
    def run(self) -> _Function:
        return self._held("run", _NUMBER, *(_POINTER,) * 4, _NUMBER, _NUMBER, _NUMBER)

    @functools.cached_property
    def replay(self) -> _Function:
        return self._held("replay", _NUMBER, _POINTER, _POINTER, _NUMBER)


_LAUNCH = (
    *(_POINTER, _POINTER, _POINTER, _POINTER, _NUMBER, _NUMBER, _POINTER, _NUMBER, _NUMBER),
    _NUMBER,
)


def functions() -> Functions:
    """Those of this process."""
    return _functions(worker_code.has_futex(), not probe.why_not())


@functools.cache
def _functions(futex: bool, native: bool) -> Functions:  # noqa: FBT001 - a key
    return Functions(futex=futex, native=native)


@functools.cache
def machine_functions(futex: bool, native: bool) -> Mapping[str, int]:  # noqa: FBT001 - a key
    """The addresses of what `worker_code` defines, by name."""
    python = probe.layout() if native else None
    data = jit.cached_object(
        functools.partial(worker_code.text, futex=futex, python=python),
        parts=worker_code.parts(futex=futex, python=python),
        label="the CPU's worker pool and calls",
    )
    return jit.load_all(data, "cubepy_launch")


#: What all launches share.
context = Context(
    switches=ctypes.addressof(switches),
    none=id(None),
    none_references=0 if sys.version_info >= (3, 12) else 1,
    true=id(True),
    array_type=id(np.ndarray),
    int_type=id(int),
    tuple_type=id(tuple),
    bytes_type=id(bytes),
)
CONTEXT = ctypes.addressof(context)

# Scratch memory of launches that hold Python's lock: there is one of them at a time.
_arenas: list[np.ndarray[Any, Any]] = [np.empty(0, np.uint8)]


def reserve_arena(size: int) -> None:
    """Let launches that hold Python's lock have at least so many bytes of scratch memory."""
    if size + 64 > _arenas[0].size:
        try:
            _arenas[0] = np.empty(size + 64, np.uint8)
        except MemoryError as error:
            raise OutOfMemoryError(f"no room for {size} bytes of scratch memory") from error
        context.arena = -(-_arenas[0].ctypes.data // 64) * 64


def complain() -> None:
    """Raise what a launch ends with that a fork has torn."""
    raise LaunchError(
        "the process was forked in the middle of a launch; the child cannot finish it. "
        "Fork before or after launches, not from a signal handler during one"
    )


context.complain = id(complain)


def explain(status: int, arena_bytes: int) -> None:
    """Raise what a launch in machine code answered; an error of Python's is raised already."""
    if status == worker_code.RUN_NO_MEMORY:
        raise OutOfMemoryError(f"no room for {arena_bytes} bytes of scratch memory")
    if status == worker_code.RUN_FORKED:
        complain()

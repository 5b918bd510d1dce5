"""Runs compiled kernels: tasks [0, n) over the calling thread and a pool of parked worker threads.

Small launches run on the caller alone. Long ones come back to Python about twenty times a second,
so that Ctrl-C is seen. The process has one pool: it is made for the first launch that may be worth
sharing, anew after a fork, and ends in an exit handler.
"""

from __future__ import annotations

import atexit
import operator
import os
import threading
from typing import TYPE_CHECKING

from cubepy.config import current
from cubepy.errors import ArgumentError
from cubepy.late import late_import
from cubepy_cpu.functions import CONTEXT, context, explain, functions
from cubepy_cpu.host import processor_count
from cubepy_cpu.structures import Command

if TYPE_CHECKING:
    from cubepy_cpu.pool import Pool

__all__ = ["num_threads", "replay", "run", "set_num_threads"]


class _State:
    """The process's pool and how many threads it shall have.

    `retired`: pools that were replaced while a launch or a worker may still have been in them.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.pool: Pool | None = None
        self.retired: list[Pool] = []
        self.requested: int | None = None
        self.exiting = False


_state = _State()


def run(
    entry: int, arguments: int | bytes, tasks: int, arena_bytes: int = 0, work_hint: int = 0
) -> None:
    """Call `entry(arguments, begin, end, arena)` for chunks that cover [0, tasks), and wait.

    `arguments` is an address, or the bytes that are to stand there.

    `work_hint` is roughly how many nanoseconds one thread would need for all of it; 0 if nobody
    knows, and then the first chunk is timed. Any number of threads may launch at once. An exception
    that a signal handler raises, such as KeyboardInterrupt, ends the launch early, after the chunks
    that have begun.
    """
    if tasks > 0:
        (_state.pool or _make_pool()).run(entry, arguments, tasks, arena_bytes, work_hint)


def replay(commands: int, count: int) -> None:
    """Do `count` launches in order, that stand as `Command` at an address."""
    if _state.pool is None:
        _make_pool()
    status = functions().replay(CONTEXT, commands, count)
    if status:
        largest = max(each.arena_bytes for each in (Command * count).from_address(commands))
        explain(status, largest)


def num_threads() -> int:
    """How many threads a large launch uses, the calling one included."""
    return _state.requested or current().runtime.threads or processor_count()


def set_num_threads(count: int | None) -> None:
    """Use `count` threads from the next launch on; None for one a processor."""
    try:
        acceptable = count is None or operator.index(count) >= 1
    except TypeError:
        acceptable = False
    if not acceptable:
        raise ArgumentError(
            f"set_num_threads takes a number from 1 up, or None, not {count!r}\n"
            "  help: None gives one thread a processor"
        )
    with _state.lock:
        _state.requested = count
        pool = _take_pool()
    if pool is not None:
        pool.stop()


def _make_pool() -> Pool:
    with late_import:
        from cubepy_cpu.pool import Pool  # noqa: PLC0415 - small launches do without

    with _state.lock:
        if _state.pool is None:
            made = Pool(1 if _state.exiting else num_threads())
            if _state.pool is None:  # no signal handler was quicker
                _state.pool = made
                context.pool = made.address
        return _state.pool


context.make_pool = id(_make_pool)


def _take_pool() -> Pool | None:
    """Leave the process without a pool; its last one, which is to be stopped."""
    pool, _state.pool = _state.pool, None
    context.pool = 0
    _state.retired = [retired for retired in _state.retired if not retired.deserted]
    if pool is not None:
        _state.retired.append(pool)
    return pool


@atexit.register
def _leave() -> None:
    """Workers must be out of machine code before the interpreter is taken apart under them."""
    with _state.lock:
        _state.exiting = True
        pool = _take_pool()
    if pool is not None:
        pool.stop()


def _forget_pool() -> None:
    """A fork leaves the workers behind, and locks as other threads held them."""
    _state.lock = threading.RLock()
    if _state.pool is not None:
        _state.retired.append(_state.pool)
    _state.pool = None
    context.pool = 0
    context.forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)

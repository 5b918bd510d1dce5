"""Runs compiled kernels: tasks [0, n) over the calling thread and a pool of parked worker threads.

Workers are Python threads that stay inside machine code (`workers.ll`), where they spin briefly and
then sleep in the kernel; they take Python's lock only to start and to end. Small launches run on
the caller alone. Long ones come back to Python about twenty times a second, so that Ctrl-C is seen.
The pool starts with the first launch that is worth sharing, is made anew after a fork, and ends in
an exit handler.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import operator
import os
import sys
import threading
from collections.abc import Callable

import numpy as np

from cubepy.config import current
from cubepy.errors import ArgumentError, LaunchError, OutOfMemoryError
from cubepy.records import dataclass
from cubepy.runtime import switches
from cubepy_cpu import arena, jit, probe, worker_code
from cubepy_cpu.host import processor_count
from cubepy_cpu.structures import Command, Context

__all__ = [
    "block_launch",
    "context",
    "machine_functions",
    "num_threads",
    "replay",
    "run",
    "set_num_threads",
]

_JOIN_SECONDS = 2.0

_Function = Callable[..., int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class _Code:
    """The entry points of `workers.ll`; `launch_held` does not let go of Python's lock.

    `run` is all of a launch in machine code, where Python's objects are known: then the others are
    not called from here.
    """

    launch: _Function
    launch_held: _Function
    resume: _Function
    share: _Function
    cancel: _Function
    stop: _Function
    worker: _Function
    run: _Function | None
    run_block: _Function | None
    replay: _Function | None
    sleeps: bool


def _code() -> _Code:
    return _load_code(worker_code.has_futex(), not probe.why_not())


@functools.cache
def machine_functions(futex: bool, native: bool) -> Callable[[str], int]:  # noqa: FBT001 - a key
    """The addresses of what `worker_code` defines, by name without `cubepy_`."""
    python = probe.layout() if native else None
    data = jit.cached_object(
        functools.partial(worker_code.text, futex=futex, python=python),
        parts=worker_code.parts(futex=futex, python=python),
        label="the CPU's worker pool and calls",
    )
    return lambda name: jit.load(data, f"cubepy_{name}")


@functools.cache
def _load_code(futex: bool, native: bool) -> _Code:  # noqa: FBT001 - a key
    address_of = machine_functions(futex, native)

    def function(name: str, result: type | None, *arguments: type) -> tuple[_Function, _Function]:
        address = address_of(name)
        released = ctypes.CFUNCTYPE(result, *arguments)(address)
        return released, ctypes.PYFUNCTYPE(result, *arguments)(address)

    pointer, number = ctypes.c_void_p, ctypes.c_int64
    launch = function(
        "launch",
        number,
        *(pointer, pointer, pointer, pointer, number, number, pointer, number, number, number),
    )
    return _Code(
        launch=launch[0],
        launch_held=launch[1],
        resume=function("resume", number, pointer, pointer, number)[0],
        share=function("share", None, pointer, pointer, number)[0],
        cancel=function("cancel", None, pointer)[1],
        stop=function("stop", None, pointer)[1],
        worker=function("worker", None, pointer, pointer, number)[0],
        run=_run_function(function) if native else None,
        run_block=function("run_block", number, pointer, pointer, pointer)[1] if native else None,
        replay=function("replay", number, pointer, pointer, number)[1] if native else None,
        sleeps=futex,
    )


def _run_function(function: Callable[..., tuple[_Function, _Function]]) -> _Function:
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    return function("run", number, *(pointer,) * 4, number, number, number)[1]


#: What all launches share.
context = Context(
    switches=ctypes.addressof(switches),
    none=id(None),
    none_references=0 if sys.version_info >= (3, 12) else 1,
    true=id(True),
    array_type=id(np.ndarray),
    int_type=id(int),
    tuple_type=id(tuple),
)
_CONTEXT = ctypes.addressof(context)


class Pool:
    """One set of workers and the memory they share with launching threads."""

    def __init__(self, threads: int, code: _Code | None = None) -> None:
        self.threads = threads
        self._code = code or _code()
        self._process = os.getpid()
        self._memory = _aligned(worker_code.pool_bytes())
        self._address = self._memory[1]
        self._free = [
            self._address + worker_code.SLOT_START + index * worker_code.SLOT_BYTES
            for index in range(worker_code.SLOTS)
        ]
        self._workers: list[threading.Thread] = []
        self._gone: list[threading.Thread] = []
        self._stopped = False
        # A signal handler may launch in the middle of all this, on the very same thread.
        self._lock = threading.RLock()
        self._starting = False
        self._opened = threading.Condition()  # used where workers cannot sleep in machine code
        self._openings = 0
        self._recruiter = self._recruit  # machine code has a pointer to it
        self._word(worker_code.THREADS_MOST).value = threads
        self._word(worker_code.START).value = id(self._recruiter)
        self._word(worker_code.FREE).value = (1 << worker_code.SLOTS) - 1

    def _word(self, offset: int) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self._address + offset)

    @property
    def address(self) -> int:
        """Where the memory begins that workers and launching threads share."""
        return self._address

    @property
    def idle_slots(self) -> int:
        """How many launches could begin now and be shared."""
        if self._code.run is None:
            return len(self._free)
        return self._word(worker_code.FREE).value.bit_count()

    @property
    def deserted(self) -> bool:
        """Whether nobody will read the pool's memory any more, once it is stopped."""
        alone = not any(worker.is_alive() for worker in self._gone)
        return alone and self.idle_slots == worker_code.SLOTS

    def run(
        self, entry: int, arguments: int | bytes, tasks: int, arena_bytes: int, work_hint: int
    ) -> None:
        """As the function `run` of this module."""
        launch = self._code.run
        if launch is None:
            self._run(entry, arguments, tasks, arena_bytes, work_hint)
            return
        status = launch(_CONTEXT, self._address, entry, arguments, tasks, arena_bytes, work_hint)
        if status:
            _explain(status, arena_bytes)

    def _run(
        self, entry: int, arguments: int | bytes, tasks: int, arena_bytes: int, work_hint: int
    ) -> None:
        """What `cubepy_run` does, where machine code cannot reach into Python."""
        scratch = arena.take(arena_bytes)
        spare = None
        try:
            slot = self._free.pop()
        except IndexError:  # more launches at once than slots: this one is not shared
            spare = _aligned(worker_code.SLOT_BYTES)
            slot = spare[1]
        threads = 1 if spare else min(self.threads, tasks)
        launch = (self._address, slot, entry, arguments, tasks, arena_bytes, scratch.address)
        short = 0 < work_hint < worker_code.PRICE_AWAKE
        try:
            if short:
                answer = self._code.launch_held(*launch, 1, work_hint, worker_code.CHECK_HELD)
            else:
                answer = self._code.launch(*launch, threads, work_hint, worker_code.CHECK_SIGNALS)
            if answer != worker_code.DONE:
                if threads > 1 and (short or answer == worker_code.NEEDS_WORKERS):
                    self._share(slot, threads)
                self._finish(slot, scratch)
        except BaseException:
            self._abandon(slot, scratch)
            raise
        finally:
            arena.give_back(scratch)
            if spare is None:
                self._free.append(slot)

    def _finish(self, slot: int, scratch: arena.Block) -> None:
        while (
            self._code.resume(slot, scratch.address, worker_code.CHECK_SIGNALS) != worker_code.DONE
        ):
            if os.getpid() != self._process:
                complain()

    def _share(self, slot: int, threads: int) -> None:
        """Open a slot to the workers, which are started if need be."""
        if self._start():
            self._code.share(self._address, slot, threads)
            if not self._code.sleeps:
                with self._opened:
                    self._openings += 1
                    self._opened.notify_all()

    def _abandon(self, slot: int, scratch: arena.Block) -> None:
        """Let no further chunk begin and wait for those that have: they still use the arguments."""
        while os.getpid() == self._process:
            try:
                self._code.cancel(slot)
                self._finish(slot, scratch)
            except KeyboardInterrupt:  # already on the way out, and not before it is safe
                continue
            return

    def _recruit(self) -> None:
        self._start()

    def _start(self) -> bool:
        """Start the workers once; whether there are any."""
        with self._lock:
            if self._starting:
                return False  # a launch inside the start of the workers: it does without
            if not self._workers and not self._stopped:
                self._starting = True
                try:
                    self._start_all()
                finally:
                    self._starting = False
            return bool(self._workers) and not self._stopped

    def _start_all(self) -> None:
        for index in range(self.threads - 1):
            worker = threading.Thread(target=self._work, name=f"cubepy-worker-{index}", daemon=True)
            try:
                worker.start()
            except RuntimeError:  # no more threads to be had: fewer do as well
                break
            self._workers.append(worker)
        if self._workers and self._code.sleeps:
            ready = ctypes.c_int32.from_address(self._address + worker_code.READY)
            ready.value = 1

    def _work(self) -> None:
        """A worker's life. With a futex, one call; otherwise a round for each opening."""
        box = (ctypes.c_int64 * 2)()
        address = ctypes.addressof(box)
        if self._code.sleeps:
            self._code.worker(self._address, address, 0)
            return
        seen = 0
        while not self._stopped:
            with self._opened:
                while self._openings == seen:
                    self._opened.wait()
                seen = self._openings
            self._code.worker(self._address, address, 1)

    def stop(self) -> None:
        """Send the workers away when their current launch is done. Launches still work, alone."""
        with self._lock:
            self._stopped = True
            workers, self._workers = self._workers, []
            self._gone += workers
            ctypes.c_int32.from_address(self._address + worker_code.READY).value = 0
        self._code.stop(self._address)
        with self._opened:
            self._openings += 1
            self._opened.notify_all()
        for worker in workers:
            worker.join(_JOIN_SECONDS)


def _aligned(size: int) -> tuple[ctypes.Array[ctypes.c_char], int]:
    """Zeroed memory and the first address in it that is a multiple of 64."""
    memory = (ctypes.c_char * (size + 64))()
    return memory, -(-ctypes.addressof(memory) // 64) * 64


def complain() -> None:
    """Raise what a launch ends with that a fork has torn."""
    raise LaunchError(
        "the process was forked in the middle of a launch; the child cannot finish it. "
        "Fork before or after launches, not from a signal handler during one"
    )


context.complain = id(complain)


def _explain(status: int, arena_bytes: int) -> None:
    """Raise what a launch in machine code answered; an error of Python's is raised already."""
    if status == worker_code.RUN_NO_MEMORY:
        raise OutOfMemoryError(f"no room for {arena_bytes} bytes of scratch memory")
    if status == worker_code.RUN_FORKED:
        complain()


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


def block_launch(
    entry: int, tasks: int, arena_bytes: int, work_hint: int
) -> Callable[[bytes], None]:
    """What calls `run` with these and a block of arguments, again and again."""
    run_block = _code().run_block
    if tasks <= 0 or run_block is None:
        return lambda block: run(entry, block, tasks, arena_bytes, work_hint)
    command = Command(entry, None, tasks, arena_bytes, work_hint)
    address = ctypes.addressof(command)

    def launch(block: bytes, kept: object = command) -> None:
        status = run_block(_CONTEXT, address, block)
        if status == worker_code.RUN_NO_MEMORY and _state.pool is None:
            run(entry, block, tasks, arena_bytes, work_hint)
        elif status:
            _explain(status, arena_bytes)

    return launch


def replay(commands: int, count: int) -> None:
    """Do `count` launches in order, that stand as `Command` at an address."""
    if _state.pool is None:
        _make_pool()
    code = _code()
    assert code.replay is not None
    status = code.replay(_CONTEXT, commands, count)
    if status:
        largest = max(each.arena_bytes for each in (Command * count).from_address(commands))
        _explain(status, largest)


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
        raise ArgumentError(f"set_num_threads takes a number from 1 up, or None, not {count!r}")
    with _state.lock:
        _state.requested = count
        pool = _take_pool()
    if pool is not None:
        pool.stop()


def _make_pool() -> Pool:
    with _state.lock:
        if _state.pool is None:
            made = Pool(1 if _state.exiting else num_threads())
            if _state.pool is None:  # no signal handler was quicker
                _state.pool = made
                context.pool = made.address
        return _state.pool


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

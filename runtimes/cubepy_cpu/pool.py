"""The worker threads of launches that are worth sharing, and the memory they share.

Workers are Python threads that stay inside machine code (`workers.ll`), where they spin briefly and
then sleep in the kernel; they take Python's lock only to start and to end. Small launches never
come here, so this module is not there before the first one that does.
"""

from __future__ import annotations

import ctypes
import os
import threading

from cubepy_cpu import arena, worker_code
from cubepy_cpu.functions import CONTEXT, Functions, complain, explain, functions

__all__ = ["Pool"]

_JOIN_SECONDS = 2.0


class Pool:
    """One set of workers and the memory they share with launching threads."""

    def __init__(self, threads: int, code: Functions | None = None) -> None:
        self.threads = threads
        self._code = code or functions()
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
        if not self._code.native:
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
        if not self._code.native:
            self._run(entry, arguments, tasks, arena_bytes, work_hint)
            return
        status = self._code.run(
            CONTEXT, self._address, entry, arguments, tasks, arena_bytes, work_hint
        )
        if status:
            explain(status, arena_bytes)

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

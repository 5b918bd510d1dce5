"""Memory that is used again: what buffers and temporary copies of every device are made of.

A device's `alloc` may be slow, and its memory cold. A :class:`MemoryPool` stands above it: sizes
are rounded up to a few classes, and what is let go waits in its class for the next that asks. With
no memory left, what waits is given back and the device is asked once more.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from cubepy.errors import OutOfMemoryError
from cubepy.records import dataclass
from cubepy.runtime.events import Uses

__all__ = ["Lease", "MemoryPool", "MemoryStats", "size_class"]

SMALLEST = 256
# Classes for each doubling: what is asked for is at most a fifth smaller than what is given.
STEPS = 4
# What may wait in any case; beyond that not more than was ever in use at once.
ALWAYS_KEPT = 64 << 20


def size_class(size: int) -> int:
    """The bytes that a block for `size` bytes has."""
    if size <= SMALLEST:
        return SMALLEST
    step = 1 << max(0, (size - 1).bit_length() - STEPS.bit_length())
    return -(-size // step) * step


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    """What a device's pool holds, in bytes and blocks.

    `in_use`: leased now; `peak`: the most that ever was; `idle`: waiting to be used again.
    `persistent`: the part of `in_use` from a persistent scope. `allocations` counts what the device
    was asked for, `reuses` what it was not.
    """

    in_use: int
    blocks: int
    peak: int
    idle: int
    persistent: int
    allocations: int
    reuses: int


class Lease:
    """A block of a pool, until nothing refers to this any more. `memory` is the device's own.

    `uses` are the launches on streams that may still work on it, also those of the lease
    before: a block is used again at once, and what is on the same stream need not even wait.
    """

    __slots__ = ("__weakref__", "_returned", "memory", "persistent", "size", "uses")

    def __init__(
        self, memory: Any, size: int, uses: Uses, returned: deque[Any], *, persistent: bool
    ) -> None:
        self.memory = memory
        self.uses = uses
        self.size = size
        self.persistent = persistent
        self._returned = returned

    def __del__(self) -> None:
        # No lock here: this may run at any time, also while this thread is inside the pool.
        self._returned.append((self.memory, self.uses, self.size, self.persistent))


class MemoryPool:
    """The pool above one device's `allocate`. Safe to use from several threads.

    `let_go` is called when blocks are given up, for whoever else may keep them alive.
    """

    def __init__(
        self, allocate: Callable[[int], Any], let_go: Callable[[], None] = lambda: None
    ) -> None:
        self._allocate = allocate
        self._let_go = let_go
        self._lock = threading.RLock()
        self._returned: deque[tuple[Any, Uses, int, bool]] = deque()
        self._idle: dict[int, list[tuple[Any, Uses]]] = {}
        self._scopes = threading.local()
        self._in_use = self._blocks = self._peak = self._waiting = self._persistent = 0
        self._allocations = self._reuses = 0
        _pools.add(self)

    def take(self, size: int) -> Lease:
        """At least `size` bytes; raises OutOfMemoryError, after which the pool goes on."""
        persistent: bool = getattr(self._scopes, "persistent", False)
        rounded = size if persistent else size_class(size)
        with self._lock:
            self._collect()
            waiting = self._idle.pop(rounded, None)
            if waiting:
                memory, uses = waiting.pop()
                uses.pass_on()
                self._idle[rounded] = waiting  # behind the others: used last
                self._waiting -= rounded
                self._reuses += 1
            else:
                memory, uses = self._allocated(rounded), Uses()
                self._allocations += 1
            self._in_use += rounded
            self._blocks += 1
            self._persistent += rounded if persistent else 0
            self._peak = max(self._peak, self._in_use)
        return Lease(memory, rounded, uses, self._returned, persistent=persistent)

    def _allocated(self, size: int) -> Any:
        try:
            return self._allocate(size)
        except OutOfMemoryError as error:
            if self._waiting:
                self._drop_idle()
                with contextlib.suppress(OutOfMemoryError):
                    return self._allocate(size)
            error.add_note(f"the pool has {self._in_use} bytes in use, {self._peak} at its peak")
            raise

    def _collect(self) -> None:
        """Take back what was let go since."""
        given_up = False
        while self._returned:
            memory, uses, size, persistent = self._returned.popleft()
            self._in_use -= size
            self._blocks -= 1
            if persistent:
                self._persistent -= size
                given_up = True
            else:
                waiting = self._idle.pop(size, [])
                waiting.append((memory, uses))
                self._idle[size] = waiting
                self._waiting += size
        limit = max(ALWAYS_KEPT, self._peak)
        if given_up or self._waiting > limit:
            self._trim(limit)
            self._let_go()

    def _trim(self, limit: int) -> None:
        """Give up blocks of the sizes that were not used for longest, until the rest fits."""
        while self._waiting > limit:
            size, waiting = next(iter(self._idle.items()))
            if waiting:
                waiting.pop()
                self._waiting -= size
            else:
                del self._idle[size]

    def _drop_idle(self) -> int:
        freed, self._waiting = self._waiting, 0
        self._idle.clear()
        self._let_go()
        return freed

    def cleanup(self) -> int:
        """Give idle blocks back to the device; the bytes that were."""
        with self._lock:
            self._collect()
            return self._drop_idle()

    @property
    def stats(self) -> MemoryStats:
        """What the pool holds now."""
        with self._lock:
            self._collect()
            return MemoryStats(
                in_use=self._in_use,
                blocks=self._blocks,
                peak=self._peak,
                idle=self._waiting,
                persistent=self._persistent,
                allocations=self._allocations,
                reuses=self._reuses,
            )

    @contextlib.contextmanager
    def persistent(self) -> Iterator[None]:
        """For what stays: blocks taken inside have exactly their size, and never wait in a class.

        It holds for this thread.
        """
        before = getattr(self._scopes, "persistent", False)
        self._scopes.persistent = True
        try:
            yield
        finally:
            self._scopes.persistent = before

    def unlock_after_fork(self) -> None:
        """In a child, where another thread of the parent may have held the lock."""
        self._lock = threading.RLock()


_pools: weakref.WeakSet[MemoryPool] = weakref.WeakSet()


def _unlock_all() -> None:
    for pool in _pools:
        pool.unlock_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_all)

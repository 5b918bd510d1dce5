"""Scratch memory of launching threads: aligned, hot, never shared by two launches that run at once.

Each thread keeps the blocks it has used and hands out the last one first. A launch inside a launch
(from a signal handler, or a call back into Python) finds the outer block taken and gets one of its
own.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from cubepy.errors import OutOfMemoryError

__all__ = ["Block", "give_back", "take"]

_ALIGNMENT = 64
_SMALLEST = 1 << 16


class Block:
    """Scratch memory: `address` is aligned to 64 bytes, `size` bytes from there are usable."""

    __slots__ = ("_memory", "address", "size")

    def __init__(self, size: int) -> None:
        try:
            self._memory: np.ndarray[Any, np.dtype[np.uint8]] = np.empty(
                size + _ALIGNMENT, np.uint8
            )
        except MemoryError as error:
            raise OutOfMemoryError(f"no room for {size} bytes of scratch memory") from error
        self.address = -(-self._memory.ctypes.data // _ALIGNMENT) * _ALIGNMENT
        self.size = size


class _Blocks(threading.local):
    """This thread's idle blocks; the last is the one used last."""

    def __init__(self) -> None:
        self.idle: list[Block] = []


_blocks = _Blocks()


def take(size: int) -> Block:
    """At least `size` bytes, the caller's own until `give_back` on the same thread."""
    idle = _blocks.idle
    if idle:
        block = idle.pop()
        if block.size >= size:
            return block
    # Powers of two, so that slowly growing needs do not allocate each time.
    return Block(1 << (max(size, _SMALLEST) - 1).bit_length())


def give_back(block: Block) -> None:
    """End the use of a block that this thread took."""
    _blocks.idle.append(block)

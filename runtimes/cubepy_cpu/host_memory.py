"""Memory of this process, as the CPU device hands it out.

Small blocks come from NumPy. Large ones are mappings of their own on huge pages, faulted in at
once: taken page by page, a new 64 MiB block costs more than most kernels that would fill it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import mmap
import os
from typing import Any

import numpy as np

from cubepy.errors import OutOfMemoryError

__all__ = ["HostMemory", "allocate", "wrap"]

_ALIGNMENT = 64
_HUGE_PAGE = 2 << 20
_POPULATE_WRITE = 23  # of Linux 5.14, and not yet in `mmap`
# Faulting in more than this share of what is free would be asking for trouble.
_FAULTED_SHARE = 0.25


class HostMemory:
    """`size` bytes from `address` on; `owner` keeps them alive."""

    __slots__ = ("_kind", "address", "owner", "size")

    def __init__(self, owner: object, address: int, size: int) -> None:
        self.owner = owner
        self.address = address
        self.size = size
        self._kind: Any = None

    def view(
        self, shape: tuple[int, ...], dtype: np.dtype[Any], keep: object
    ) -> np.ndarray[Any, Any]:
        """The start as an array; the array, and all views of it, hold `keep`."""
        if self._kind is None:
            self._kind = ctypes.c_ubyte * self.size
        memory = self._kind.from_address(self.address)
        memory.keep = keep
        return np.ndarray(shape, dtype, memory)


def wrap(array: np.ndarray[Any, Any]) -> HostMemory:
    """A host array's own memory, from the element with all subscripts 0 on."""
    return HostMemory(array, array.ctypes.data, array.nbytes)


def allocate(size: int) -> HostMemory:
    """Memory of arbitrary content, aligned to 64 bytes; raises OutOfMemoryError."""
    if size > _all_bytes():  # the system may promise it, and end the process when it is used
        raise OutOfMemoryError(
            f"cpu: no room for {size} bytes, this machine has {_all_bytes()}\n  help: work on parts"
        )
    try:
        return _map_huge(size) if _has_huge_pages(size) else _take_from_numpy(size)
    except (MemoryError, ValueError, OverflowError, OSError) as error:
        raise OutOfMemoryError(f"cpu: no room for {size} bytes") from error


def _has_huge_pages(size: int) -> bool:
    return size >= _HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE")


def _take_from_numpy(size: int) -> HostMemory:
    owner = np.empty(size + _ALIGNMENT, np.uint8)
    return HostMemory(owner, -(-owner.ctypes.data // _ALIGNMENT) * _ALIGNMENT, size)


def _map_huge(size: int) -> HostMemory:
    rounded = -(-size // _HUGE_PAGE) * _HUGE_PAGE
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    mapping = mmap.mmap(-1, rounded + _HUGE_PAGE, flags=flags)
    start = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
    address = -(-start // _HUGE_PAGE) * _HUGE_PAGE
    with contextlib.suppress(OSError):  # pages of the usual size do as well
        mapping.madvise(mmap.MADV_HUGEPAGE)
        if rounded <= _free_bytes() * _FAULTED_SHARE:
            mapping.madvise(_POPULATE_WRITE, address - start, rounded)
    return HostMemory(mapping, address, size)


def _free_bytes() -> int:
    return _pages("SC_AVPHYS_PAGES", 0)


@functools.cache
def _all_bytes() -> int:
    return _pages("SC_PHYS_PAGES", 1 << 62)


def _pages(name: str, unknown: int) -> int:
    """Bytes that the system says it has of something; `unknown` where it says nothing."""
    try:
        pages = os.sysconf(name)
        return pages * os.sysconf("SC_PAGE_SIZE") if pages > 0 else unknown
    except (AttributeError, OSError, ValueError):
        return unknown

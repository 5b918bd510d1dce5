"""Two words that machine code reads before every launch."""

from __future__ import annotations

import ctypes
import os
import threading

__all__ = ["Switches", "close_calls", "reopen_calls", "switches"]


class Switches(ctypes.Structure):
    """`epoch` changes when what launchers have looked up may be wrong: the default device is
    another. While `closed` is not zero, every launch takes the general way.
    """

    _fields_ = (("epoch", ctypes.c_int64), ("closed", ctypes.c_int64))


#: The process's own.
switches = Switches()
_lock = threading.RLock()


def close_calls() -> None:
    """Send every launch the general way until it is undone as often."""
    with _lock:
        switches.closed += 1


def reopen_calls() -> None:
    """Undo `close_calls` once."""
    with _lock:
        switches.closed -= 1


def _unlock() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # a child must not inherit a lock that another thread held
    os.register_at_fork(after_in_child=_unlock)

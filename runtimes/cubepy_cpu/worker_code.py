"""The machine code around kernels, as LLVM text: the worker pool, and calls without Python.

A *pool* is one block of memory with a few *slots*; a slot holds one launch. The launching thread
fills a slot, opens it, wakes workers, and takes chunks itself until the counter has passed the last
task; then it closes the slot and waits until no worker is in it. A worker enters a slot by counting
itself in and looking again whether it is open, so that the launching thread never leaves while a
worker may still read the slot. Memory of a pool is never given back while one of its workers lives
or a launch is in it. Calls (`entry.ll`) are left out where Python's objects are not known.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from cubepy.late import late_import
from cubepy_cpu.host import host_architecture

__all__ = [
    "AGAIN",
    "DONE",
    "FREE",
    "NEEDS_WORKERS",
    "READY",
    "RUN_DONE",
    "RUN_FORKED",
    "RUN_NO_MEMORY",
    "RUN_RAISED",
    "SLOTS",
    "SLOT_BYTES",
    "SLOT_START",
    "START",
    "THREADS_MOST",
    "content_of",
    "has_futex",
    "numbers",
    "parts",
    "pool_bytes",
    "text",
]

# The pool, one cache line for each word that several threads write.
SLOT_START = 256
SLOT_BYTES = 256
SLOTS = 8

_LAYOUT = {
    # The pool.
    "SIGNAL": 0,  # i32, counts every opening; workers sleep on it
    "SLEEPERS": 64,  # i32, workers asleep or about to be
    "STOP": 128,  # i32, 1 tells the workers to leave
    "READY": (READY := 132),  # i32, 1 once workers exist
    "THREADS_MOST": (THREADS_MOST := 136),  # i64, how many threads a launch may use
    "START": (START := 144),  # ptr, the function of Python that starts the workers
    "FREE": (FREE := 192),  # i64, a bit for each slot that no launch of `cubepy_run` uses
    "SLOT_START": SLOT_START,
    "SLOT_BYTES": SLOT_BYTES,
    "SLOTS": SLOTS,
    # A slot, from its own start.
    "STATE": 0,  # i32, 1 while workers may enter
    "USERS": 64,  # i32, workers inside
    "WAITING": 68,  # i32, 1 while the launching thread sleeps until USERS is 0
    "COUNTER": 128,  # i64, the next task
    "ENTRY": 192,  # ptr
    "ARGUMENTS": 200,  # ptr
    "TASKS": 208,  # i64
    "ARENA_BYTES": 216,  # i64
    "THREADS": 224,  # i64, how many share this launch
    "BOX": 232,  # { ptr, i64 }, the launching thread's arena and its size
    # What `cubepy_launch` and `cubepy_resume` answer.
    "DONE": (DONE := 0),
    "AGAIN": (AGAIN := 1),  # time is up, or workers are still busy: look for signals, then resume
    "NEEDS_WORKERS": (NEEDS_WORKERS := 2),  # worth sharing, but nobody is there to share with
    # What `cubepy_run` answers.
    "RUN_DONE": (RUN_DONE := 0),
    "RUN_RAISED": (RUN_RAISED := 1),  # an error is set
    "RUN_NO_MEMORY": (RUN_NO_MEMORY := 2),  # nothing was run
    "RUN_FORKED": (RUN_FORKED := 3),  # the child of a fork cannot finish its parent's launch
    # `cubepy.runtime.Switches`.
    "SWITCHES_EPOCH": 0,
    "SWITCHES_CLOSED": 8,
    # NumPy's bits for C-contiguous, aligned, writeable.
    "FLAGS_SEEN": 0x0001 | 0x0100 | 0x0400,
}

FIRST_CHUNK = 32  # tasks at most; later chunks are sized by the clock
# Nanoseconds.
SPIN = 30_000  # a worker looks for more work this long before it sleeps
SHORT_CHUNK, LONG_CHUNK = 100_000, 2_000_000  # chunks are made to last between these
PRICE_AWAKE, PRICE_ASLEEP = 5_000, 50_000  # work that is worth a hand-off, a wake-up
CHECK_SIGNALS = 50_000_000  # of work between two looks for Ctrl-C
CHECK_HELD = 1_000_000  # the same, while Python's lock is held

_FUTEX_CALL = {"x86_64": 202, "aarch64": 98}


def has_futex() -> bool:
    """Whether workers can sleep in the kernel without Python's help."""
    return sys.platform == "linux" and host_architecture() in _FUTEX_CALL


def pool_bytes() -> int:
    """The size of a pool's memory; it must start at a multiple of 64."""
    return SLOT_START + SLOTS * SLOT_BYTES


def numbers(python: Mapping[str, int] | None) -> Mapping[str, int]:
    """What templates have numbers for; `python` says where Python's objects have their fields."""
    return {
        **_LAYOUT,
        **(python or {}),
        "FUTEX": _FUTEX_CALL.get(host_architecture(), 0),
        "CLOCK": 6 if sys.platform == "darwin" else 1,  # the monotonic one
        "SPIN": SPIN,
        "FIRST_CHUNK": FIRST_CHUNK,
        "SHORT": SHORT_CHUNK,
        "LONG": LONG_CHUNK,
        "PRICE_AWAKE": PRICE_AWAKE,
        "PRICE_ASLEEP": PRICE_ASLEEP,
        "CHECK_SIGNALS": CHECK_SIGNALS,
        "CHECK_HELD": CHECK_HELD,
    }


def text(*, futex: bool, python: Mapping[str, int] | None = None) -> str:
    """The module for this machine; without `futex` workers never sleep in it.

    Without `python`, which says where Python's objects have their fields, calls are left out.
    """
    with late_import:
        from cubepy_cpu import worker_text  # noqa: PLC0415 - a warm start makes no text

    return worker_text.text(futex=futex, python=python)


def parts(*, futex: bool, python: Mapping[str, int] | None) -> list[tuple[str, bytes]]:
    """What makes this text another one, as parts of a key; quicker to have than the text."""
    return [
        ("templates", repr([_state_of(name) for name in _FILES]).encode()),
        ("numbers", f"{futex} {sorted(numbers(python).items())}".encode()),
    ]


# The files that the text comes from: this one has templates and numbers.
_FILES = ("entry.ll", "structures.py", "worker_code.py", "worker_text.py", "workers.ll")


def _state_of(name: str) -> tuple[str, int | bytes, int]:
    """What tells one state of a file of this package from another."""
    try:
        facts = os.stat(_place(name))
    except OSError:  # packed into an archive
        return name, content_of(name), 0
    return name, facts.st_size, facts.st_mtime_ns


def content_of(name: str) -> bytes:
    """A file of this package, from wherever Python has this module from."""
    assert __spec__ is not None
    loader: Any = __spec__.loader
    data: bytes = loader.get_data(_place(name))
    return data


def _place(name: str) -> str:
    return os.path.join(os.path.dirname(__file__), name)

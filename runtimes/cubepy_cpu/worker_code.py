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
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from cubepy.late import late_import
from cubepy_cpu.host import host_architecture
from cubepy_cpu.structures import offsets

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
    "has_futex",
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

_FLOAT_STATE = {
    "x86_64": """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
; The state is mostly the default one already, but for flags of exceptions that were; setting it
; costs more than looking.
define internal i64 @enter_default_floats() {
start:
  %box = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %box)
  %old = load i32, ptr %box
  %wide = zext i32 %old to i64
  %modes = and i32 %old, 65472
  %usual = icmp eq i32 %modes, 8064
  br i1 %usual, label %done, label %change
change:
  store i32 8064, ptr %box
  call void @llvm.x86.sse.ldmxcsr(ptr %box)
  br label %done
done:
  ret i64 %wide
}
define internal void @leave_default_floats(i64 %wide) {
start:
  %box = alloca i32
  %old = trunc i64 %wide to i32
  %modes = and i32 %old, 65472
  %usual = icmp eq i32 %modes, 8064
  br i1 %usual, label %done, label %change
change:
  store i32 %old, ptr %box
  call void @llvm.x86.sse.ldmxcsr(ptr %box)
  br label %done
done:
  ret void
}
""",
    "aarch64": """
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)
define internal i64 @enter_default_floats() {
  %old = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 0)
  ret i64 %old
}
define internal void @leave_default_floats(i64 %old) {
  call void @llvm.aarch64.set.fpcr(i64 %old)
  ret void
}
""",
}
_NO_FLOAT_STATE = """
define internal i64 @enter_default_floats() {
  ret i64 0
}
define internal void @leave_default_floats(i64 %old) {
  ret void
}
"""

_PAUSE = {
    "x86_64": "declare void @llvm.x86.sse2.pause()\n"
    "define internal void @pause() alwaysinline {\n"
    "  call void @llvm.x86.sse2.pause()\n  ret void\n}\n",
    "aarch64": "declare void @llvm.aarch64.hint(i32)\n"
    "define internal void @pause() alwaysinline {\n"
    "  call void @llvm.aarch64.hint(i32 1)\n  ret void\n}\n",
}
_NO_PAUSE = "define internal void @pause() alwaysinline {\n  ret void\n}\n"

_FUTEX = """
declare i64 @syscall(i64, ...)
define internal void @sleep_while(ptr %word, i32 %value, i64 %nanoseconds) {
  %timed = icmp sge i64 %nanoseconds, 0
  %seconds = sdiv i64 %nanoseconds, 1000000000
  %rest = srem i64 %nanoseconds, 1000000000
  %limit = alloca { i64, i64 }
  store i64 %seconds, ptr %limit
  %second = getelementptr i8, ptr %limit, i64 8
  store i64 %rest, ptr %second
  %timeout = select i1 %timed, ptr %limit, ptr null
  call i64 (i64, ...) @syscall(i64 $FUTEX, ptr %word, i32 128, i32 %value, ptr %timeout)
  ret void
}
define internal void @wake(ptr %word, i32 %count) {
  call i64 (i64, ...) @syscall(i64 $FUTEX, ptr %word, i32 129, i32 %count)
  ret void
}
"""

# What the C library of systems like Unix has: nanoseconds, and memory in whole cache lines.
_POSIX = """
declare i32 @clock_gettime(i32, ptr)
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
define internal i64 @now() {
  %time = alloca { i64, i64 }
  call i32 @clock_gettime(i32 $CLOCK, ptr %time)
  %seconds = load i64, ptr %time
  %field = getelementptr i8, ptr %time, i64 8
  %rest = load i64, ptr %field
  %scaled = mul i64 %seconds, 1000000000
  %sum = add i64 %scaled, %rest
  ret i64 %sum
}
define internal ptr @take_memory(i64 %bytes) {
  %memory = call ptr @aligned_alloc(i64 64, i64 %bytes)
  ret ptr %memory
}
define internal void @give_memory(ptr %memory) {
  call void @free(ptr %memory)
  ret void
}
"""

_WINDOWS = """
declare i32 @QueryPerformanceCounter(ptr)
declare i32 @QueryPerformanceFrequency(ptr)
declare ptr @_aligned_malloc(i64, i64)
declare void @_aligned_free(ptr)
define internal i64 @now() {
  %count.at = alloca i64
  %rate.at = alloca i64
  call i32 @QueryPerformanceCounter(ptr %count.at)
  call i32 @QueryPerformanceFrequency(ptr %rate.at)
  %count = load i64, ptr %count.at
  %rate = load i64, ptr %rate.at
  ; Seconds and the rest apart: the product of both would not fit.
  %seconds = udiv i64 %count, %rate
  %rest = urem i64 %count, %rate
  %whole = mul i64 %seconds, 1000000000
  %scaled = mul i64 %rest, 1000000000
  %part = udiv i64 %scaled, %rate
  %sum = add i64 %whole, %part
  ret i64 %sum
}
define internal ptr @take_memory(i64 %bytes) {
  %memory = call ptr @_aligned_malloc(i64 %bytes, i64 64)
  ret ptr %memory
}
define internal void @give_memory(ptr %memory) {
  call void @_aligned_free(ptr %memory)
  ret void
}
"""

# Without a futex the launching thread naps, and Python's own condition variable wakes the workers.
_NAP = """
declare i32 @usleep(i32)
define internal void @sleep_while(ptr %word, i32 %value, i64 %nanoseconds) {
  call i32 @usleep(i32 50)
  ret void
}
define internal void @wake(ptr %word, i32 %count) {
  ret void
}
"""


_WINDOWS_NAP = _NAP.replace("@usleep(i32)", "@Sleep(i32)").replace(
    "@usleep(i32 50)", "@Sleep(i32 1)"
)


def has_futex() -> bool:
    """Whether workers can sleep in the kernel without Python's help."""
    return sys.platform == "linux" and host_architecture() in _FUTEX_CALL


def pool_bytes() -> int:
    """The size of a pool's memory; it must start at a multiple of 64."""
    return SLOT_START + SLOTS * SLOT_BYTES


def text(*, futex: bool, python: Mapping[str, int] | None = None) -> str:
    """The module for this machine; without `futex` workers never sleep in it.

    `python` says where Python's objects have their fields; without it, calls are left out.
    """
    with late_import:
        from string import Template  # noqa: PLC0415 - a warm start makes no text

    templates = "".join(_templates(futex=futex, calls=python is not None))
    return Template(_with_fields(templates)).substitute(_numbers(python))


def parts(*, futex: bool, python: Mapping[str, int] | None) -> list[tuple[str, bytes]]:
    """What makes this text another one, as parts of a key; quicker to have than the text."""
    layout = {**_LAYOUT, **(python or {})}
    return [
        ("templates", repr([_state_of(name) for name in _FILES]).encode()),
        ("system", f"{sys.platform} {host_architecture()} {futex}".encode()),
        ("layout of objects", repr(sorted(layout.items())).encode()),
    ]


# The files that the text comes from: this one has templates and numbers.
_FILES = ("entry.ll", "structures.py", "worker_code.py", "workers.ll")


def _state_of(name: str) -> tuple[str, int | bytes, int]:
    """What tells one state of a file of this package from another."""
    try:
        facts = os.stat(_place(name))
    except OSError:  # packed into an archive
        return name, _content(name), 0
    return name, facts.st_size, facts.st_mtime_ns


def _templates(*, futex: bool, calls: bool) -> Iterator[str]:
    architecture = host_architecture()
    yield _FLOAT_STATE.get(architecture, _NO_FLOAT_STATE)
    yield _PAUSE.get(architecture, _NO_PAUSE)
    windows = sys.platform == "win32"
    yield _WINDOWS if windows else _POSIX
    yield _FUTEX if futex else _WINDOWS_NAP if windows else _NAP
    yield _read("workers.ll")
    if calls:
        yield _read("entry.ll")


def _numbers(python: Mapping[str, int] | None) -> Mapping[str, int]:
    return {
        **_LAYOUT,
        **offsets(),
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


def _read(name: str) -> str:
    return _content(name).decode()


def _content(name: str) -> bytes:
    """A file of this package, from wherever Python has this module from."""
    assert __spec__ is not None
    loader: Any = __spec__.loader
    data: bytes = loader.get_data(_place(name))
    return data


def _place(name: str) -> str:
    return os.path.join(os.path.dirname(__file__), name)


# Compiled when used: a warm start makes no text.
_GET = r"^  (%[\w.]+) = get (\w+) (%[\w.]+) (\w+)$"
_PUT = r"^  put (\w+ %[\w.]+) (%[\w.]+) (\w+)$"


def _with_fields(template: str) -> str:
    """`%x = get T %base FIELD` and `put T %x %base FIELD`, each as an address and an access."""
    number = 0

    def put(match: re.Match[str]) -> str:
        nonlocal number
        number += 1
        value, base, name = match.groups()
        address = f"%put{number}"
        return f"  {address} = getelementptr i8, ptr {base}, i64 ${name}\n" + (
            f"  store {value}, ptr {address}"
        )

    loads = r"  \1.at = getelementptr i8, ptr \3, i64 $\4\n  \1 = load \2, ptr \1.at"
    loaded = re.sub(_GET, loads, template, flags=re.MULTILINE)
    return re.sub(_PUT, put, loaded, flags=re.MULTILINE)

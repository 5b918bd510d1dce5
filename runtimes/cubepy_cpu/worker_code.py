"""The machine code of the worker pool, as LLVM text: what must run without Python's lock.

A *pool* is one block of memory with a few *slots*; a slot holds one launch. The launching thread
fills a slot, opens it, wakes workers, and takes chunks itself until the counter has passed the last
task; then it closes the slot and waits until no worker is in it. A worker enters a slot by counting
itself in and looking again whether it is open, so that the launching thread never leaves while a
worker may still read the slot. Memory of a pool is never given back while one of its workers lives,
and `threads.py` is the only user of this module.
"""

from __future__ import annotations

import sys
from importlib import resources
from string import Template

from cubepy_cpu.host import host_architecture

__all__ = [
    "AGAIN",
    "DONE",
    "NEEDS_WORKERS",
    "READY",
    "SLOTS",
    "SLOT_BYTES",
    "SLOT_START",
    "has_futex",
    "pool_bytes",
    "text",
]

# The pool, one cache line for each word that several threads write.
SLOT_START = 192
SLOT_BYTES = 256
SLOTS = 8

_LAYOUT = {
    # The pool.
    "SIGNAL": 0,  # i32, counts every opening; workers sleep on it
    "SLEEPERS": 64,  # i32, workers asleep or about to be
    "STOP": 128,  # i32, 1 tells the workers to leave
    "READY": (READY := 132),  # i32, 1 once workers exist
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
    # What `cubepy_launch` and `cubepy_resume` answer.
    "DONE": (DONE := 0),
    "AGAIN": (AGAIN := 1),  # time is up, or workers are still busy: look for signals, then resume
    "NEEDS_WORKERS": (NEEDS_WORKERS := 2),  # worth sharing, but nobody is there to share with
}

FIRST_CHUNK = 32  # tasks at most; later chunks are sized by the clock
# Nanoseconds.
SPIN = 30_000  # a worker looks for more work this long before it sleeps
SHORT_CHUNK, LONG_CHUNK = 100_000, 2_000_000  # chunks are made to last between these
PRICE_AWAKE, PRICE_ASLEEP = 5_000, 50_000  # work that is worth a hand-off, a wake-up

_MONOTONIC_CLOCK = 6 if sys.platform == "darwin" else 1
_FUTEX_CALL = {"x86_64": 202, "aarch64": 98}

_FLOAT_STATE = {
    "x86_64": """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define internal i64 @enter_default_floats() {
  %box = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %box)
  %old = load i32, ptr %box
  store i32 8064, ptr %box
  call void @llvm.x86.sse.ldmxcsr(ptr %box)
  %wide = zext i32 %old to i64
  ret i64 %wide
}
define internal void @leave_default_floats(i64 %wide) {
  %box = alloca i32
  %old = trunc i64 %wide to i32
  store i32 %old, ptr %box
  call void @llvm.x86.sse.ldmxcsr(ptr %box)
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


def has_futex() -> bool:
    """Whether workers can sleep in the kernel without Python's help."""
    return sys.platform == "linux" and host_architecture() in _FUTEX_CALL


def pool_bytes() -> int:
    """The size of a pool's memory; it must start at a multiple of 64."""
    return SLOT_START + SLOTS * SLOT_BYTES


def text(*, futex: bool) -> str:
    """The module for this machine; without `futex` workers never sleep in it."""
    architecture = host_architecture()
    parts = (
        _FLOAT_STATE.get(architecture, _NO_FLOAT_STATE),
        _PAUSE.get(architecture, _NO_PAUSE),
        _FUTEX if futex else _NAP,
        resources.files("cubepy_cpu").joinpath("workers.ll").read_text(encoding="utf-8"),
    )
    return Template("".join(parts)).substitute(
        _LAYOUT,
        FUTEX=_FUTEX_CALL.get(architecture, 0),
        CLOCK=_MONOTONIC_CLOCK,
        SPIN=SPIN,
        FIRST_CHUNK=FIRST_CHUNK,
        SHORT=SHORT_CHUNK,
        LONG=LONG_CHUNK,
        PRICE_AWAKE=PRICE_AWAKE,
        PRICE_ASLEEP=PRICE_ASLEEP,
    )

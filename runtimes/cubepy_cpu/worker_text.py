"""The text of the machine code around kernels: templates for this system, filled with numbers.

It is compiled once a machine and kept on disk, so a warm start makes no text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from string import Template

from cubepy_cpu import worker_code
from cubepy_cpu.host import host_architecture
from cubepy_cpu.structures import offsets

__all__ = ["text"]

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


def text(*, futex: bool, python: Mapping[str, int] | None = None) -> str:
    """The module for this machine; without `futex` workers never sleep in it.

    `python` says where Python's objects have their fields; without it, calls are left out.
    """
    templates = "".join(_templates(futex=futex, calls=python is not None))
    numbers = {**offsets(), **worker_code.numbers(python)}
    return Template(_with_fields(templates)).substitute(numbers)


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


def _read(name: str) -> str:
    return worker_code.content_of(name).decode()


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

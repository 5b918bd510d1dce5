"""Where in a kernel the time goes: a signal a few thousand times a second, and where it found the
processor.

The kernel is compiled with locations (see `lines.py`), and launched again and again. The handler is
machine code that writes down at which address the processor was; then the line table of the object
tells which place each belongs to.
"""

from __future__ import annotations

import ctypes
import platform
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from cubepy.location import Loc
from cubepy_cpu import jit, llvm
from cubepy_cpu.effort import DEFAULT_PASSES
from cubepy_cpu.host import host
from cubepy_cpu.lines import COUNTER, LineTable

__all__ = ["sample"]

_CAPACITY = 1 << 16
_INTERVAL = 0.0005  # seconds
# Seconds of one call, and the launches it has at most to get there.
_ENOUGH, _MOST = 0.005, 1 << 14
_HANDLER = """
define void @cubepy_sample(i32 %signal, ptr %information, ptr %context) {
  %count = inttoptr i64 COUNT to ptr
  %number = atomicrmw add ptr %count, i64 1 monotonic
  %room = icmp ult i64 %number, CAPACITY
  br i1 %room, label %keep, label %done
keep:
  %place = getelementptr i8, ptr %context, i64 COUNTER
  %address = load i64, ptr %place
  %first = getelementptr i64, ptr %count, i64 1
  %slot = getelementptr i64, ptr %first, i64 %number
  store i64 %address, ptr %slot
  br label %done
done:
  ret void
}
"""
_SIGNAL_WITH_CONTEXT, _RESTARTING = 4, 0x10000000


class _Action(ctypes.Structure):
    """`struct sigaction` of the GNU C library."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ubyte * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


def sample(
    entry: int, table: LineTable, repeated: Callable[[int], Callable[[], None]], seconds: float
) -> Mapping[Loc, int]:
    """How often each place was found at work in `seconds` of running code that lies at `entry`."""
    counts: Counter[Loc] = Counter()
    for address in _interrupted(_long_enough(repeated), seconds):
        place = table.place_at(address - entry)
        if place is not None:
            counts[place] += 1
    return counts


def _long_enough(repeated: Callable[[int], Callable[[], None]]) -> Callable[[], None]:
    """So many launches at once that what is between two calls does not count."""
    count, run = 1, repeated(1)
    run()
    while count < _MOST:
        begin = time.perf_counter()
        run()
        took = time.perf_counter() - begin
        if took >= _ENOUGH:
            break
        count = min(_MOST, 4 * count)
        run = repeated(count)
    return run


def _interrupted(run: Callable[[], None], seconds: float) -> list[int]:
    """The addresses at which signals found the process while it ran."""
    block = (ctypes.c_uint64 * (_CAPACITY + 1))()
    with _handler(ctypes.addressof(block)):
        end = time.perf_counter() + seconds
        run()
        while time.perf_counter() < end:
            run()
    return list(block[1 : 1 + min(block[0], _CAPACITY)])


@contextmanager
def _handler(block: int) -> Iterator[None]:
    text = _HANDLER.replace("COUNTER", str(COUNTER[platform.machine()]))
    text = text.replace("COUNT", str(block)).replace("CAPACITY", str(_CAPACITY))
    address = jit.load(llvm.compile_object(text, host(), DEFAULT_PASSES), "cubepy_sample")
    library = ctypes.CDLL(None)
    new, old = _Action(), _Action()
    new.handler, new.flags = address, _SIGNAL_WITH_CONTEXT | _RESTARTING
    library.sigaction(int(signal.SIGALRM), ctypes.byref(new), ctypes.byref(old))
    signal.setitimer(signal.ITIMER_REAL, _INTERVAL, _INTERVAL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        # A signal that is on its way must still find the handler.
        time.sleep(2 * _INTERVAL)
        library.sigaction(int(signal.SIGALRM), ctypes.byref(old), None)

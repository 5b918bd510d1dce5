"""Where in a kernel the time goes: a signal a few thousand times a second, and where it found the
processor.

The kernel is compiled with locations (see `places.py`; they change no instruction), and launched
again and again. The handler is machine code that writes the interrupted address down, whichever
along, was interrupted; then the line table of the object tells which place each belongs to.
"""

from __future__ import annotations

import ctypes
import io
import platform
import signal
import sys
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from cubepy.errors import RuntimeUnavailable
from cubepy.location import Loc
from cubepy.records import replace
from cubepy.target import Artifact
from cubepy_cpu import jit, llvm
from cubepy_cpu.effort import DEFAULT_PASSES
from cubepy_cpu.elf import read_object
from cubepy_cpu.host import host
from cubepy_cpu.places import with_locations

__all__ = ["located", "sample"]

_CAPACITY = 1 << 16
_INTERVAL = 0.0005  # seconds
# Where the interrupted address stands in what the handler of Linux is given.
_COUNTER = {"x86_64": 168, "aarch64": 440}
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


def located(artifact: Artifact) -> tuple[Artifact, Sequence[Loc]]:
    """An artifact with locations, and the places that these number from 1; RuntimeUnavailable where
    lines cannot be timed.
    """
    if sys.platform != "linux" or platform.machine() not in _COUNTER:
        raise RuntimeUnavailable(
            "lines can be timed on Linux, on x86-64 and AArch64\n"
            "  help: leave the measurement out; the model of costs works everywhere"
        )
    text, table = with_locations(artifact.text, artifact.line_map)
    return replace(artifact, text=text), table


def sample(
    artifact: Artifact, entry: int, table: Sequence[Loc], run: Callable[[], None], seconds: float
) -> Mapping[Loc, int]:
    """How often each place was found at work in `seconds` of running.

    `artifact` has the locations of `table`, and its code lies at `entry`.
    """
    addresses = _interrupted(run, seconds)
    data = llvm.compile_object(artifact.text, host(), DEFAULT_PASSES)
    starts, lines, end = _line_table(data, artifact.entry)
    counts: Counter[Loc] = Counter()
    for address in addresses:
        offset = address - entry
        if not 0 <= offset < end:
            continue
        at = bisect_right(starts, offset) - 1
        if at >= 0 and 0 < lines[at] <= len(table):
            counts[table[lines[at] - 1]] += 1
    return counts


def _interrupted(run: Callable[[], None], seconds: float) -> list[int]:
    """The addresses at which signals found the process while it ran."""
    block = (ctypes.c_uint64 * (_CAPACITY + 1))()
    with _handler(ctypes.addressof(block)):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            run()
    return list(block[1 : 1 + min(block[0], _CAPACITY)])


@contextmanager
def _handler(block: int) -> Iterator[None]:
    text = _HANDLER.replace("COUNTER", str(_COUNTER[platform.machine()]))
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


def _line_table(data: bytes, entry: str) -> tuple[list[int], list[int], int]:
    """Offsets from the entry at which another line begins, those lines, and the end of the code."""
    try:
        from elftools.elf.elffile import ELFFile  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise RuntimeUnavailable(
            "timing lines needs pyelftools\n  help: pip install 'cubepy[explore]'"
        ) from error
    file = read_object(data)
    assert file is not None
    symbol = next(each for each in file.functions if each.name == entry)
    dwarf = ELFFile(io.BytesIO(data)).get_dwarf_info()
    rows: list[tuple[int, int]] = []
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        rows += [
            (made.state.address - symbol.value, made.state.line)
            for made in (program.get_entries() if program is not None else ())
            if made.state is not None and not made.state.end_sequence
        ]
    rows.sort(key=lambda row: row[0])
    return [start for start, _ in rows], [line for _, line in rows], symbol.size

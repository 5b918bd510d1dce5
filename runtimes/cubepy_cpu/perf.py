"""What Linux' `perf` is told of kernels, for those who ask with `CUBEPY_PERF`.

`1` writes the name of each function to the map that `perf report` looks for. `lines` writes a dump
(the "jitdump" format of perf's sources) with the code and its places in the user's files, which
`perf inject --jit` turns into something that `perf annotate` can show beside the source.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from cubepy.late import LateLogger
from cubepy.location import Loc
from cubepy_cpu.elf import ObjectFile
from cubepy_cpu.host import host_architecture
from cubepy_cpu.lines import LineTable

__all__ = ["write_lines", "write_names"]

logger = LateLogger("cubepy.cpu")

#: Where perf looks, whatever the process calls its temporary folder.
FOLDER = Path("/tmp")

# Of the format: the dump's magic and version, the two kinds of records, machines by ELF's number.
_MAGIC, _VERSION = 0x4A695444, 1
_LOAD, _LINES = 0, 2
_MACHINES = {"x86_64": 62, "aarch64": 183}
_HEADER = struct.Struct("<IIIIIIQQ")
_PREFIX = struct.Struct("<IIQ")
_CODE = struct.Struct("<IIQQQQ")
_PLACES, _PLACE = struct.Struct("<QQ"), struct.Struct("<QII")


def write_names(addresses: Mapping[str, int], file: ObjectFile) -> None:
    """Add what was mapped to perf-PID.map."""
    path = FOLDER / f"perf-{os.getpid()}.map"
    lines = [
        f"{addresses[function.name]:x} {function.size:x} {function.name}\n"
        for function in file.functions
        if addresses.get(function.name, 0)
    ]
    try:
        with path.open("a", encoding="utf-8") as perf_map:
            perf_map.writelines(lines)
    except OSError as error:
        logger.warning("cannot write %s: %s", path, error)


def write_lines(name: str, address: int, table: LineTable) -> None:
    """Add a function to jit-PID.dump."""
    with _lock:
        try:
            dump = _dump()
            _write(dump, _LINES, b"".join(_debug_info(address, table)))
            code = ctypes.string_at(address, table.size)
            _state.count += 1
            fields = (
                os.getpid(),
                threading.get_native_id(),
                address,
                address,
                table.size,
                _state.count,
            )
            _write(dump, _LOAD, _CODE.pack(*fields) + name.encode() + b"\0" + code)
            dump.flush()
        except OSError as error:
            logger.warning("cannot write %s: %s", _path(), error)


class _State:
    """The dump of this process; a child of a fork begins one of its own."""

    process = 0
    count = 0
    dump: BinaryIO | None = None
    seen_by_perf: mmap.mmap | None = None


_state = _State()
_lock = threading.Lock()


def _path() -> Path:
    return FOLDER / f"jit-{os.getpid()}.dump"


def _dump() -> BinaryIO:
    """The file, with its header; mapped as code, for that is how perf learns of it."""
    if _state.dump is None or _state.process != os.getpid():
        dump = _path().open("w+b")
        machine = _MACHINES[host_architecture()]
        header = (_MAGIC, _VERSION, _HEADER.size, machine, 0, os.getpid(), _now(), 0)
        dump.write(_HEADER.pack(*header))
        dump.flush()
        _state.process, _state.count, _state.dump = os.getpid(), 0, dump
        _state.seen_by_perf = mmap.mmap(
            dump.fileno(), _HEADER.size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC
        )
    return _state.dump


def _debug_info(address: int, table: LineTable) -> Iterator[bytes]:
    pairs = zip(table.starts, table.places, strict=True)
    known = [(start, _own(place)) for start, place in pairs if place is not None and place.known]
    yield _PLACES.pack(address, len(known))
    for start, place in known:
        yield _PLACE.pack(address + start, place.line, 0)
        yield str(Path(place.file).absolute()).encode() + b"\0"


def _own(place: Loc) -> Loc:
    """The innermost place in the file of the kernel itself: library code counts for its caller."""
    chain = [place]
    while chain[-1].inlined_at is not None:
        chain.append(chain[-1].inlined_at)
    return next(each for each in chain if each.file == chain[-1].file)


def _write(dump: BinaryIO, kind: int, content: bytes) -> None:
    dump.write(_PREFIX.pack(kind, _PREFIX.size + len(content), _now()) + content)


def _now() -> int:
    """By the clock of `perf record -k 1`."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)

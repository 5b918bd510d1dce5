"""`CUBEPY_PERF=lines`: a dump that says which line each instruction is of, and that perf reads."""

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

linux = pytest.mark.skipif(sys.platform != "linux", reason="perf is Linux' own")
pytestmark = linux

PROGRAM = """
import sys, time
from pathlib import Path
import numpy as np
import cubepy as cb
from cubepy import Array, f32
from cubepy_cpu import perf

@cb.cube
def works(x: Array[f32], out: Array[f32]):
    i = cb.ABSOLUTE_POS
    v = x[i]
    total = 0.0
    for _ in range(300):
        total = total / (v + 2.0) + 1.0  # hot
    out[i] = total + cb.exp(v)

if len(sys.argv) > 2:
    perf.FOLDER = Path(sys.argv[2])
x = np.ones(1 << 14, np.float32)
out = np.empty_like(x)
works.over(x.size)(x, out)
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    works.over(x.size)(x, out)
assert abs(out[0] - 1.5 - np.exp(np.float32(1))) < 1e-5
"""
LINES = PROGRAM.splitlines()
HOT = next(number for number, line in enumerate(LINES, 1) if "# hot" in line)
BODY = range(HOT - 4, HOT + 2)


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and content of each record, behind the header."""
    magic, version, size, _, _, process, _, _ = struct.unpack_from("<IIIIIIQQ", data)
    assert (magic, version) == (0x4A695444, 1)
    assert process > 0
    at = size
    while at < len(data):
        kind, size, _ = struct.unpack_from("<IIQ", data, at)
        yield kind, data[at + 16 : at + size]
        at += size
    assert at == len(data)


def test_a_dump_has_code_and_the_lines_of_the_users_file(tmp_path: Path) -> None:
    script = tmp_path / "dumped.py"
    script.write_text(PROGRAM)
    environment = {**os.environ, "CUBEPY_PERF": "lines"}
    command = [sys.executable, str(script), "0", str(tmp_path)]
    subprocess.run(command, check=True, env=environment, timeout=120)
    (dump,) = tmp_path.glob("jit-*.dump")
    kinds = list(records(dump.read_bytes()))
    assert [kind for kind, _ in kinds] == [2, 0]
    (_, places), (_, load) = kinds
    _, _, address, same, size, number = struct.unpack_from("<IIQQQQ", load)
    assert (address, number) == (same, 1)
    name, code = load[40:].split(b"\0", 1)
    assert name == b"cubepy_works"
    assert len(code) == size
    start, count = struct.unpack_from("<QQ", places)
    assert start == address
    at, found = 16, []
    for _ in range(count):
        where, line, _ = struct.unpack_from("<QII", places, at)
        end = places.index(b"\0", at + 16)
        assert places[at + 16 : end].decode() == str(script)
        assert address <= where <= address + size
        found.append(line)
        at = end + 1
    assert at == len(places)
    assert HOT in found
    assert set(found) <= set(BODY)  # exp is the library's, and counts for its caller


def can_record(folder: Path) -> bool:
    if shutil.which("perf") is None:
        return False
    command = ["perf", "record", "-e", "cpu-clock", "-o", str(folder / "try"), "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_perf_finds_the_line_that_works(tmp_path: Path) -> None:
    if not can_record(tmp_path):
        pytest.skip("perf is not installed, or may not record here")
    script, data, made = tmp_path / "recorded.py", tmp_path / "raw", tmp_path / "made"
    script.write_text(PROGRAM)
    environment = {**os.environ, "CUBEPY_PERF": "lines"}
    record = ["perf", "record", "-k", "1", "-e", "cpu-clock", "-F", "499", "-o", str(data)]
    command = [*record, sys.executable, str(script), "0.5", str(tmp_path)]
    subprocess.run(command, check=True, env=environment, timeout=120, capture_output=True)
    inject = ["perf", "inject", "--jit", "-i", str(data), "-o", str(made)]
    subprocess.run(inject, check=True, timeout=60, capture_output=True)
    (shared,) = tmp_path.glob("jitted-*.so")
    report = ["perf", "report", "-i", str(made), "--stdio", "--dsos", shared.name]
    done = subprocess.run(
        [*report, "--sort", "srcline"], check=True, timeout=60, capture_output=True, text=True
    )
    lines = [line.split() for line in done.stdout.splitlines() if script.name in line]
    share, place = max(lines, key=lambda each: float(each[0].rstrip("%")))
    assert place == f"{script.name}:{HOT}", done.stdout
    assert float(share.rstrip("%")) > 5

"""What goes wrong around the store: processes killed, clocks set, two versions, many at once."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cubepy.cache import DiskStore, key_of

ROOT = Path(__file__).parents[2]
KERNELS = 3

SCRIPT = """
import sys
import numpy as np
import cubepy as cb
from cubepy import Array, compiler, f32

made = []
finish = compiler.finish
def counting(kernel, *arguments, **keywords):
    made.append(kernel.name)
    return finish(kernel, *arguments, **keywords)
compiler.finish = counting

@cb.cube
def k0(x: Array[f32]):
    x[cb.ABSOLUTE_POS] += 1.0

@cb.cube
def k1(x: Array[f32]):
    x[cb.ABSOLUTE_POS] *= 3.0

@cb.cube
def k2(x: Array[f32]):
    x[cb.ABSOLUTE_POS] -= 0.5

x = np.zeros(100, np.float32)
for kernel in (k0, k1, k2):
    kernel.over(100)(x)
assert (x == 2.5).all(), x
print(*made)
"""


def environment(folder: Path, root: Path = ROOT) -> dict[str, str]:
    return {
        **os.environ,
        "CUBEPY_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join((str(root), str(root / "runtimes"))),
    }


def start(folder: Path, root: Path = ROOT) -> subprocess.Popen[str]:
    (folder / "script.py").write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, str(folder / "script.py")],
        env=environment(folder, root), cwd=folder, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def made_by(process: subprocess.Popen[str]) -> list[str]:
    output, _ = process.communicate(timeout=200)
    assert process.returncode == 0
    return output.split()


def test_processes_on_one_cold_cache_compile_each_kernel_once_or_twice(tmp_path: Path) -> None:
    made = [name for process in [start(tmp_path) for _ in range(8)] for name in made_by(process)]
    assert set(made) == {"k0", "k1", "k2"}
    assert max(map(made.count, set(made))) <= 2
    assert made_by(start(tmp_path)) == []


_WRITER = """
import sys
from pathlib import Path
from cubepy.cache import DiskStore, key_of
disk = DiskStore(Path(sys.argv[1]), max_bytes=1 << 30)
print("begun", flush=True)
number = 0
while True:
    number = (number + 1) % 5
    key = key_of([("n", bytes([number]))])
    disk.put(key, bytes([number]) * 2_000_000)
    with disk.lock(key):
        disk.put(key, bytes([number]) * 2_000_000)
"""


def test_a_process_killed_while_it_writes_leaves_whole_values_or_none(tmp_path: Path) -> None:
    chance = random.Random(3)
    disk = DiskStore(tmp_path / "store", max_bytes=1 << 30)
    command = [sys.executable, "-c", _WRITER, str(tmp_path / "store")]
    for _ in range(6):
        process = subprocess.Popen(
            command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for number in range(5):
            key = key_of([("n", bytes([number]))])
            assert disk.get(key) in (None, bytes([number]) * 2_000_000)
        begun = time.monotonic()
        made = disk.get_or_make(key_of([("n", b"\1")]), lambda: b"\1" * 2_000_000)
        assert made == b"\1" * 2_000_000
        assert time.monotonic() - begun < 30  # the lock died with its owner
    assert disk.verify() == ()
    for part in (tmp_path / "store").glob("*.part"):
        os.utime(part, (1, 1))
    disk.prune()
    assert list((tmp_path / "store").glob("*.part")) == []


@pytest.mark.parametrize("jump", [-(10**8), 10**8], ids=["back", "forth"])
def test_the_clock_may_be_set(jump: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of before are found; and those used since are the last to go."""
    disk = DiskStore(tmp_path / "store", max_bytes=1 << 20)
    keys = [key_of([("n", bytes([number]))]) for number in range(6)]
    for number in range(4):
        disk.put(keys[number], bytes([number]) * 1000)
    now = time.time() + jump
    monkeypatch.setattr(time, "time", lambda: now)
    set_times = os.utime
    monkeypatch.setattr(os, "utime", lambda path, times=(now, now): set_times(path, times))
    for number in (1, 3):
        assert disk.get(keys[number]) == bytes([number]) * 1000
    for number in (4, 5):
        disk.put(keys[number], bytes([number]) * 1000)
        (path,) = (entry.path for entry in disk.entries() if entry.key == keys[number])
        os.utime(path)
    disk.prune(sum(entry.size for entry in disk.entries()) * 4 // 6)
    assert {entry.key for entry in disk.entries()} == {keys[number] for number in (1, 3, 4, 5)}


def test_two_versions_use_one_cache_side_by_side(tmp_path: Path) -> None:
    other = tmp_path / "other"
    for part in ("cubepy", "runtimes"):
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, other / part, ignore=skipped)
    with (other / "cubepy" / "compiler.py").open("a") as changed:
        changed.write("# another version\n")
    assert len(made_by(start(tmp_path))) == KERNELS
    assert len(made_by(start(tmp_path, other))) == KERNELS
    assert made_by(start(tmp_path)) == []
    assert made_by(start(tmp_path, other)) == []

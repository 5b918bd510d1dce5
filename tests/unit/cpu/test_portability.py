"""Other machines, systems and builds of Python: what can be tried of them on this one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cubepy_cpu import jit, probe, worker_code, worker_text
from cubepy_cpu.elf import AARCH64, X86_64, read_object
from cubepy_cpu.host import Machine

ROOT = Path(__file__).parents[3]
FUNCTIONS = {"cubepy_launch", "cubepy_resume", "cubepy_share", "cubepy_worker", "cubepy_stop"}
CALLS = {"cubepy_call", "cubepy_lookup", "cubepy_run", "cubepy_replay"}


def text_for(patch: pytest.MonkeyPatch, architecture: str, platform: str, *, calls: bool) -> str:
    """The module of launches as it is made on another machine."""
    for module in (worker_code, worker_text):
        patch.setattr(module, "host_architecture", lambda: architecture)
    patch.setattr(sys, "platform", platform)
    python = probe.layout() if calls else None
    return worker_code.text(futex=worker_code.has_futex(), python=python)


@pytest.mark.parametrize(("architecture", "number"), [("x86_64", X86_64), ("aarch64", AARCH64)])
def test_calls_of_both_linux_architectures_are_assembled(
    architecture: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = text_for(monkeypatch, architecture, "linux", calls=True)
    file = read_object(
        jit.compile_object(text, Machine(triple=f"{architecture}-unknown-linux-gnu"))
    )
    assert file is not None
    assert file.machine == number
    assert {function.name for function in file.functions} >= FUNCTIONS | CALLS
    needed = {name for name in file.undefined if not name.startswith(("Py", "_"))}
    assert needed <= {"aligned_alloc", "clock_gettime", "free", "memcpy", "memset", "syscall"}


@pytest.mark.parametrize(
    ("platform", "triple", "needed", "absent"),
    [
        ("darwin", "arm64-apple-macosx13", {"_clock_gettime", "_usleep"}, {"syscall", "Sleep"}),
        ("darwin", "x86_64-apple-macosx13", {"_aligned_alloc", "_free"}, {"syscall", "Sleep"}),
        (
            "win32",
            "x86_64-pc-windows-msvc",
            {"QueryPerformanceCounter", "_aligned_malloc", "_aligned_free", "Sleep"},
            {"syscall", "usleep", "clock_gettime", "aligned_alloc"},
        ),
    ],
)
def test_workers_of_other_systems_need_what_those_have(
    platform: str,
    triple: str,
    needed: set[str],
    absent: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    architecture = "aarch64" if triple.startswith("arm64") else "x86_64"
    text = text_for(monkeypatch, architecture, platform, calls=False)
    code = jit.assembly(text, Machine(triple=triple))
    words = set(code.replace(",", " ").split())
    called = {word.partition("@")[0] for word in words}
    assert needed <= called
    assert not absent & called
    assert all(any(name in word for word in called) for name in FUNCTIONS)


@pytest.mark.parametrize(
    ("attribute", "value", "reason"),
    [
        ("platform", "darwin", "the system is darwin"),
        ("platform", "win32", "the system is win32"),
        ("abiflags", "t", "this Python is free-threaded"),
        ("gettotalrefcount", lambda: 0, "this Python is a debug build"),
        ("version_info", (3, 99, 0), "never tried on this version"),
    ],
)
def test_calls_in_machine_code_are_closed_where_they_were_never_tried(
    attribute: str, value: object, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, attribute, value, raising=False)
    assert reason in probe.why_not.__wrapped__()


def test_a_system_without_abi_flags_is_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys, "abiflags", raising=False)
    assert "free-threaded" not in probe.why_not.__wrapped__()


def test_launches_do_the_same_on_the_general_path() -> None:
    """The tests of launches, streams and recordings in a process where machine code is closed."""
    files = ("test_launch.py", "runtime/test_recording.py", "runtime/test_interop.py")
    chosen = (
        "saxpy or layout or overlapping or global or buffers_choose or captured or written_where"
        " or faults or random or shared_memory"
    )
    command = [
        sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider",
        *(str(ROOT / "tests" / "unit" / name) for name in files), "-k", f"cpu and ({chosen})",
    ]  # fmt: skip
    environment = {**os.environ, "CUBEPY_NATIVE": "0"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_launches_do_the_same_in_a_process_of_another_system(system: str, tmp_path: Path) -> None:
    """Both when everything is compiled and when it is found on disk."""
    environment = {
        **os.environ,
        "CUBEPY_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "runtimes"))),
    }
    script = ROOT / "tests" / "unit" / "cpu" / "as_another_system.py"
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(script), system],
            env=environment, capture_output=True, text=True, check=False, timeout=200,
        )  # fmt: skip
        assert (done.stdout, done.stderr) == ("right 3\n", "")

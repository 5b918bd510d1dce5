"""Processes that find their kernels compiled: what they do without, and what makes them miss."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cubepy as cb
from cubepy import compiler, ir
from cubepy.target import artifact_of_bytes, bytes_of_artifact
from tests.unit.cpu.launches import ones, saxpy

ROOT = Path(__file__).parents[2]
PATHS = os.pathsep.join((str(ROOT), str(ROOT / "runtimes")))
COMPILER = ("llvmlite", "lark", "cubepy.passes", "cubepy.codegen", "filelock")
HEAVY = (
    *COMPILER,
    *("cubepy.frontend.lowering", "cubepy.ir.ops", "hashlib", "json", "logging", "ml_dtypes"),
    *("numpy.ma", "platformdirs", "rich"),
)

SCRIPT = """
import sys
import numpy as np
import cubepy as cb
from cubepy import Array, f32
from other import helper

FACTOR = {factor}

@cb.cube
def k(x: Array[f32], out: Array[f32]):
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = helper(x[i]) + FACTOR

out = np.zeros(100, np.float32)
k.over(100{options})(np.full(100, 2, np.float32), out)
print(out[0], *(name for name in {heavy} if name in sys.modules))
"""


def run(
    folder: Path,
    *,
    factor: str = "1.0",
    helper: str = "x * 3.0",
    options: str = "",
    name: str = "script.py",
    **variables: str,
) -> list[str]:
    """Run the script in a process of its own: what it computed, and the heavy modules it loaded."""
    (folder / "other.py").write_text(f"def helper(x):\n    return {helper}\n")
    (folder / name).write_text(SCRIPT.format(factor=factor, options=options, heavy=HEAVY))
    environment = {
        **os.environ,
        "CUBEPY_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": PATHS,
        **variables,
    }
    done = subprocess.run(
        [sys.executable, str(folder / name)], env=environment, cwd=folder,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_warm_start_compiles_nothing_and_imports_no_compiler(tmp_path: Path) -> None:
    value, *loaded = run(tmp_path, PYTHONHASHSEED="1")
    assert value == "7.0"
    assert {"cubepy.passes", "cubepy.codegen"} <= set(loaded)
    for seed in ("2", "3"):
        assert run(tmp_path, PYTHONHASHSEED=seed) == ["7.0"]
    value, *loaded = run(tmp_path, name="elsewhere.py")
    assert value == "7.0"
    assert not {*COMPILER} & {*loaded}, "the same kernel elsewhere is lowered, and not compiled"
    assert run(tmp_path, name="elsewhere.py") == ["7.0"]


def test_a_kernel_whose_code_was_dropped_is_compiled_again(tmp_path: Path) -> None:
    """What its origin becomes is still known, and of no use."""
    run(tmp_path)
    for entry in (tmp_path / "cache").rglob("*.entry"):
        if entry.stat().st_size > 2000:
            entry.unlink()
    value, *loaded = run(tmp_path)
    assert value == "7.0"
    assert "cubepy.codegen" in loaded
    assert run(tmp_path) == ["7.0"]


SPEAKING = """
import numpy as np
import cubepy as cb
from cubepy import Array, f32

@cb.cube
def k(out: Array[f32]):
    cb.static_print("lowered")
    i = cb.ABSOLUTE_POS
    out[i] = 1.0

@cb.cube
def idle(out: Array[f32]):
    i = cb.ABSOLUTE_POS
    v = out[i]

out = np.zeros(100, np.float32)
k.over(100)(out)
idle.over(100)(out)
"""


def test_what_lowering_says_it_says_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SPEAKING)
    environment = {**os.environ, "CUBEPY_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": PATHS}
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, str(tmp_path / "script.py")], env=environment,
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        assert done.stdout == "lowered\n"
        assert "CubeWarning" in done.stderr


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({"factor": "2.0"}, "8.0"),
        ({"helper": "x * 5.0"}, "11.0"),
        ({"options": ', device="cpu+gang=8"'}, "7.0"),
        ({"options": ', check="unchecked"'}, "7.0"),
        ({"options": ', check="validate"'}, "7.0"),
    ],
)
def test_what_changes_the_code_compiles_again(
    change: dict[str, str], value: str, tmp_path: Path
) -> None:
    run(tmp_path)
    first = run(tmp_path, **change)
    assert first[0] == value
    assert "cubepy.codegen" in first
    assert run(tmp_path, **change) == [value]
    assert run(tmp_path) == ["7.0"]


def test_reports_name_the_file_that_was_run(tmp_path: Path) -> None:
    """Two files with the same kernel do not share what tells where an access stands."""
    options = ', check="validate"'
    run(tmp_path, options=options)
    assert "cubepy.codegen" in run(tmp_path, options=options, name="elsewhere.py")
    assert run(tmp_path, options=options, name="elsewhere.py") == ["7.0"]


def test_artifacts_are_the_same_after_storage() -> None:
    artifact = saxpy.over(64).inspect(2.0, ones(), ones(), target=cb.device("cpu").target).artifact
    data = bytes_of_artifact(artifact, b"code")
    back = artifact_of_bytes(data, artifact.target)
    assert back.binary == b"code"
    assert back.text == ""
    for name in ("target", "kernel_name", "entry", "abi", "access", "schedule", "task_units"):
        assert getattr(back, name) == getattr(artifact, name)
    assert back.abi.types[0] is ir.F32


def test_files_of_other_languages_have_no_say() -> None:
    """The key of a kernel leaves them out, so nothing that it is made by may import them."""
    for language, folder in (("cpu", "llvm"), ("opencl", "opencl"), ("wgsl", "wgsl")):
        for silent in compiler._OTHERS[language]:
            assert (ROOT / "cubepy" / "codegen" / silent).is_dir()
            for file in (ROOT / "cubepy" / "codegen" / folder).rglob("*.py"):
                assert f"cubepy.codegen.{silent}" not in file.read_text(encoding="utf-8"), file

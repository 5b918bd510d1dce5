"""What loads when it is needed: doors of packages, loggers, and how little an import takes."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import cubepy as cb
from cubepy import frontend, ir
from cubepy.late import LateLogger, door, late_import

ROOT = Path(__file__).parents[2]


def modules_after(statement: str) -> set[str]:
    """The modules that a new process has after a statement."""
    paths = os.pathsep.join((str(ROOT), str(ROOT / "runtimes")))
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys; print(*sys.modules)"],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.split())


@pytest.mark.parametrize("package", [cb, frontend, ir], ids=lambda each: each.__name__)
def test_every_name_of_a_door_is_behind_it(package: object) -> None:
    for name in package.__all__:  # type: ignore[attr-defined]
        assert getattr(package, name) is not None


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'cubepy\.ir' has no attribute 'verfy'"):
        ir.verfy  # type: ignore[attr-defined] # noqa: B018


def test_a_door_does_not_wait_for_ever_for_another_threads_import() -> None:
    """That thread may wait for the module whose text asks the door."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with late_import:
            held.set()
            done.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(30)
    try:
        assert door("cubepy.ir", verifier="LEVELS")("LEVELS") is ir.LEVELS
    finally:
        done.set()
        holder.join()


def test_a_logger_reaches_the_standard_librarys(caplog: pytest.LogCaptureFixture) -> None:
    logger = LateLogger("cubepy.test")
    with caplog.at_level("DEBUG", "cubepy.test"):
        logger.debug("so many: %d", 3)
        logger.warning("it is %s", "late")
    assert [record.getMessage() for record in caplog.records] == ["so many: 3", "it is late"]
    assert {record.filename for record in caplog.records} == {Path(__file__).name}


def test_an_import_leaves_out_what_only_compiling_needs() -> None:
    loaded = modules_after("import cubepy") - modules_after("import numpy")
    ours = {name for name in loaded if name.startswith("cubepy")}
    assert "cubepy.launcher.launcher" in ours
    unwanted = {
        "cubepy.codegen", "cubepy.frontend.lowering", "cubepy.frontend.values", "cubepy.ir.ops",
        "cubepy.passes", "cubepy.std", "cubepy_cpu.llvm", "cubepy_cpu.pool", "dataclasses",
        "filelock", "hashlib", "json", "lark", "llvmlite", "logging", "ml_dtypes", "pathlib",
        "rich",
    }  # fmt: skip
    assert not unwanted & loaded

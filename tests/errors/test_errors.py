"""Every wrong kernel of this folder gives the message that stands beside it, to the character.

`name.py` has `kernel` and `ARGUMENTS`, or a function `run` that does what is wrong; `name.txt` has
the class of the error and its text. To write new messages down, run pytest with `--update-golden`.
"""

import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cubepy import compiler, frontend
from cubepy.errors import CubeError, SourceError
from cubepy.target import Target

TARGET = Target.parse("cpu:x86-64-v3")
FOLDER = Path(__file__).parent
CASES = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("test_"))


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"wrong_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def message(path: Path) -> str:
    """The class and the text of what the kernel raises, without the folder."""
    with pytest.raises(CubeError) as caught:
        go_wrong(path)
    text = str(caught.value).replace(f"{FOLDER}/", "")
    assert " at 0x" not in text
    return f"{type(caught.value).__name__}\n{text}\n"


def go_wrong(path: Path) -> None:
    """Do what is wrong: run the module, and its `run` or a compilation of its `kernel`."""
    module = imported(path)
    if hasattr(module, "run"):
        module.run()
    else:
        compiled(module.kernel, module.ARGUMENTS)


def compiled(kernel: Any, given: tuple[Any, ...]) -> None:
    """All stages that need no device."""
    arguments = inspect.signature(kernel).bind(*given).arguments
    options = frontend.LaunchOptions(cube_dim=(32, 1, 1))
    source = frontend.capture(kernel)
    specialization = frontend.specialize(source, arguments, options)
    compiler.build(source, specialization, TARGET)


def golden(path: Path) -> Path:
    """What the message should be; Python 3.12 knows where parts of an f-string stand."""
    newer = path.with_suffix(".python312.txt")
    return newer if sys.version_info >= (3, 12) and newer.exists() else path.with_suffix(".txt")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_message(path: Path, request: pytest.FixtureRequest) -> None:
    expected = golden(path)
    found = message(path)
    if request.config.getoption("--update-golden"):
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")


def test_every_message_has_a_kernel() -> None:
    told = {path.name.partition(".")[0] for path in FOLDER.glob("*.txt")}
    assert told == {path.stem for path in CASES}


# Messages about what no user of kernels has written.
_OWN_TEXT = {
    "ir_text_of_no_op": "it shows the text and what is expected there",
    "ir_that_is_ill_formed": "a bug of cubepy, with the kernel attached",
}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_complaint_says_what_to_do(path: Path) -> None:
    """Of several complaints in one message each does."""
    kind, _, text = path.with_suffix(".txt").read_text(encoding="utf-8").partition("\n")
    complaints = text.split("\n\n") if ": error: " in text else [text]
    helpless = [each for each in complaints if "\n  help: " not in each]
    assert bool(helpless) == (path.stem in _OWN_TEXT), (kind, helpless)


def test_the_traceback_ends_at_the_kernel() -> None:
    module = imported(FOLDER / "misspelt_in_a_helper.py")
    source = frontend.capture(module.kernel)
    arguments = inspect.signature(module.kernel).bind(*module.ARGUMENTS).arguments
    specialization = frontend.specialize(source, arguments, frontend.LaunchOptions())
    with pytest.raises(SourceError) as caught:
        frontend.lower(source, specialization)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno) == (module.__file__, caught.value.loc.line)
    assert last.name == "inner"
    assert last.line == "return cb.sqrtt(v)"

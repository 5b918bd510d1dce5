"""`cubepy shrink`: what is left of a script is small and fails in the same way."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from cubepy.tools import main
from cubepy.tools.shrink import shrunk

RACE = """import numpy as np
import cubepy as cb
from cubepy import Array, f32
@cb.cube
def kernel(x: Array[f32]):
    part = cb.shared(f32, 8)
    doubled = x[cb.UNIT_POS] * 2.0
    part[cb.UNIT_POS] = 1.0
    x[cb.UNIT_POS] = part[(cb.UNIT_POS + 1) % 8]
kernel.launch(np.ones(8, np.float32), cube_count=1, cube_dim=8, device="reference")
"""


def test_statements_go_while_the_predicate_holds() -> None:
    text = "a = 1\nfor i in range(3):\n    if i:\n        b = i\n        c = a\nd = 4\n"
    small = shrunk(text, lambda attempt: "b = i" in attempt)
    assert small == "b = i\n"
    assert shrunk(text, lambda attempt: True).strip() == ""
    keeps = shrunk(text, lambda attempt: "c = a" in attempt and "for" in attempt)
    assert ast.unparse(ast.parse(keeps)) == "for i in range(3):\n    c = a"


def test_what_hangs_on_the_writing_stays_as_it_is() -> None:
    text = "x  =  1\n"
    assert shrunk(text, lambda attempt: "  =  " in attempt) == text


def test_a_race_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script, small = tmp_path / "races.py", tmp_path / "small.py"
    script.write_text(RACE)
    assert main(["shrink", str(script), "-o", str(small), "--keep", "DataRaceError"]) == 0
    text = small.read_text()
    assert "doubled" not in text
    assert "part[cb.UNIT_POS] = 1.0" in text
    done = subprocess.run([sys.executable, str(small)], capture_output=True, text=True, check=False)
    assert "DataRaceError" in done.stderr
    assert "lines became" in capsys.readouterr().err


def test_scripts_that_do_not_fail_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "fine.py"
    script.write_text("x = 1\n")
    assert main(["shrink", str(script)]) == 1
    assert "does not fail" in capsys.readouterr().err
    script.write_text("raise ValueError('7 is wrong')\n")
    assert main(["shrink", str(script), "--keep", "KeyError"]) == 1
    assert "does not fail with 'KeyError'" in capsys.readouterr().err
    assert main(["shrink", str(tmp_path / "none.py")]) == 1
    script.write_text("def f(:\n")
    assert main(["shrink", str(script)]) == 1


def test_the_error_is_the_same_but_for_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "counts.py"
    script.write_text(
        "n = 0\nfor i in range(5):\n    n += 1\nif n > 2:\n    raise ValueError(f'{n} of them')\n"
    )
    assert main(["shrink", str(script), "--seconds", "20"]) == 0
    shown = capsys.readouterr()
    assert "raise ValueError(f'{n} of them')" in shown.out
    assert "for i" not in shown.out

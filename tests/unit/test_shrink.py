"""`cubepy shrink`: what is left of a script is small and fails in the same way."""

import ast
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cubepy.tools import main
from cubepy.tools.shrinking import shrunk
from cubepy.tools.shrinking.attempts import Attempts

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
    keeps = shrunk(text, lambda attempt: "c = a" in attempt and "for i in range(3)" in attempt)
    assert ast.unparse(ast.parse(keeps)) == "for i in range(3):\n    c = a"


def failure(text: str) -> str:
    """How a script fails."""
    try:
        exec(text, {"__name__": "__main__"})
    except Exception as error:  # noqa: BLE001 - whatever it is
        return repr(error)
    return ""


WITHIN = {
    "a function called once": (
        "def main():\n    x = 7\n    raise ValueError(x)\nif __name__:\n    main()\n",
        "raise ValueError(7)\n",
    ),
    "one that makes what is wrong": (
        "def make(n, m):\n    a = [n]\n    b = m\n    return (a, b)\n"
        "x, y = make(7, 8)\nraise ValueError(x)\n",
        "raise ValueError([7])\n",
    ),
    "one that gives nothing back": (
        "def f(n):\n    print(end='')\n    n.x\nx = f(1)\n",
        "1 .x\n",
    ),
    "parameters, with what calls give for them": (
        "def f(a, b, c=1, d=2):\n    if a and b and c:\n        raise ValueError(c)\n"
        "f(0, 4)\nf(3, b=4, c=5, d=6)\n",
        "def f(c=1):\n    raise ValueError(c)\nf(c=5)\n",
    ),
    "parts of expressions": (
        "x = -max(2 * 3, 1) if len('a') else 0\nraise ValueError((x and 4) or 5, 6)\n",
        "raise ValueError(4, 6)\n",
    ),
    "what lists have more": (
        "from math import cos, sin\nfrom functools import cache, partial\n\n"
        "@cache\ndef f():\n    raise ValueError(sin(0.0), dict(a=1, b=2)['b'])\nf()\n",
        "raise ValueError(0.0, dict(b=2)['b'])\n",
    ),
}


@pytest.mark.parametrize("case", WITHIN)
def test_statements_become_smaller_within(case: str) -> None:
    text, least = WITHIN[case]
    wanted = failure(text)
    assert failure(least) == wanted
    small = shrunk(text, lambda attempt: failure(attempt) == wanted)
    assert failure(small) == wanted
    assert len(small) <= len(least), small


def test_launches_lose_the_arguments_of_lost_parameters() -> None:
    text = (
        "def k(x, out, n):\n    keep = out\n"
        "k.launch(1, 2, n=3, cube_dim=4)\nk.over(5)(1, 2, 3)\nk[6, 7](1, 2, 3)\nk(1, 2, 3)\n"
    )
    calls = ("k.launch(2, cube_dim=4)", "k.over(5)(2)", "k[6, 7](2)", "k(2)")
    kept = re.compile(
        r"def k\(.*\bout\b.*= out.*launch.*2.*cube_dim=4.*over\(5\).*2.*6, 7.*2.*k\(.*2", re.S
    )
    small = shrunk(text, lambda attempt: kept.search(attempt) is not None)
    assert small.splitlines()[-4:] == list(calls)
    assert small.startswith("def k(out):\n")


def test_what_hangs_on_the_writing_stays_as_it_is() -> None:
    text = "x  =  1\n"
    assert shrunk(text, lambda attempt: "  =  " in attempt) == text


def test_a_race_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script, small = tmp_path / "races.py", tmp_path / "small.py"
    script.write_text(RACE)
    assert main(["shrink", str(script), "-o", str(small), "--keep", "DataRaceError"]) == 0
    text = small.read_text()
    assert "doubled" not in text
    assert "part[cb.UNIT_POS] = 1" in text
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
    assert "of them')" in shown.out
    assert "for i" not in shown.out


# ── attempts ────────────────────────────────────────────────────────────────────────────────────

_ENDED = "the process was ended by signal 11"
SCRIPTS = {
    "x = 1\n": "",
    "raise ValueError('no')\n": "ValueError: no",
    "import sys\nsys.exit(0)\n": "",
    "import sys\nsys.exit('told')\n": "told",
    "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n": _ENDED,
    "import sys\nassert sys.argv == [__file__] and __name__ == '__main__'\n": "",
    "import beside\nraise KeyError(beside.NAME)\n": "KeyError: 'found'",
    "print('loud')\nassert not input()\n": "EOFError: EOF when reading a line",
    "import cubepy as cb\ncb.set_num_threads(1)\nimport os\nos.environ['LEFT'] = '1'\n": "",
    "import os\nassert 'LEFT' not in os.environ\n": "",
}


@pytest.mark.parametrize("forks", [True, False])
def test_attempts_are_what_an_interpreter_would_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, forks: bool
) -> None:
    if not forks:
        monkeypatch.delattr(os, "fork", raising=False)
    elif not hasattr(os, "fork"):
        pytest.skip("no fork here")
    (tmp_path / "beside.py").write_text("NAME = 'found'\n")
    with Attempts(tmp_path / "script.py", 60) as attempts:
        found = {text: attempts.complaint(text) for text in SCRIPTS}
    assert found == SCRIPTS
    assert attempts.count == len(SCRIPTS)


def test_what_does_not_end_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    text = (
        "import fcntl, os, time\n"
        f"held = open({str(tmp_path / 'held')!r}, 'w')\n"
        "fcntl.flock(held, fcntl.LOCK_EX)\n"
        "os.fork()\n"
        "time.sleep(100)\n"
    )
    with Attempts(tmp_path / "script.py", 4) as attempts:
        assert attempts.complaint("x = 1\n") == ""
        assert attempts.complaint(text) == "the script does not end"
        assert attempts.complaint("raise ValueError\n") == "ValueError"
    with (tmp_path / "held").open("rb") as held:
        for _ in range(500):  # what was sent a signal may take a moment to be gone
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.02)
            else:
                return
    pytest.fail("a process that the script started still has its lock")


def test_large_pieces_go_first_and_nothing_is_tried_twice() -> None:
    body = "".join(f"    x{number} = {number}\n" for number in range(32))
    text = "".join(f"def f{number}():\n{body}" for number in range(16)) + "keep = 1\n"
    tried: list[str] = []

    def still(attempt: str) -> bool:
        tried.append(attempt)
        return "keep" in attempt

    found: list[str] = []
    assert shrunk(text, still, found.append) == "keep = 1\n"
    assert len(tried) == len(set(tried)) < 10
    assert [len(each) for each in found] == sorted(map(len, found), reverse=True)


def test_an_interrupt_leaves_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script, small = tmp_path / "long.py", tmp_path / "small.py"
    script.write_text("a = 1\nb = 2\nc = 3\nraise ValueError\n")
    ask = Attempts.complaint

    def interrupted(attempts: Attempts, text: str) -> str:
        if attempts.count == 6:
            raise KeyboardInterrupt
        return ask(attempts, text)

    monkeypatch.setattr(Attempts, "complaint", interrupted)
    assert main(["shrink", str(script), "-o", str(small)]) == 0
    assert "raise ValueError" in small.read_text()
    assert len(small.read_text()) < len(script.read_text())
    assert "this is as far as it came" in capsys.readouterr().err

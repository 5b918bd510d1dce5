"""What a kernel read of Python's state is read anew once it changes, or it is refused.

Every case launches, changes the state and launches again in one process; what comes out must be
what a new process gets that starts with the changed state.
"""

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import CubeError
from tests.unit.frontend.stale_cases import CASES
from tests.unit.frontend.stale_state import Case, module_of


def launched(case: Case, names: dict[str, Any], device: str, *, times: int = 1) -> str:
    """What the kernel stores, or the error in one word."""
    out = np.zeros(2, np.float32)
    try:
        for _ in range(times):
            out[:] = -1
            arguments = [eval(each, names) for each in case.arguments]  # noqa: S307
            names["kernel"].over(2, device=device)(out, *arguments)
    except CubeError as error:
        return type(error).__name__
    return repr(out.tolist())


def changed(case: Case) -> dict[str, Any]:
    names = module_of(case)
    exec(case.change, names)
    return names


@pytest.fixture(scope="module")
def fresh() -> list[str]:
    """What a new process gets from the changed state, case by case."""
    environment = {**os.environ, "CUBEPY_CACHE": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    text = (
        "import json\n"
        "from tests.unit.frontend.test_stale_captures import CASES, changed, launched\n"
        "print(json.dumps([launched(case, changed(case), 'reference') for case in CASES]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True
    )
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: CASES[number].name)
def test_changed_state_is_read_anew_or_refused(number: int, device: str, fresh: list[str]) -> None:
    case = CASES[number]
    names = module_of(case)
    before = launched(case, names, device, times=4)
    if case.refused:
        assert before.endswith("Error")
        return
    assert before.startswith("[")
    exec(case.change, names)
    after = launched(case, names, device, times=3)
    assert after != before
    assert after == fresh[number]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("cb.comptime(sum(np.arange(3)))", 3.0),
        ("np.linspace(0.0, 1.0, 3)[1]", 0.5),
        ("sum([w for w in (1.0, 2.0)])", 3.0),
        ("cb.comptime([[1.0, 2.0], [3.0]][0][1])", 2.0),
        ("cb.comptime(sum(([1, 2], 3)[0]))", 3.0),
    ],
)
def test_what_python_has_just_made_is_nobody_elses(value: str, expected: float) -> None:
    text = (
        "import numpy as np\nimport cubepy as cb\n\n@cb.cube\ndef kernel(out: cb.Array[cb.f32]):\n"
        f"    out[0] = cb.f32({value})\n"
    )
    out = np.zeros(1, np.float32)
    cb.exec(text, {})["kernel"].over(1)(out)
    assert out[0] == expected

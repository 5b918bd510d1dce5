"""The random kernels find realistic mistakes of the CPU emitter, within the budget of a CI run.

Each mistake is planted, then kernels are tried, a known one and the others in order, until one
gives other bits than the reference, or crashes. A mistake that survives shows a gap in what the
kernels exercise.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.property.miscompiles import MISCOMPILES, Miscompile

# Of the kernels that can show a mistake, one in so many must.
BUDGET = 400
SECONDS = 300
ROOT = Path(__file__).parents[2]


def test_there_are_twelve_mistakes_of_different_kinds() -> None:
    assert len({mistake.name for mistake in MISCOMPILES}) >= 12


def test_known_kernels_are_within_the_budget() -> None:
    """Each would be tried too if there were none ahead of the others."""
    assert all(mistake.seen < BUDGET for mistake in MISCOMPILES)


@pytest.mark.parametrize("mistake", MISCOMPILES, ids=lambda mistake: mistake.name)
def test_planted_mistake_is_found(mistake: Miscompile) -> None:
    command = [sys.executable, "-m", "tests.property.planted", mistake.name, str(BUDGET)]
    # Without the disk store, where kernels compiled with and without the mistake would be the same.
    run = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "CUBEPY_CACHE": "0"},
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    last = run.stdout.strip().rpartition("\n")[2]
    if run.returncode < 0:  # ended by a signal: the spoiled kernel crashed
        assert last.endswith(":"), run.stdout
        return
    assert run.returncode == 0, run.stderr
    assert last.startswith("found"), f"{BUDGET} kernels do not show that {mistake.name}"

"""Mutated sources: whatever is done to a kernel's text, it compiles right or is refused politely.

Nothing but cubepy's own errors comes out: no AssertionError, KeyError, RecursionError or text of
LLVM, and nothing hangs. What compiles is well formed and survives printing; a sample is launched,
with the same bits on the reference and in machine code. `HYPOTHESIS_PROFILE=thorough` tries ten
times as many: 10,000.
"""

import collections

import pytest
from hypothesis import settings

from tests.mutation.corpus import Case, corpus
from tests.mutation.outcomes import defined, lowered, mutation, outcome, run_alike

FACTOR = max(1, (settings.default.max_examples if settings.default else 100) // 100)
PORTIONS = 4
COMPILED = 250 * FACTOR
LAUNCHED = 20 * FACTOR


@pytest.mark.parametrize("case", corpus(), ids=lambda case: case.name)
def test_the_kernels_compile_as_they_are(case: Case) -> None:
    function = defined(case, case.text)
    assert function is not None
    lowered(case, function)


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_mutations_are_compiled_or_refused(portion: int) -> None:
    start = portion * COMPILED
    found = collections.Counter(outcome(seed) for seed in range(start, start + COMPILED))
    assert found["compiled"] > COMPILED / 10
    assert found["refused"] > COMPILED / 3
    assert found["python"] < COMPILED / 10


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_mutations_that_compile_run_alike(portion: int) -> None:
    start = 100_000 + portion * LAUNCHED
    found = collections.Counter(run_alike(seed) for seed in range(start, start + LAUNCHED))
    assert found["same"] > 0


def test_a_seed_gives_the_same_text() -> None:
    assert mutation(11)[1] == mutation(11)[1]
    assert len({mutation(seed)[1] for seed in range(50)}) > 45

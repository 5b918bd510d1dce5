"""Random kernels give the same bits on `reference` and `cpu`, at all gang widths.

The kernels are free of races by construction. What they exercise is asserted too, so that a change
of the generator cannot quietly make them harmless. `HYPOTHESIS_PROFILE=thorough` runs ten times as
many, and other ones each time.
"""

import collections
import functools
import itertools
import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from cubepy.errors import CubeError
from cubepy.ir import SCALARS, Trait, ops
from cubepy.runtime import device
from cubepy.testing import (
    Compiled,
    Feature,
    GeneratedKernel,
    compare_on,
    cpu_targets,
    gang_of,
    generate_kernel,
    kernels,
    reduce_kernel,
    reference_for,
    run_on,
)

FACTOR = settings.default.max_examples // 100 if settings.default else 1
#: Kernels compiled for a target and run, in all; split in parts that run side by side.
RUNS = 3000 * FACTOR
PARTS = 20
# Compiling is what takes the time, so kernels are small and share a run on the reference.
SIZE = 9
# Wide gangs take longest to compile: each of them gets some of the kernels.
WIDE = 32
WIDE_EVERY = 4
REDUCTION_ATTEMPTS = 120
# A seed does not shrink. The same kernels every time, so that a change is what made a test fail;
# a thorough run looks for new ones.
only_new = settings(
    phases=[Phase.generate],
    deadline=None,
    database=None,
    derandomize=FACTOR <= 1,
    suppress_health_check=list(HealthCheck),
)

SHARES = {
    Feature.DIVERGENT_EXIT: 0.30,
    Feature.DIVERGENT_LOOP: 0.30,
    Feature.DIVERGENT_CONTINUE: 0.10,
    Feature.BARRIER_IN_LOOP: 0.10,
    Feature.OVERLAPPING: 0.15,
    Feature.STRIDED: 0.15,
    Feature.LOOP_ELSE: 0.10,
    Feature.RETURN: 0.10,
    Feature.HELPER: 0.25,
    Feature.SEVERAL_RETURNS: 0.05,
    Feature.NAMED_TUPLE: 0.02,
    Feature.LAMBDA: 0.10,
    Feature.PLANE: 0.10,
    Feature.WHERE: 0.04,
    Feature.ATOMIC: 0.20,
    Feature.PRIVATE: 0.10,
    Feature.LIBRARY: 0.10,
    Feature.NARROW: 0.30,
    Feature.HALF: 0.20,
    Feature.WIDE: 0.30,
    Feature.DOUBLE: 0.20,
    Feature.VOLUME: 0.10,
    Feature.UNROLLED: 0.10,
    Feature.SHARED_NAME: 0.02,
    Feature.COMPTIME_BRANCH: 0.03,
    Feature.MATCH: 0.08,
    Feature.WALRUS: 0.10,
    Feature.WEAK: 0.15,
    Feature.CONTRACT: 0.08,
    Feature.OVER: 0.08,
    Feature.LARGE: 0.25,
    Feature.STRUCT: 0.12,
    Feature.METHOD: 0.02,
    Feature.VECTOR: 0.10,
    Feature.VIEW: 0.06,
    Feature.LAYOUT: 0.01,
    Feature.ORDER: 0.12,
    Feature.MINIFLOAT: 0.06,
    Feature.STORED: 0.08,
    Feature.HALF_MATHEMATICS: 0.05,
    Feature.CASE_GUARD: 0.05,
    Feature.GENERIC: 0.10,
    Feature.WHILE_ELSE: 0.05,
    Feature.NESTED_RETURN: 0.05,
    Feature.PRINT: 0.05,
    Feature.ASSERTION: 0.04,
}


def targets_of(kernel: GeneratedKernel, number: int) -> list[str]:
    """Where kernel number so and so runs."""
    return [
        target
        for place, target in enumerate(cpu_targets())
        # a gang smaller than a plane has no plane operations
        if not (Feature.PLANE in kernel.features and gang_of(target) < plane_of(target))
        and not (WIDE <= gang_of(target) < 1024 and (number + place) % WIDE_EVERY)
    ]


def plane_of(target: str) -> int:
    """Units in a plane."""
    return device(target).target.features.plane_dim


def differences_on(kernel: GeneratedKernel, target: str) -> list[str]:
    """What machine code gives other than the reference."""
    compiled = Compiled(kernel)
    return compare_on(compiled, run_on(compiled, device(reference_for(target))), device(target))


def still_differs(kernel: GeneratedKernel, target: str) -> bool:
    """Whether a smaller kernel shows it too."""
    try:
        return bool(differences_on(kernel, target))
    except (CubeError, SyntaxError):  # it lost what it needs, or the rule that kept it race-free
        return False


def check(kernel: GeneratedKernel, number: int) -> int:
    """Run on several targets, and on the reference once for each size of plane; the targets."""
    compiled, expected = Compiled(kernel), {}
    targets = targets_of(kernel, number)
    for target in targets:
        reference = reference_for(target)
        if reference not in expected:
            expected[reference] = run_on(compiled, device(reference))
        found = compare_on(compiled, expected[reference], device(target))
        if found:
            fails = functools.partial(still_differs, target=target)
            small = reduce_kernel(kernel, fails, attempts=REDUCTION_ATTEMPTS)
            pytest.fail("\n".join([*found, "", "reduced:", str(small), "", "found:", str(kernel)]))
    return len(targets)


@pytest.mark.parametrize("part", range(PARTS))
def test_machine_code_gives_the_same_bits_as_the_reference(part: int) -> None:
    numbers, runs = itertools.count(), 0
    wanted = -(-RUNS // PARTS)

    @given(kernel=kernels(stream=f"part {part}", size=SIZE))
    @settings(only_new, max_examples=wanted)
    def run(kernel: GeneratedKernel) -> None:
        nonlocal runs
        if runs < wanted:
            runs += check(kernel, next(numbers))

    run()
    assert runs >= wanted


def test_kernels_exercise_what_they_are_for() -> None:
    count: collections.Counter[Feature] = collections.Counter()
    seen = 0

    # So many that chance does not decide: some shares are a half above what is asked for.
    @given(kernel=kernels(stream="shares", size=SIZE))
    @settings(only_new, max_examples=2000)
    def collect(kernel: GeneratedKernel) -> None:
        nonlocal seen
        seen += 1
        count.update(kernel.features)

    collect()
    shares = {feature: count[feature] / seen for feature in SHARES}
    short = {f.value: shares[f] for f, wanted in SHARES.items() if shares[f] < wanted}
    assert not short


def test_every_library_function_and_type_occurs() -> None:
    """Among as many kernels as a run has."""
    kernels = RUNS // len(cpu_targets())
    whole = "\n".join(generate_kernel(seed, size=SIZE).source for seed in range(kernels))
    rows = [row for row in ops.BY_NAME.values() if row.has(Trait.LIBRARY) and row.python]
    called = {f"cb.{row.python}(" for row in rows} - {"cb.pow("}
    assert not {name for name in [*called, "pow(", " ** "] if name not in whole}
    assert not {name for name in SCALARS if f"cb.{name.replace('bool', 'bool_')}(" not in whole}


@pytest.mark.parametrize("seed", [0, 1, 12345, (1 << 32) - 1])
def test_a_seed_gives_the_same_kernel_again(seed: int) -> None:
    assert str(generate_kernel(seed)) == str(generate_kernel(seed))


def test_processes_generate_the_same_kernels() -> None:
    script = (
        "from cubepy.testing import generate_kernel\n"
        "print(*(generate_kernel(seed, size=9) for seed in range(200)))"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(made) == 1

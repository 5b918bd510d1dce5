"""Random kernels give the same bits on `reference` and `cpu`, at all gang widths.

The kernels are free of races by construction. What they exercise is asserted too, so that a change
of the generator cannot quietly make them harmless. `HYPOTHESIS_PROFILE=thorough` runs ten times as
many.
"""

import collections

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from cubepy.errors import CubeError
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

FACTOR = settings.default.max_examples / 100 if settings.default else 1
PER_TARGET = int(26 * FACTOR)
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
    Feature.BARRIER_IN_LOOP: 0.15,
    Feature.OVERLAPPING: 0.15,
    Feature.STRIDED: 0.15,
    Feature.NARROW: 0.10,
    Feature.LOOP_ELSE: 0.10,
    Feature.RETURN: 0.10,
    Feature.HELPER: 0.10,
    Feature.PLANE: 0.10,
    Feature.ATOMIC: 0.10,
}


def differences_on(kernel: GeneratedKernel, target: str) -> list[str]:
    compiled = Compiled(kernel)
    return compare_on(compiled, run_on(compiled, device(reference_for(target))), device(target))


def still_differs(kernel: GeneratedKernel, target: str) -> bool:
    try:
        return bool(differences_on(kernel, target))
    except CubeError:  # it lost a variable it needs, or the rule that kept it free of races
        return False


@pytest.mark.parametrize("target", cpu_targets())
def test_machine_code_gives_the_same_bits_as_the_reference(target: str) -> None:
    # a gang smaller than a plane has no plane operations
    smaller = gang_of(target) < device(target).target.features.plane_dim
    without = frozenset({Feature.PLANE}) if smaller else frozenset()

    @given(kernel=kernels(without=without, stream=target))
    @settings(only_new, max_examples=PER_TARGET)
    def check(kernel: GeneratedKernel) -> None:
        found = differences_on(kernel, target)
        if found:
            small = reduce_kernel(
                kernel, lambda one: still_differs(one, target), attempts=REDUCTION_ATTEMPTS
            )
            pytest.fail("\n".join([*found, "", "reduced:", str(small), "", "found:", str(kernel)]))

    check()


def test_kernels_exercise_what_they_are_for() -> None:
    count: collections.Counter[Feature] = collections.Counter()
    seen = 0

    @given(kernel=kernels(stream="shares"))
    @settings(only_new, max_examples=400)
    def collect(kernel: GeneratedKernel) -> None:
        nonlocal seen
        seen += 1
        count.update(kernel.features)

    collect()
    shares = {feature: count[feature] / seen for feature in SHARES}
    short = {f.value: shares[f] for f, wanted in SHARES.items() if shares[f] < wanted}
    assert not short
    strided_or_overlapping = count[Feature.STRIDED] + count[Feature.OVERLAPPING]
    assert strided_or_overlapping / seen >= 0.15


@pytest.mark.parametrize("seed", [0, 1, 12345, (1 << 32) - 1])
def test_a_seed_gives_the_same_kernel_again(seed: int) -> None:
    assert str(generate_kernel(seed)) == str(generate_kernel(seed))

"""Random kernels give the same bits on a wgpu device and on the reference.

Drivers take long to build a kernel, so few run here; `HYPOTHESIS_PROFILE=thorough` runs many. What
a kernel has that the device lacks, f64 and 64-bit atomics, makes it another's turn.
"""

from itertools import count

from hypothesis import settings

from cubepy.errors import UnsupportedError
from cubepy.runtime import device
from cubepy.testing import Compiled, compare_on, generate_kernel, reference_for, run_on
from tests.wgpu_devices import NAME, needs_wgpu

FACTOR = settings.default.max_examples // 100 if settings.default else 1
KERNELS = 6 * max(1, FACTOR)
SIZE = 9


@needs_wgpu
def test_random_kernels_agree_with_the_reference() -> None:
    machine, reference = device(NAME), device(reference_for(NAME))
    wrong: list[str] = []
    ran = 0
    for number in count():
        if ran == KERNELS:
            break
        compiled = Compiled(generate_kernel(number * 7919 + 29, size=SIZE))
        try:
            run_on(compiled, machine)
        except UnsupportedError:
            continue
        found = compare_on(compiled, run_on(compiled, reference), machine)
        wrong += [f"{number}: {each}" for each in found]
        ran += 1
    assert not wrong, "\n".join(wrong[:5])

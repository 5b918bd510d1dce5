"""Plants one mistake in this process and tries kernels until one shows it.

Run as a process of its own, since a kernel that a mistake spoiled may do anything: crash, or run on
and on. The arguments are the name and a number of kernels; prints what was found, or `nothing`.
"""

import itertools
import sys
from collections.abc import Iterator

import pytest

from cubepy import compiler
from cubepy.runtime import device
from cubepy.testing import (
    Compiled,
    GeneratedKernel,
    compare_on,
    cpu_targets,
    generate_kernel,
    reference_for,
    run_on,
)
from tests.property.miscompiles import MISCOMPILES, Miscompile

__all__ = ["candidates", "found_in"]

# small kernels: they compile fast, and there are as many loops and barriers in ten of them
SIZE = 14
# gangs of four units: several in most cubes, some of them partial
TARGET = next((name for name in cpu_targets() if name.endswith("gang=4")), "cpu")


def candidates(mistake: Miscompile) -> Iterator[GeneratedKernel]:
    """Kernels that can show a mistake, one that did ahead of the others."""
    others = (seed for seed in itertools.count() if seed != mistake.seen)
    for seed in itertools.chain([mistake.seen], others):
        kernel = generate_kernel(seed, size=SIZE)
        if mistake.needs <= kernel.features:
            yield kernel


def found_in(kernel: GeneratedKernel) -> list[str]:
    """What machine code gives other than the reference, compiled anew."""
    compiler.loaded.clear()
    compiled = Compiled(kernel)
    return compare_on(compiled, run_on(compiled, device(reference_for(TARGET))), device(TARGET))


def main(name: str, budget: int) -> None:
    """Try up to `budget` kernels."""
    (mistake,) = (each for each in MISCOMPILES if each.name == name)
    for number, kernel in enumerate(itertools.islice(candidates(mistake), budget)):
        with pytest.MonkeyPatch.context() as patch:
            mistake.plant(patch)
            print(f"seed {kernel.seed}, kernel {number + 1}:", flush=True)
            found = found_in(kernel)
        if found:
            assert not found_in(kernel), "the kernel is wrong without the mistake too"
            print("found", found[0])
            return
    print("nothing")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

"""What the CPU's code looks like where it matters: masks, blends and tests that are absent.

The text is LLVM IR as emitted. Each fact was worth a third of a kernel's time or more.
"""

import re

import numpy as np
import pytest

from cubepy.inspection import Inspection
from examples import kernels

X = np.zeros(1000, np.float32)
MATRIX = np.zeros((64, 64), np.float32)


def section(stages: Inspection, start: str, end: str) -> str:
    """The text from one label to another."""
    return stages.llvm.partition(f"\n{start}:")[2].partition(f"\n{end}:")[0]


def saxpy() -> Inspection:
    return kernels.saxpy.over(X.size).inspect(2.0, X, X.copy(), target="cpu:x86-64-v4")


def test_the_fast_version_has_no_masks_and_no_bounds_tests() -> None:
    fast = section(saxpy(), "fast", "careful")
    assert "fadd <16 x float>" in fast
    assert "masked" not in fast
    assert "icmp" not in fast


def test_the_careful_version_masks_every_access_of_one_vector_after_another() -> None:
    careful = section(saxpy(), "careful", "gang_next")
    assert len(re.findall(r"call <16 x float> @llvm\.masked\.load", careful)) == 2
    assert not re.search(r"load <16 x float>", careful)


def test_a_variable_nobody_reads_after_the_loop_is_not_blended() -> None:
    out = np.zeros((64, 64), np.int32)
    stages = kernels.mandelbrot.over(out.shape).inspect(
        -2.0, -1.5, 0.1, 100, out, target="cpu:x86-64-v4"
    )
    fast = section(stages, "fast", "careful")
    assert "select <16 x i1>" in fast  # the count is read after the loop
    assert not re.search(r"select <16 x i1> [^,]+, <16 x float>", fast)


def test_a_tile_of_one_gang_has_neither_segments_nor_gathers() -> None:
    stages = kernels.matmul[(4, 4), (16, 16)].inspect(
        MATRIX, MATRIX.copy(), MATRIX.copy(), target="cpu:x86-64-v4"
    )
    fast = section(stages, "fast", "careful")
    assert "gangs" not in stages.llvm
    assert "gather" not in fast


@pytest.mark.parametrize(
    ("machine", "lanes"), [("x86-64-v2", 4), ("x86-64-v3", 8), ("x86-64-v4", 16)]
)
def test_a_part_is_one_register_of_f32(machine: str, lanes: int) -> None:
    stages = kernels.saxpy.over(X.size).inspect(2.0, X, X.copy(), target=f"cpu:{machine}")
    assert f"fadd <{lanes} x float>" in stages.llvm


def test_decisions_say_what_was_chosen() -> None:
    texts = [str(each) for each in saxpy().decisions]
    assert "gangs of 64 units, 4 vectors of 16" in texts[0]
    assert any(text.startswith("x: tested once for a whole row") for text in texts)

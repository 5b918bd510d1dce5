"""Long kernels on the CPU: one test for a whole family of subscripts, blocks that are cut, and time
that grows with the length.
"""

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cubepy as cb
from cubepy import compiler, frontend
from cubepy.errors import OutOfBoundsError
from cubepy.target import Artifact
from tests.growth import assert_grows_less

DEVICES = ("cpu", "cpu:x86-64-v2+gang=4", "cpu:x86-64-v3")


@functools.cache
def kernel_of(statements: tuple[str, ...]) -> Any:
    names: dict[str, Any] = {"cb": cb}
    body = "\n".join(f"    {statement}" for statement in statements)
    cb.exec(f"@cb.cube\ndef kernel(x, c, out):\n    i = cb.ABSOLUTE_POS\n{body}\n", names)
    return names["kernel"]


def element(x: Any, place: int) -> int:
    return int(x[place]) if 0 <= place < len(x) else 0


ENDS = [2**63 - 1, -(2**63), 2**62, -(2**62), 2**31, 0]


@given(
    st.lists(st.integers(-9, 9) | st.sampled_from(ENDS), min_size=1, max_size=5),
    st.lists(st.integers(0, 9) | st.sampled_from([2**62, 2**63 - 1]), max_size=2),
    st.sampled_from([0, 1, 7, 40, 64, 100]),
    st.sampled_from([0, 1, -1, 5, -70, *ENDS]),
    st.sampled_from(DEVICES),
)
@settings(max_examples=40, deadline=None)
def test_subscripts_that_differ_by_numbers(
    offsets: list[int], fixed: list[int], length: int, c: int, device: str
) -> None:
    """A wrong test of the fast version would read beside the array, or leave something out."""
    statements = ["v = cb.index(0)"]
    statements += [f"v += cb.index(x[(i + c) + ({offset})])" for offset in offsets]
    statements += [f"v += cb.index(x[{place}])" for place in fixed]
    kernel = kernel_of((*statements, "out[i] = v"))
    guarded = np.arange(1000, 1000 + length + 256)
    x, out = guarded[128 : 128 + length], np.full(64, -1)
    kernel.over(64, device=device)(x, c, out)
    wrapped = [[(i + c + o + 2**63) % 2**64 - 2**63 for o in offsets] for i in range(64)]
    assert out.tolist() == [
        sum(element(x, place) for place in [*places, *fixed]) for places in wrapped
    ]


def test_stores_that_differ_by_numbers_stay_inside() -> None:
    offsets = (0, 3, -2, 40, -40)
    kernel = kernel_of(tuple(f"out[i + c + ({o})] = x[i]" for o in offsets))
    x = np.arange(64)
    for c in (0, -5, 30, 2**62, 2**63 - 1, -(2**63)):
        for device in DEVICES:
            memory = np.full(192, -7)
            kernel.over(64, device=device)(x, c, memory[64:128])
            assert (memory[:64] == -7).all()
            assert (memory[128:] == -7).all()
    with pytest.raises(OutOfBoundsError):
        kernel.over(64, check="validate")(x, 0, np.zeros(64, np.int64))


def test_a_kernel_of_many_blocks() -> None:
    """Every kind of statement, often enough that blocks are cut in all of them."""
    statements = ["v = x[i]", "w = x[i]"]
    for k in range(50):
        statements += [
            f"v = v * {k % 5 + 1} + x[{k}]",
            f"out[i] = out[i] ^ (v + {k})",
            f"if x[i] % {k % 7 + 2} == 0:",
            f"    w += x[i + {k}] - v",
        ]
    kernel = kernel_of((*statements, "out[i] += w"))
    x = np.arange(90) * 77 - 999
    for device in DEVICES[:2]:
        out = np.arange(70)
        kernel.over(70, device=device)(x, 0, out)
        expected = np.arange(70)
        v, w = x[:70].copy(), x[:70].copy()
        for k in range(50):
            v = v * (k % 5 + 1) + element(x, k)
            expected ^= v + k
            moved = np.array([element(x, i + k) for i in range(70)])
            w = np.where(x[:70] % (k % 7 + 2) == 0, w + moved - v, w)
        assert (out == expected + w).all()


# ── time ─────────────────────────────────────────────────────────────────────────────────────────


def sum_chain(count: int) -> str:
    lines = "".join(f"    v = v * {k}.5 + x[{k}]\n" for k in range(count))
    return f"    v = x[i]\n{lines}    out[i] = v\n"


def updates_in_place(count: int) -> str:
    return "".join(f"    out[i] += x[i] * {k}.5\n" for k in range(count))


def neighbours(count: int) -> str:
    return "".join(f"    v{k} = x[i] * {k}.5\n    out[i + {k}] = v{k}\n" for k in range(count))


def compiled(text: str) -> Artifact:
    """All stages up to the machine code, nothing from a cache."""
    names: dict[str, Any] = {"cb": cb}
    cb.exec(f"def kernel(x, out):\n    i = cb.ABSOLUTE_POS\n{text}", names)
    source = frontend.capture(names["kernel"])
    arguments = {name: np.zeros(8, np.float32) for name in ("x", "out")}
    options = frontend.LaunchOptions(cube_dim=(256, 1, 1), over_rank=1)
    device = cb.device("cpu")
    specialization = frontend.specialize(source, arguments, options)
    artifact = compiler.build(source, specialization, device.target).artifact
    device.compile(artifact)
    return artifact


@pytest.mark.parametrize("body", [sum_chain, updates_in_place, neighbours])
def test_compile_time_grows_with_the_length(body: Any) -> None:
    # 49 times for a quadratic one
    assert_grows_less(lambda: compiled(body(40)), lambda: compiled(body(280)), 7 * 2.5)

"""Loops of units that stride over a range together: parted where nothing changes, else kept."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cubepy.interp import HostMemory, run
from cubepy.ir import F32, I32, Kernel, ops, parse_kernel, verify, walk
from cubepy.passes import PassContext, separate_whole_turns
from cubepy.runtime import ArrayBinding, Grid, ScalarBinding
from cubepy.target import Target

CONTEXT = PassContext(target=Target.parse("cpu:x86-64-v3"))  # planes of 8 units
CUBE, CUBES = 24, 2
KERNEL = """
kernel @k(%x: global<f32, [1], unknown, 0>, %out: global<f32, [1], unknown, 1>, %n: i32)
    cube_dim(24, 1, 1) {{
  %i: index = absolute_pos
  %lane: index = {lane}
  %stop: index = cast %n [to=index]
  %step: index = const {step}
  %half: f32 = const 0.5
  %total: slot<f32> = local [element=f32]
  store_local %total, %half
  for %lane, {stop}, %step (%j: index) {{
    %0: f32 = load %x, %j [check=checked]
    %1: f32 = load_local %total
    %2: f32 = mul %1, %half
    %3: f32 = add %0, %2
    store_local %total, %3
    {more}
  }}
  %4: f32 = load_local %total
  store %out, %i, %4 [check=checked]
}}
"""


def kernel(lane: str = "unit_pos", step: int = CUBE, stop: str = "%stop", more: str = "") -> Kernel:
    made = parse_kernel(KERNEL.format(lane=lane, step=step, stop=stop, more=more))
    verify(made)
    return made


def binding(array: np.ndarray[Any, Any]) -> ArrayBinding:
    return ArrayBinding(
        memory=HostMemory(owner=array, address=array.ctypes.data), element=F32, offset=0,
        shape=array.shape, strides=(1,),
    )  # fmt: skip


def computed(made: Kernel, n: int) -> np.ndarray[Any, Any]:
    x = np.arange(100, dtype=np.float32) + 1
    out = np.zeros(CUBES * CUBE, np.float32)
    grid = Grid(cube_count=(CUBES, 1, 1), extent=(CUBES * CUBE, 1, 1))
    run(made, grid, (binding(x), binding(out), ScalarBinding(element=I32, value=n)))
    return out


def loops(made: Kernel) -> list[Any]:
    return [op for op in walk(made.body) if op.opdef is ops.FOR]


@given(
    lane=st.sampled_from([("unit_pos", CUBE), ("unit_pos_x", CUBE), ("unit_pos_plane", 8)]),
    beyond=st.integers(0, 9),
    n=st.integers(-40, 130),
)
def test_each_unit_takes_its_turns_in_their_order(
    lane: tuple[str, int], beyond: int, n: int
) -> None:
    name, units = lane
    before = kernel(name, units + beyond)
    after = separate_whole_turns(before, CONTEXT)
    verify(after)
    (loop,) = loops(after)
    assert loop.operands[0].opdef is ops.CONST
    np.testing.assert_array_equal(computed(after, n), computed(before, n))


@pytest.mark.parametrize("n", [-(1 << 31), (1 << 31) - 1])
def test_a_loop_over_what_its_own_array_is_long(n: int) -> None:
    long = "%long"
    text = KERNEL.format(lane="unit_pos", step=CUBE, stop=long, more="")
    text = text.replace("  %half:", "  %long: index = length %x [axis=0]\n  %half:")
    before = parse_kernel(text)
    after = separate_whole_turns(before, CONTEXT)
    assert loops(after)[0].operands[0].opdef is ops.CONST
    np.testing.assert_array_equal(computed(after, n), computed(before, n))


@pytest.mark.parametrize(
    ("lane", "step", "stop", "more"),
    [
        ("unit_pos", CUBE - 1, "%stop", ""),  # a turn does not leave all units behind
        ("unit_pos", -CUBE, "%stop", ""),
        ("unit_pos_y", CUBE, "%stop", ""),  # one unit along y: all begin together
        ("absolute_pos", CUBE, "%stop", ""),
        ("unit_pos", CUBE, "%any", ""),  # less the units of a cube it could wrap around
        ("unit_pos", CUBE, "%stop", "break"),
        ("unit_pos", CUBE, "%stop", "sync_cube"),
        ("unit_pos", CUBE, "%stop", "%5: f32 = plane_sum %3"),
    ],
)
def test_other_loops_stay(lane: str, step: int, stop: str, more: str) -> None:
    text = KERNEL.format(lane=lane, step=step, stop=stop, more=more)
    made = parse_kernel(text.replace("%n: i32", "%n: i32, %any: index"))
    assert separate_whole_turns(made, CONTEXT) is made

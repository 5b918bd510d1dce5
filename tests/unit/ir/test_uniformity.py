"""What the uniformity analysis finds in small kernels written as IR text.

Names in the text (`%i`) find the ops again. Units run along x, as in a gang of neighbours.
"""

from collections.abc import Mapping

import pytest

from cubepy.ir import Kernel, Op, Trait, ops, parse_kernel, walk
from cubepy.ir.analyses import UNIFORM, VARYING, Shape, Uniformity, analyze_uniformity, part

HEAD = "kernel @k(%n: index, %x: global<f32, [1], read, 0>, %y: global<f32, [1], write, 1>)"


def kernel(body: str) -> Kernel:
    return parse_kernel(f"{HEAD} cube_dim(64, 1, 1) {{\n{body}\n}}")


def seed(op: Op) -> Shape:
    return part(1) if op.opdef.has(Trait.VARYING) else UNIFORM


def analyze(text: str) -> tuple[Kernel, Uniformity]:
    made = kernel(text)
    found = analyze_uniformity(
        made.body, params=made.params, seed=seed, uniform_load=lambda memory: True
    )
    return made, found


def named(made: Kernel) -> Mapping[str, Op]:
    return {op.name: op for op in walk(made.body) if op.name}


def only(made: Kernel, row: object) -> Op:
    (op,) = (op for op in walk(made.body) if op.opdef is row)
    return op


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ("%v: index = add %i, %n", part(1)),
        ("%v: index = sub %n, %i", part(-1)),
        ("%c: index = const 3\n%v: index = mul %i, %c", part(3)),
        ("%v: index = mul %i, %n", VARYING),
        ("%v: index = neg %i", part(-1)),
        ("%v: index = sub %i, %i", part(0)),
        ("%v: index = floor_div %i, %n", VARYING),
        ("%v: bool = lt %i, %n", VARYING),
        ("%v: i32 = cast %i [to=i32]", part(1)),
        ("%a: i32 = cast %i [to=i32]\n%v: index = cast %a [to=index]", VARYING),
        ("%v: f32 = load %x, %i [check=checked]", VARYING),
        ("%v: f32 = load %x, %n [check=checked]", UNIFORM),
        ("%v: index = length %x [axis=0]", UNIFORM),
    ],
)
def test_shapes_follow_from_operands(body: str, shape: Shape) -> None:
    made, found = analyze(f"%i: index = absolute_pos\n{body}")
    assert found.shape(named(made)["v"]) == shape


LOOP_WITH_BREAK = """
%i: index = absolute_pos
%zero: f32 = const 0.0
%kept: slot<f32> = local [element=f32]
store_local %kept, %zero
%lost: slot<f32> = local [element=f32]
store_local %lost, %zero
%first: index = const 0
%one: index = const 1
for %first, %n, %one (%k: index) {
  %v: f32 = load %x, %i [check=checked]
  %c: bool = gt %v, %zero
  if %c {
    break
  }
  %w: f32 = load %x, %k [check=checked]
  store_local %kept, %w
  store_local %lost, %w
  %again: f32 = load_local %lost
  store %y, %i, %again [check=checked]
}
%last: f32 = load_local %kept
store %y, %i, %last [check=checked]
"""


def test_a_loop_some_units_leave_is_divergent_and_its_variable_is_not() -> None:
    made, found = analyze(LOOP_WITH_BREAK)
    loop = only(made, ops.FOR)
    assert loop in found.divergent
    assert found.shape(loop.regions[0].params[0]) == UNIFORM
    assert only(made, ops.BREAK) not in found.jumps
    assert only(made, ops.IF) in found.thins


def test_only_what_is_read_after_the_loop_is_blended() -> None:
    made, found = analyze(LOOP_WITH_BREAK)
    slots = named(made)
    blended = {op.operands[0] for op in found.blends}
    assert blended == {slots["kept"]}
    assert found.slots[slots["kept"]] == VARYING
    assert found.slots[slots["lost"]] == UNIFORM


def test_a_break_that_all_units_take_is_a_jump() -> None:
    made, found = analyze(
        """
        %first: index = const 0
        %one: index = const 1
        for %first, %n, %one (%k: index) {
          %c: bool = gt %k, %one
          if %c {
            break
          }
        }
        """
    )
    assert only(made, ops.BREAK) in found.jumps
    assert only(made, ops.FOR) not in found.divergent


def test_a_variable_of_a_uniform_loop_in_a_divergent_branch_stays_uniform() -> None:
    made, found = analyze(
        """
        %i: index = absolute_pos
        %c: bool = lt %i, %n
        if %c {
          %first: index = const 0
          %one: index = const 1
          %s: slot<index> = local [element=index]
          store_local %s, %first
          for %first, %n, %one (%k: index) {
            %t: index = load_local %s
            %u: index = add %t, %k
            store_local %s, %u
          }
          %e: index = load_local %s
          %v: f32 = load %x, %e [check=checked]
          store %y, %i, %v [check=checked]
        }
        """
    )
    assert found.slots[named(made)["s"]] == UNIFORM
    assert found.shape(named(made)["v"]) == UNIFORM


def test_an_assignment_in_one_arm_is_blended_if_the_other_arm_reads_it() -> None:
    made, found = analyze(
        """
        %i: index = absolute_pos
        %c: bool = lt %i, %n
        %s: slot<index> = local [element=index]
        store_local %s, %n
        if %c {
          store_local %s, %i
        } else {
          %t: index = load_local %s
          %v: f32 = cast %t [to=f32]
          store %y, %i, %v [check=checked]
        }
        """
    )
    assert {op.operands[0] for op in found.blends} == {named(made)["s"]}


def test_a_parting_continue_keeps_what_the_next_trip_reads() -> None:
    made, found = analyze(
        """
        %i: index = absolute_pos
        %s: slot<index> = local [element=index]
        store_local %s, %n
        %first: index = const 0
        %one: index = const 1
        for %first, %n, %one (%k: index) {
          %t: index = load_local %s
          %c: bool = lt %i, %t
          if %c {
            continue
          }
          store_local %s, %k
        }
        """
    )
    loop = only(made, ops.FOR)
    assert loop in found.parted_continue
    assert loop not in found.divergent
    assert {op.operands[0] for op in found.blends} == {named(made)["s"]}


def test_a_return_of_some_units_thins_everything_it_crosses() -> None:
    made, found = analyze(
        """
        %i: index = absolute_pos
        %first: index = const 0
        %one: index = const 1
        for %first, %n, %one (%k: index) {
          %c: bool = lt %i, %k
          if %c {
            return
          }
        }
        %v: f32 = const 1.0
        store %y, %i, %v [check=checked]
        """
    )
    assert only(made, ops.FOR) in found.thins
    assert only(made, ops.FOR) in found.divergent
    assert only(made, ops.IF) in found.thins


def test_an_assumed_condition_is_uniform_and_only_its_arm_counts() -> None:
    made = kernel(
        """
        %i: index = absolute_pos
        %c: bool = lt %i, %n
        if %c {
          %v: f32 = const 1.0
          store %y, %i, %v [check=checked]
        } else {
          return
        }
        """
    )
    found = analyze_uniformity(
        made.body,
        params=made.params,
        seed=seed,
        uniform_load=lambda memory: True,
        assumed={named(made)["c"]: True},
    )
    assert found.shape(named(made)["c"]) == UNIFORM
    assert not found.divergent
    assert not found.thins

"""The pipeline: order seen by an observer, checks after every pass, errors that name their pass."""

from collections.abc import Callable

import pytest

from cubepy.errors import CubeValueError, VerifyError
from cubepy.ir import LEVELS, Kernel, Region, parse_kernel, print_kernel
from cubepy.passes import PIPELINES, PassContext, inline_functions, level_of, pipeline, run
from cubepy.target import Target

CPU = Target.parse("cpu:x86-64-v3")
TEXT = """
kernel @k(%a: f32, %x: global<f32, [1], unknown, 0>) cube_dim(8, 1, 1) {
  %i: index = absolute_pos
  %0: f32 = neg %a
  store %x, %i, %0 [check=checked]
}
"""


@pytest.mark.parametrize("name", sorted(PIPELINES))
def test_an_observer_sees_every_pass_in_order(name: str) -> None:
    seen: list[str] = []
    kernels: list[Kernel] = []

    def observe(step: str, kernel: Kernel) -> None:
        seen.append(step)
        kernels.append(kernel)

    lowered = parse_kernel(TEXT)
    made = run(lowered, Target.parse(name), observe=observe)
    assert seen == ["lowered", *(step.__name__ for step in PIPELINES[name])]
    assert kernels[0] is lowered
    assert kernels[-1] is made


def test_a_kernel_that_is_done_stays_the_very_same() -> None:
    made = run(parse_kernel(TEXT), CPU)
    assert run(made, CPU) is made


def breaking(kernel: Kernel, context: PassContext) -> Kernel:
    raise ZeroDivisionError("in a pass")


def losing(kernel: Kernel, context: PassContext) -> Kernel:
    """Forgets an op that is used."""
    body = Region(ops=kernel.body.ops[1:])
    return Kernel(name="k", params=kernel.params, body=body)


@pytest.mark.parametrize(("step", "error"), [(breaking, ZeroDivisionError), (losing, VerifyError)])
def test_an_error_names_its_pass_and_shows_the_kernel(
    step: Callable[[Kernel, PassContext], Kernel],
    error: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pipeline, "PIPELINES", {"cpu": (step,)})
    kernel = parse_kernel(TEXT)
    with pytest.raises(error) as caught:
        run(kernel, CPU, check=True)
    assert step.__name__ in caught.value.__notes__[-1]
    assert print_kernel(kernel) in caught.value.__notes__[-1]


def test_the_level_of_a_target_takes_its_native_ops() -> None:
    assert level_of(CPU) == LEVELS["flat"]
    assert level_of(CPU, frozenset({"exp"})) == LEVELS["flat"] | {"exp"}


def test_helpers_that_call_each_other_too_often_are_an_error_with_a_place() -> None:
    functions = ["function @f0(%v: f32) -> f32 { %w: f32 = neg %v return %w }"]
    for number in range(1, 20):
        call = f'call %v [callee=f{number - 1}, results="f32"]'
        again = f'call %0 [callee=f{number - 1}, results="f32"]'
        functions.append(
            f"function @f{number}(%v: f32) -> f32 {{ %0: f32 = {call} "
            f"%1: f32 = {again} return %1 }}"
        )
    text = "\n".join(functions) + (
        'kernel @k(%a: f32) cube_dim(1, 1, 1) !0 { %r: f32 = call %a [callee=f19, results="f32"] }'
        '\n!0 = "kernel.py" 3:0-3:9\n'
    )
    with pytest.raises(CubeValueError, match="more than 50,000 operations") as caught:
        inline_functions(parse_kernel(text), PassContext(target=CPU))
    assert caught.value.loc.line == 3

"""The verifier accepts what is well formed and names what is not."""

import pytest

from cubepy.errors import VerifyError
from cubepy.ir import (
    F32,
    I32,
    NO_ATTRS,
    VOID,
    Function,
    Kernel,
    Op,
    Region,
    falls_through,
    freeze_attrs,
    ops,
    param,
    parse_kernel,
    print_kernel,
    verify,
)
from cubepy.records import replace

PARAMS = "%a: f32, %n: index, %c: bool, %x: global<f32, [1], unknown, 0>"


def kernel(body: str, functions: str = "") -> Kernel:
    return parse_kernel(f"{functions}\nkernel @k({PARAMS}) cube_dim(8, 1, 1) {{\n{body}\n}}")


WELL_FORMED = [
    "if %c { return }",
    "while { yield %c } do { if %c { break } else { continue } }",
    "block { while { yield %c } do { block { leave } leave } }",
    "for %n, %n, %n (%i: index) { %v: f32 = load %x, %i [check=checked] }",
    "%s: slot<f32> = local [element=f32] store_local %s, %a %v: f32 = load_local %s",
]


@pytest.mark.parametrize("body", WELL_FORMED)
def test_well_formed_kernels_are_accepted(body: str) -> None:
    verify(kernel(body))


ILL_FORMED = [
    ("if %c { %v: f32 = neg %a } %w: f32 = neg %v", "not visible"),
    ("while { %v: f32 = neg %a yield %c } do { %w: f32 = neg %v }", "not visible"),
    ("for %n, %n, %n (%i: index) {} %j: index = neg %i", "not visible"),
    ("%v: i32 = neg %a", "should have the type f32"),
    ("%v: f32 = add %a, %n", "expects operands of one type"),
    ("%v: f32 = add %a", "has 1 operands"),
    ("%v: f32 = const [type=f32]", "lacks 'value'"),
    ("%v: i8 = const 200", "does not fit i8"),
    ("store %x, %n, %a", "has check None"),
    ("store %x, %n, %a [check=maybe]", "has check 'maybe'"),
    ("%v: f32 = atomic_add %x, %n, %a [check=checked]", "has order None"),
    ("return sync_cube", "ops follow"),
    ("return %a", "returns"),
    ("break", "outside a loop"),
    ("while { break } do {}", "outside a loop"),
    ("while { yield %c } do { while { continue } do {} }", "outside a loop"),
    ("leave", "outside a block"),
    ("block { while { leave } do {} }", "outside a block"),
    ("while {} do {}", "does not end in yield"),
    ("yield %c", "stray yield"),
    ("while { if %c { yield %c } yield %c } do {}", "stray yield"),
    ("for %n, %n, %n {}", "has parameters"),
    ("for %n, %n, %n (%i: i32) {}", "has parameters"),
    ("if %c (%i: index) {}", "has parameters"),
    ('%s: slot<f32> = local [element=f32] call %s [callee=f, results=""]', "does not fit"),
    ('call %a [callee=g, results=""]', "calls 'g'"),
    ('call %n [callee=f, results=""]', "does not fit"),
    ('%v: f32 = call %a [callee=f, results="f32"]', "does not fit"),
    ("%s: slot<f32> = local [element=f32] %t: slot<f32> = select %c, %s, %s", "expects one of"),
    ("%v: index = length %x [axis=1]", "axis 1 of rank 1"),
    ("sync_cube {}", "has 1 regions"),
]


@pytest.mark.parametrize(("body", "message"), ILL_FORMED)
def test_ill_formed_kernels_are_refused(body: str, message: str) -> None:
    made = kernel(body, "function @f(%v: f32) -> void {}")
    with pytest.raises(VerifyError) as caught:
        verify(made)
    assert message in str(caught.value)
    assert caught.value.__notes__ == [print_kernel(made)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return", "returns ()"),
        ("if %v { %0: f32 = const 1.0 return %0 }", "without a return"),
        ("while { yield %v } do { %0: f32 = const 1.0 return %0 }", "without a return"),
        ("%0: i32 = const 1 return %0", "returns"),
    ],
)
def test_functions_return_what_they_say(body: str, message: str) -> None:
    made = kernel("", f"function @f(%v: bool) -> f32 {{ {body} }}")
    with pytest.raises(VerifyError, match=message.replace("(", r"\(").replace(")", r"\)")):
        verify(made)


def test_recursion_and_two_functions_of_one_name_are_refused() -> None:
    with pytest.raises(VerifyError, match="calls 'f'"):
        verify(kernel("", 'function @f() -> void { call [callee=f, results=""] }'))
    with pytest.raises(VerifyError, match="two functions"):
        verify(kernel("", "function @f() -> void {} function @f() -> void {}"))


def test_an_op_occurs_once() -> None:
    attrs = freeze_attrs({"type": I32, "value": 1})
    one = Op(opdef=ops.CONST, type=I32, attrs=attrs)
    with pytest.raises(VerifyError, match="occurs twice"):
        verify(Kernel(name="k", params=(), body=Region(ops=(one, one))))


def test_parameters_are_scalars_and_buffers_of_different_names() -> None:
    twice = (param("a", F32), param("a", I32))
    with pytest.raises(VerifyError, match="two parameters of one name"):
        verify(Kernel(name="k", params=twice, body=Region()))
    with pytest.raises(VerifyError, match="is void"):
        verify(Kernel(name="k", params=(param("a", VOID),), body=Region()))
    const = Op(opdef=ops.CONST, type=F32, attrs=NO_ATTRS, name="v")
    function = Function(name="f", params=(const,), result=VOID, body=Region())
    with pytest.raises(VerifyError, match="no parameter"):
        verify(Kernel(name="k", params=(), body=Region(), functions=(function,)))


@pytest.mark.parametrize(
    ("body", "level"),
    [
        ("block {}", "lowered"),
        ("%v: f32 = exp %a", "expanded"),
        ("%v: f32 = exp %a", "flat"),
        ('call %a [callee=f, results=""]', "flat"),
    ],
)
def test_a_level_permits_its_ops_only(body: str, level: str) -> None:
    made = kernel(body, "function @f(%v: f32) -> void {}")
    verify(made)
    with pytest.raises(VerifyError, match="not permitted"):
        verify(made, level)


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ("", True),
        ("return", False),
        ("if %c { return }", True),
        ("if %c { return } else { return }", False),
        ("%t: bool = const true while { yield %t } do {}", False),
        ("%t: bool = const true while { yield %t } do { if %c { break } }", True),
        ("%t: bool = const true while { yield %t } do { while { yield %c } do { break } }", False),
        ("while { yield %c } do { return }", True),
        ("block { return }", False),
        ("block { if %c { leave } return }", True),
        ("block { block { leave } return }", False),
    ],
)
def test_whether_the_end_of_a_region_is_reached(body: str, end: bool) -> None:  # noqa: FBT001
    assert falls_through(kernel(body).body) is end


def test_ops_known_to_be_sound_must_still_stand_where_they_may() -> None:
    sound: set[Op] = set()
    made = kernel("%s: f32 = add %a, %a %t: f32 = mul %s, %a store %x, %n, %t [check=checked]")
    verify(made, sound=sound)
    first, second, last = made.body.ops
    assert sound == {first, second, last}
    verify(made, sound=sound)
    for wrong, complaint in (
        ((second, first, last), "not visible"),
        ((first, second, second, last), "occurs twice"),
        ((first, last), "not visible"),
    ):
        with pytest.raises(VerifyError, match=complaint):
            verify(replace(made, body=Region(ops=wrong)), sound=sound)
    with pytest.raises(VerifyError, match="not permitted"):
        verify(made, frozenset({"add", "store"}), sound=sound)


def test_what_a_pass_adds_is_looked_at_among_ops_known_to_be_sound() -> None:
    sound: set[Op] = set()
    made = kernel("%s: f32 = add %a, %a")
    verify(made, sound=sound)
    (first,) = made.body.ops
    ill = Op(opdef=ops.ADD, operands=(first, first), type=I32)
    with pytest.raises(VerifyError, match="should have the type f32"):
        verify(replace(made, body=Region(ops=(first, ill))), sound=sound)
    assert ill not in sound

"""Ranges: intervals hold every value an op can give; only subscripts that are inside are found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cubepy.ir import I8, U8, OpDef, Scalar, analyze_ranges, ops, parse_kernel, verify, walk
from cubepy.ir.intervals import TRANSFERS, meet, union, whole

PARAMS = (
    "%x: global<f32, [1], unknown, 0>, %y: global<f32, [1], unknown, 1>, "
    "%t: global<f32, [?,1], unknown, 2>, %b: global<u8, [1], unknown, 3>, "
    "%m: index, %h: i32, %c: bool, %v: f32"
)


@given(
    opdef=st.sampled_from(sorted(TRANSFERS, key=lambda row: row.name)),
    type=st.sampled_from([I8, U8]),
    bounds=st.tuples(*[st.integers(-128, 255)] * 4),
)
def test_an_interval_holds_every_value(
    opdef: OpDef, type: Scalar, bounds: tuple[int, int, int, int]
) -> None:
    low, high = whole(type)
    clipped = [min(max(bound, low), high) for bound in bounds]
    a, b = sorted(clipped[:2]), sorted(clipped[2:])
    left = np.arange(a[0], a[1] + 1).astype(type.numpy)[:, None]
    right = np.arange(b[0], b[1] + 1).astype(type.numpy)[None, :]
    assert opdef.evaluate is not None
    with np.errstate(all="ignore"):
        results = opdef.evaluate(left, right, type=type, attrs={})
    found = TRANSFERS[opdef](type, (a[0], a[1]), (b[0], b[1]))
    assert found[0] <= results.min()
    assert results.max() <= found[1]


def test_union_and_meet() -> None:
    assert union((1, 3), (5, 9)) == (1, 9)
    assert meet((1, 6), (5, 9)) == (5, 6)
    assert meet((1, 3), (5, 9)) == (1, 1)


SETUP = """
  %i: index = absolute_pos
  %nx: index = length %x [axis=0]
  %ny: index = length %y [axis=0]
  %0: index = const 0
  %1: index = const 1
  %2: index = const 2
  %3: index = const 3
  %8: index = const 8
"""
LOAD = "%l: f32 = load %x, {} [check=checked]"


def guarded(*conditions: str, index: str = "%i", before: str = "") -> str:
    """A load of x under several conditions, one inside the other."""
    heads = [
        f"%c{number}: bool = {text} if %c{number} {{" for number, text in enumerate(conditions)
    ]
    return f"{before} {' '.join(heads)} {LOAD.format(index)} {'}' * len(heads)}"


def counting(start: str, condition: str, change: str, *, body: str = "") -> str:
    """`while condition: x[n]; change`, with a variable n."""
    return f"""
    %s: slot<index> = local [element=index]
    store_local %s, {start}
    while {{ %n: index = load_local %s %w: bool = {condition} yield %w }} do {{
      %k: index = load_local %s {body} {LOAD.format("%k")}
      %now: index = load_local %s %next: index = {change} store_local %s, %next
    }}"""


INSIDE = {
    "position below the length": guarded("lt %i, %nx"),
    "position not at or above": guarded("ge %i, %nx").replace("if %c0 {", "if %c0 {} else {"),
    "negated": guarded("ge %i, %nx").replace("if %c0 {", "%z: bool = bit_not %c0 if %z {"),
    "after an early return": "%p: bool = ge %i, %nx if %p { return } " + LOAD.format("%i"),
    "mirrored": guarded("gt %nx, %i"),
    "below the length less one": guarded(
        "lt %i, %last", index="%up",
        before="%last: index = sub %nx, %1 %up: index = add %i, %1",
    ),
    "neighbour below the length": guarded("lt %up, %nx", before="%up: index = add %i, %1"),
    "neighbour above zero": guarded(
        "lt %i, %nx", "gt %i, %0", index="%d", before="%d: index = sub %i, %1"
    ),
    "two-sided": guarded("ge %m, %0", "lt %m, %nx", index="%m"),
    "both of an and": guarded("bit_and %p, %q", index="%m",
                              before="%p: bool = ge %m, %0 %q: bool = lt %m, %nx"),
    "neither of an or": (
        "%p: bool = lt %m, %0 %q: bool = ge %m, %nx %o: bool = bit_or %p, %q "
        "if %o { return } " + LOAD.format("%m")
    ),
    "smaller of two": guarded(
        "lt %0, %nx", index="%d",
        before="%last: index = sub %nx, %1 %d: index = min %i, %last",
    ),
    "clamped": guarded(
        "gt %nx, %0", index="%d",
        before="%last: index = sub %nx, %1 %u: index = max %m, %0 %d: index = min %u, %last",
    ),
    "backwards": guarded(
        "lt %i, %nx", index="%d", before="%last: index = sub %nx, %1 %d: index = sub %last, %i"
    ),
    "remainder": guarded("gt %nx, %0", index="%d", before="%d: index = floor_mod %m, %nx"),
    "half": guarded("lt %i, %nx", index="%d", before="%d: index = floor_div %i, %2"),
    "rounded down to a multiple": guarded(
        "lt %i, %nx", index="%d",
        before="%q: index = floor_div %i, %8 %d: index = mul %q, %8",
    ),
    "of another array of equal length": guarded("lt %i, %ny", "eq %nx, %ny"),
    "through a third value": guarded("lt %i, %m", "le %m, %nx"),
    "a narrower integer": guarded(
        "ge %h, %zero", "lt %wide, %nx", index="%wide",
        before="%zero: i32 = const 0 %wide: index = cast %h [to=index]",
    ),
    "chosen": guarded("lt %i, %nx", index="%d", before="%d: index = select %c, %i, %0"),
    "loop over the length": f"for %0, %nx, %1 (%j: index) {{ {LOAD.format('%j')} }}",
    "loop with a stride": f"for %i, %nx, %8 (%j: index) {{ {LOAD.format('%j')} }}",
    "loop backwards": (
        "%last: index = sub %nx, %1 %minus: index = const -1 "
        f"for %last, %minus, %minus (%j: index) {{ {LOAD.format('%j')} }}"
    ),
    "shared memory of known shape": (
        "%a: shared<f32, [8]> = shared [element=f32, shape=(8)] %u: index = unit_pos "
        "%l: f32 = load %a, %u [check=checked]"
    ),
    "bins of a byte": (
        "%a: shared<u32, [256]> = shared [element=u32, shape=(256)] "
        "%f: u8 = load %b, %i [check=unchecked] %w: index = cast %f [to=index] "
        "%l: u32 = load %a, %w [check=checked]"
    ),
    "both axes": (
        "%r: index = length %t [axis=0] %w: index = length %t [axis=1] "
        "%p: bool = lt %i, %r %q: bool = lt %m, %w %g: bool = ge %m, %0 %o: bool = bit_and %p, %q "
        "%e: bool = bit_and %o, %g if %e { %l: f32 = load %t, %i, %m [check=checked] }"
    ),
    "counting up": counting("%i", "lt %n, %nx", "add %now, %1"),
    "counting up in strides": counting("%0", "lt %n, %nx", "add %now, %8"),
    "counting down": guarded("lt %i, %nx").replace(
        LOAD.format("%i"), counting("%i", "ge %n, %0", "sub %now, %1")
    ),
    "after a variable that stays": (
        "%s: slot<index> = local [element=index] store_local %s, %i "
        "%k: index = load_local %s %p: bool = lt %k, %nx "
        "if %p { %again: index = load_local %s %l: f32 = load %x, %again [check=checked] }"
    ),
    "short circuit through a variable": (
        "%s: slot<bool> = local [element=bool] %p: bool = ge %m, %0 store_local %s, %p "
        "if %p { %q: bool = lt %m, %nx store_local %s, %q } %o: bool = load_local %s "
        "if %o { %l: f32 = load %x, %m [check=checked] }"
    ),
    "a loop left when outside": (
        f"for %0, %m, %1 (%j: index) {{ %p: bool = ge %j, %nx if %p {{ break }} "
        f"{LOAD.format('%j')} }}"
    ),
}  # fmt: skip

OUTSIDE = {
    "no guard": LOAD.format("%i"),
    "length of another array": guarded("lt %i, %ny"),
    "at most the length": guarded("le %i, %nx"),
    "the other arm": guarded("lt %i, %nx").replace("if %c0 {", "if %c0 {} else {"),
    "may be negative": guarded("lt %m, %nx", index="%m"),
    "one further": guarded("lt %i, %nx", index="%up", before="%up: index = add %i, %1"),
    "one before": guarded("lt %i, %nx", index="%d", before="%d: index = sub %i, %1"),
    "wraps around": guarded(
        "lt %up, %nx", "ge %m, %0", index="%m", before="%up: index = add %m, %1"
    ),
    "one of an or": guarded("bit_or %p, %q", index="%i",
                            before="%p: bool = lt %i, %nx %q: bool = lt %i, %ny"),
    "after the guard": "%p: bool = lt %i, %nx if %p { sync_cube } " + LOAD.format("%i"),
    "remainder by what may be zero": "%d: index = floor_mod %m, %nx " + LOAD.format("%d"),
    "truncating": guarded(
        "lt %i, %nx", index="%w", before="%n8: i8 = cast %i [to=i8] %w: index = cast %n8 [to=index]"
    ),
    "loop beyond": (
        f"%more: index = add %nx, %1 for %0, %more, %1 (%j: index) {{ {LOAD.format('%j')} }}"
    ),
    "loop from below": f"for %m, %nx, %1 (%j: index) {{ {LOAD.format('%j')} }}",
    "variable changed after the test": counting(
        "%i", "lt %n, %nx", "add %now, %1",
        body="%e: index = add %k, %1 store_local %s, %e %k2: index = load_local %s",
    ).replace("load %x, %k ", "load %x, %k2 "),
    "counting down and up": guarded("lt %i, %nx").replace(
        LOAD.format("%i"),
        counting("%i", "ge %n, %0", "sub %now, %1", body="if %c { store_local %s, %m }"),
    ),
    "changed in one arm": (
        "%s: slot<index> = local [element=index] store_local %s, %i %p: bool = lt %i, %nx "
        "if %p { if %c { store_local %s, %m } %k: index = load_local %s "
        "%l: f32 = load %x, %k [check=checked] }"
    ),
    "known only where the loop ends by itself": (
        "%s: slot<index> = local [element=index] store_local %s, %0 "
        "while { %n: index = load_local %s %w: bool = ge %n, %nx yield %w } do { "
        "if %c { break } %e: index = add %n2, %1 store_local %s, %e } "
        "%k: index = load_local %s %l: f32 = load %x, %k [check=checked]"
    ).replace("%e: index = add %n2", "%n2: index = load_local %s %e: index = add %n2"),
    "shared memory of one unit less": (
        "%a: shared<f32, [7]> = shared [element=f32, shape=(7)] %u: index = unit_pos "
        "%l: f32 = load %a, %u [check=checked]"
    ),
    "one axis of two": (
        "%r: index = length %t [axis=0] %p: bool = lt %i, %r "
        "if %p { %l: f32 = load %t, %i, %i [check=checked] }"
    ),
}  # fmt: skip


def test_the_size_of_planes_tells_where_they_end() -> None:
    text = (
        "%first: shared<f32, [2]> = shared [element=f32, shape=(2)] %q: index = plane_pos "
        "%other: shared<f32, [4]> = shared [element=f32, shape=(4)] %w: index = unit_pos_plane "
        "%l: f32 = load %first, %q [check=checked] %k: f32 = load %other, %w [check=checked]"
    )
    kernel = parse_kernel(f"kernel @k({PARAMS}) cube_dim(8, 1, 1) {{ {SETUP} {text} }}")
    for plane_dim, wanted in ((0, 0), (2, 1), (4, 2), (8, 1), (16, 1)):
        assert len(analyze_ranges(kernel, plane_dim=plane_dim).inside) == wanted


def inside(body: str) -> list[bool]:
    """For every checked load: whether it was shown to be inside."""
    kernel = parse_kernel(f"kernel @k({PARAMS}) cube_dim(8, 1, 1) {{ {SETUP} {body} }}")
    verify(kernel)
    found = analyze_ranges(kernel).inside
    loads = [
        op for op in walk(kernel.body) if op.opdef is ops.LOAD and op.attrs["check"] == "checked"
    ]
    assert loads
    return [op in found for op in loads]


@pytest.mark.parametrize("case", INSIDE)
def test_a_subscript_that_is_inside_is_found(case: str) -> None:
    assert all(inside(INSIDE[case]))


@pytest.mark.parametrize("case", OUTSIDE)
def test_a_subscript_that_may_be_outside_is_not_taken_for_inside(case: str) -> None:
    assert not all(inside(OUTSIDE[case]))

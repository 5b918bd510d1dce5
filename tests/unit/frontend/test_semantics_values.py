"""The page's sentences on literals, promotion and locals, each over all types it speaks of.

What is expected is written here from the sentence itself, not taken from the tables of the front
end; values come from Python's integers and NumPy.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import CubeError, CubeTypeError, CubeValueError
from tests.unit.frontend.test_types import of_text, slot_types

SIGNED = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
UNSIGNED = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
INTEGERS = {**SIGNED, **UNSIGNED}
EVERY = ("bool", *INTEGERS, *FLOATS, "index")
NUMPY: dict[str, Any] = {
    "bool": np.bool_, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
    "f64": np.float64, "index": np.int64,
    **{name: np.dtype(f"i{bits // 8}").type for name, bits in SIGNED.items()},
    **{name: np.dtype(f"u{bits // 8}").type for name, bits in UNSIGNED.items()},
}  # fmt: skip
# A value of each type in the kernels of `of_text`.
VALUE = {
    "bool": "t[0]", "i8": "a[0]", "i16": "s[0]", "i32": "i[0]", "i64": "l[0]", "u8": "b[0]",
    "u16": "cb.u16(b[0])", "u32": "u[0]", "u64": "v[0]", "f16": "h[0]", "bf16": "g[0]",
    "f32": "x[0]", "f64": "d[0]", "index": "cb.ABSOLUTE_POS",
}  # fmt: skip
ARRAY = {"bool": "t", "i8": "a", "i16": "s", "i32": "i", "i64": "l", "u8": "b", "u32": "u",
         "u64": "v", "f16": "h", "bf16": "g", "f32": "x", "f64": "d"}  # fmt: skip


def type_of(expression: str) -> str | None:
    """The type of an expression, None if it is refused."""
    try:
        kernel = of_text(f"value = {expression}", "cb.cube_uniform(value)")
    except CubeTypeError:
        return None
    return str(kernel.body.ops[-1].operands[0].type)


def meeting(a: str, b: str) -> str | None:
    """Where two typed operands meet without loss, by the page."""
    if a == b:
        return a
    if "bool" in (a, b):
        return None
    if "index" in (a, b):
        other = b if a == "index" else a
        return "index" if other in SIGNED or other in ("u8", "u16") else None
    if a in INTEGERS and b in INTEGERS:
        if (a in SIGNED) == (b in SIGNED):
            return max(a, b, key=INTEGERS.__getitem__)
        signed, unsigned = (a, b) if a in SIGNED else (b, a)
        return signed if SIGNED[signed] > UNSIGNED[unsigned] else None
    if a in FLOATS and b in FLOATS:
        return None if {a, b} == {"f16", "bf16"} else max(a, b, key=FLOATS.__getitem__)
    whole, real = (a, b) if a in INTEGERS else (b, a)
    if INTEGERS[whole] <= 16:
        return "f64" if real == "f64" else "f32"
    return "f64" if INTEGERS[whole] <= 32 and real == "f64" else None


@pytest.mark.parametrize("a", EVERY)
def test_two_typed_operands_promote_only_without_loss(a: str) -> None:
    for b in EVERY:
        expected = None if a == b == "bool" else meeting(a, b)
        assert type_of(f"{VALUE[a]} + {VALUE[b]}") == expected, (a, b)
        assert type_of(f"{VALUE[a]} if t[0] else {VALUE[b]}") == meeting(a, b), (a, b)


@pytest.mark.parametrize("a", EVERY)
def test_any_two_integers_and_any_two_floats_compare(a: str) -> None:
    for b in EVERY:
        whole = {*INTEGERS, "index"}
        alike = {a, b} <= whole or {a, b} <= {*FLOATS} or a == b == "bool"
        # Integers that a float type holds meet it as everywhere else.
        fits = meeting(a, b) is not None
        assert (type_of(f"{VALUE[a]} == {VALUE[b]}") == "bool") == (alike or fits), (a, b)
        ordered = (alike or fits) and a != "bool"
        assert (type_of(f"{VALUE[a]} < {VALUE[b]}") == "bool") == ordered, (a, b)


COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


@pytest.mark.parametrize("a", INTEGERS)
def test_integers_compare_by_mathematical_value(a: str) -> None:
    def ends(name: str) -> list[int]:
        info = np.iinfo(NUMPY[name])
        wanted = (info.min, info.min + 1, -1, 0, 1, info.max // 2, info.max - 1, info.max)
        return [value for value in wanted if info.min <= value <= info.max]

    @cb.cube
    def kernel(x, y, out):  # type: ignore[no-untyped-def]
        i, j = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
        p, q = x[i], y[j]
        out[i, j] = (
            cb.i32(p < q) + 2 * cb.i32(p <= q) + 4 * cb.i32(p > q) + 8 * cb.i32(p >= q)
            + 16 * cb.i32(p == q) + 32 * cb.i32(p != q)
        )  # fmt: skip

    for b in INTEGERS:
        x, y = ends(a), ends(b)
        out = np.zeros((len(x), len(y)), np.int32)
        kernel.over(out.shape, device="cpu")(np.array(x, NUMPY[a]), np.array(y, NUMPY[b]), out)
        expected = [
            [sum(test(p, q) << bit for bit, test in enumerate(COMPARISONS)) for q in y] for p in x
        ]
        assert out.tolist() == expected, (a, b)


@pytest.mark.parametrize("name", [*INTEGERS, "index"])
def test_a_literal_takes_the_type_of_an_integer_if_it_fits(name: str) -> None:
    info = np.iinfo(NUMPY[name])
    for value in (int(info.min), -1, 0, 1, int(info.max)):
        if info.min <= value <= info.max:
            assert type_of(f"{VALUE[name]} + ({value})") == name, value
            assert type_of(f"({value}) - {VALUE[name]}") == name, value
    for value in (int(info.min) - 1, int(info.max) + 1):
        with pytest.raises(CubeValueError, match="does not fit"):
            of_text(f"value = {VALUE[name]} + ({value})")


@pytest.mark.parametrize("name", FLOATS)
def test_a_literal_takes_the_type_of_a_float_if_it_fits(name: str) -> None:
    top = float(ml_dtypes.finfo(NUMPY[name]).max)  # type: ignore[no-untyped-call]
    for value in ("0", "-1", "0.1", "1e-300", f"{top!r}", f"{int(top)}", "float('inf')"):
        assert type_of(f"{VALUE[name]} * {value}") == name, value
    for value in (f"{2 * int(top)}", "1e39" if name != "f64" else f"{10**400}"):
        with pytest.raises(CubeValueError, match="does not fit"):
            of_text(f"value = {VALUE[name]} * {value}")


@pytest.mark.parametrize("name", [*INTEGERS, "index"])
def test_a_float_literal_meets_only_narrow_integers(name: str) -> None:
    narrow = INTEGERS.get(name, 64) <= 16
    assert type_of(f"0.299 * {VALUE[name]}") == ("f32" if narrow else None)
    if not narrow:
        with pytest.raises(CubeTypeError, match=r"help: convert the integer, for example f32\("):
            of_text(f"value = 0.299 * {VALUE[name]}")


@pytest.mark.parametrize("name", UNSIGNED)
def test_a_negative_literal_is_its_complement_beside_unsigned_bits(name: str) -> None:
    bits = UNSIGNED[name]
    for operation, python in (("&", operator.and_), ("|", operator.or_), ("^", operator.xor)):
        for value in (-1, ~7, -(1 << (bits - 1)), -(1 << bits)):

            @cb.cube
            def kernel(x, out, literal: cb.Comptime[int], kind: cb.Comptime[str]):  # type: ignore[no-untyped-def]
                i = cb.ABSOLUTE_POS
                if kind == "&":
                    out[i] = x[i] & literal
                elif kind == "|":
                    out[i] = literal | x[i]
                else:
                    out[i] = x[i] ^ literal

            x = np.array([0, 1, 5, 127, (1 << bits) - 1], NUMPY[name])
            out = np.zeros_like(x)
            kernel.over(x.size, device="reference")(x, out, value, operation)
            mask = (1 << bits) - 1
            assert out.tolist() == [python(int(each), value) & mask for each in x.tolist()]
    with pytest.raises(CubeValueError, match="does not fit"):
        of_text(f"value = {VALUE[name]} & {-(1 << bits) - 1}")


@pytest.mark.parametrize("name", [*INTEGERS, "index"])
def test_any_integer_is_a_subscript_a_count_and_a_bound(name: str) -> None:
    of_text(f"x[{VALUE[name]}] = 1.0")
    assert type_of(f"i[0] << {VALUE[name]}") == "i32"
    assert type_of(f"b[0] >> {VALUE[name]}") == "u8"
    of_text(f"for k in range({VALUE[name]}): x[k] = 1.0")
    of_text(f"x[0] = cb.plane_shuffle(x[0], {VALUE[name]})")


def test_any_two_integers_are_the_bounds_of_one_range() -> None:
    for a, b in itertools.product(INTEGERS, repeat=2):
        if "u64" in (a, b) and (a in SIGNED or b in SIGNED):
            continue  # no type counts between those
        of_text(f"for k in range({VALUE[a]}, {VALUE[b]}): x[k] = 1.0")


# ── stores ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("element", ARRAY)
def test_a_store_converts_integers_without_loss_and_any_float(element: str) -> None:
    for name in EVERY:
        both_whole = element in INTEGERS and name in {*INTEGERS, "index"}
        fits = element == name or (element in FLOATS and name in FLOATS)
        if both_whole:
            source, target = np.iinfo(NUMPY[name]), np.iinfo(NUMPY[element])
            fits = bool(target.min <= source.min and source.max <= target.max)
        statement = f"{ARRAY[element]}[1] = {VALUE[name]}"
        if fits:
            of_text(statement)
        else:
            with pytest.raises(CubeTypeError, match=f"cannot store {name} into an array"):
                of_text(statement)
        of_text(f"{ARRAY[element]}[1] = {ARRAY[element]}.dtype({VALUE[name]})")


def test_bools_take_no_arithmetic_and_logical_bits() -> None:
    for operation in ("+", "-", "*", "/", "//", "%", "**", "<<", ">>"):
        assert type_of(f"t[0] {operation} t[1]") is None, operation
        assert type_of(f"t[0] {operation} 1") is None, operation
    for operation in ("&", "|", "^"):
        assert type_of(f"t[0] {operation} t[1]") == "bool"
        assert type_of(f"t[0] {operation} True") == "bool"
        assert type_of(f"t[0] {operation} 1") is None
    assert type_of("~t[0]") == "bool"
    assert type_of("not t[0]") == "bool"
    assert type_of("-t[0]") is None


# ── locals ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, "index"])
def test_a_local_begun_by_a_literal_becomes_what_a_use_needs(name: str) -> None:
    """Never narrower than i32 or f32, in a loop and before it."""
    wide = {"i8": "i32", "i16": "i32", "u8": "i32", "u16": "i32", "f16": "f32", "bf16": "f32"}
    for start in ("0", "0.0") if name in FLOATS else ("0",):
        for loop in ("for k in range(3):", "while c < 3:"):
            kernel = of_text(f"c = {start}", loop, f"    c += {VALUE[name]}", "cb.cube_uniform(c)")
            assert slot_types(kernel)["c"] == wide.get(name, name)


@pytest.mark.parametrize(
    ("statements", "types"),
    [
        # the need comes later, and through other names
        (("c = 0", "e = c", "for k in range(3):", "    e += 1", "u[0] = e"), "u32"),
        (("c, e = 0, 1", "for k in range(3):", "    c, e = e, c + e", "u[0] = e"), "u32"),
        (("c, e = 0, 0.0", "for k in range(3):", "    e = c + e", "    c += 1"), "f32"),
        (("c, e = 0, 0.0", "for k in range(3):", "    e, c = e + c, c + 1", "d[0] = e"), "f64"),
        (("e = 0.0", "for k in range(3):", "    e = max(e, d[k])"), "f64"),
        (("e = 0.0", "for k in range(3):", "    e = cb.fma(e, d[k], 1.0)"), "f64"),
        (("e = 0", "for k in range(3):", "    e = e + 1 if t[k] else e", "v[0] = e"), "u64"),
        (("e = 1", "for k in range(3):", "    e *= 2", "x[0] = e * 0.5"), "f32"),
        (("e = 0", "for k in range(3):", "    if t[k]:", "        e = 3_000_000_000"), "i64"),
        (("e = 0", "while e < u[0]:", "    e += 1", "u[1] = e"), "u32"),
        (("f = lambda q: q + l[0]", "e = 0", "for k in range(3):", "    e = f(e)"), "i64"),
    ],
)
def test_lowering_starts_again_when_a_use_needs_another_type(
    statements: tuple[str, ...], types: str
) -> None:
    assert slot_types(of_text(*statements))["e"] == types


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_a_second_assignment_must_convert_without_loss(name: str) -> None:
    for other in [*INTEGERS, *FLOATS]:
        statements = (f"c = {VALUE[name]}", "if t[0]:", f"    c = {VALUE[other]}")
        if meeting(name, other) == name:
            assert slot_types(of_text(*statements))["c"] == name
        else:
            with pytest.raises(CubeTypeError, match=f"'c' is {name} and cannot become") as caught:
                of_text(*statements)
            assert "from here" in str(caught.value)


def test_casts_of_literals_convert_and_do_not_check() -> None:
    @cb.cube
    def kernel(out: cb.Array[cb.f64]) -> None:
        out[0] = cb.f64(cb.i8(200))
        out[1] = cb.f64(cb.f32(1e39))
        out[2] = cb.f64(cb.u8(-1))
        out[3] = cb.f64(cb.i32(300.7))
        out[4] = cb.f64(cb.u16(-3.5))
        out[5] = cb.f64(cb.bool_(0.5))
        out[6] = cb.f64(cb.u8(2**70 + 5))

    out = np.zeros(7)
    kernel.over(1, device="cpu")(out)
    assert out.tolist() == [-56, np.inf, 255, 300, 0, 1, 5]


def test_arithmetic_between_literals_is_pythons_and_stays_weak() -> None:
    assert type_of("b[0] + (300 - 100)") == "u8"
    assert type_of("i[0] + (7 / 2 == 3.5)") is None
    assert type_of("x[0] * (1 / 3)") == "f32"
    assert type_of("h[0] * (2 ** 0.5)") == "f16"
    assert type_of("b[0] << 300") == "u8"
    assert type_of("x[0] ** 400") == "f32"


def test_a_weak_literal_takes_the_type_of_its_company() -> None:
    assert type_of("d[0] if t[0] else 0") == "f64"
    assert type_of("cb.select(t[0], 0, v[0])") == "u64"
    assert type_of("min(0, v[0])") == "u64"
    assert type_of("cb.fma(2, h[0], 0.5)") == "f16"
    with pytest.raises(CubeError):
        of_text("value = min(-1, v[0])")
    of_text("v[0] = 2**63")
    of_text("v[0] += 2**63")


def test_comptime_values_are_compared_by_type_and_bits() -> None:
    @cb.cube
    def kernel(out: cb.Array[cb.i32], value: cb.Comptime[object]) -> None:
        out[0] = 1 if isinstance(value, bool) else 2 if isinstance(value, int) else 3

    out = np.zeros(1, np.int32)
    found = []
    for value in (1, True, 1.0, 0.0, -0.0, float("nan"), 1):
        kernel.over(1, device="reference")(out, value)
        found.append(int(out[0]))
    assert found == [2, 1, 3, 3, 3, 3, 2]

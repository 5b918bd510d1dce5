"""Simplification keeps every bit: pure expressions before and after, over all values of 8 bits."""

import itertools
from typing import Any

import numpy as np
import pytest

from cubepy.ir import (
    BOOL,
    F32,
    I8,
    U8,
    AttrValue,
    Builder,
    Kernel,
    Op,
    OpDef,
    Region,
    Scalar,
    ops,
    param,
    parse_kernel,
    verify,
)
from cubepy.passes import PassContext, simplify
from cubepy.target import Target

CONTEXT = PassContext(target=Target.parse("cpu:x86-64-v3"))
INTEGER = (
    ops.ADD, ops.SUB, ops.MUL, ops.FLOOR_DIV, ops.FLOOR_MOD, ops.TRUNC_DIV, ops.TRUNC_REM,
    ops.MIN, ops.MAX, ops.BIT_AND, ops.BIT_OR, ops.BIT_XOR, ops.SHL, ops.SHR,
)  # fmt: skip
COMPARISONS = (ops.EQ, ops.NE, ops.LT, ops.LE, ops.GT, ops.GE)


def stored(body: Region, given: dict[Op, Any], shape: tuple[int, int]) -> list[Any]:
    """What the stores of a straight body store, by the op table's own meaning."""
    known, found = dict(given), []
    for op in body.ops:
        operands: list[Any] = [known.get(operand) for operand in op.operands]
        if op.opdef is ops.STORE:
            found.append(np.broadcast_to(operands[-1], shape).copy())
        elif op.opdef is not ops.LOCAL_ARRAY:
            assert op.opdef.evaluate is not None
            with np.errstate(all="ignore"):
                known[op] = op.opdef.evaluate(*operands, type=op.type, attrs=op.attrs)
    return found


class Expressions:
    """A kernel `k(a, b, out…)` of one type that stores many expressions of its parameters."""

    def __init__(self, type: Scalar) -> None:
        self.type = type
        self.a, self.b = param("a", type), param("b", type)
        self.builder = Builder(share=False)
        self.names: list[str] = []

    def keep(self, name: str, value: Op) -> None:
        self.names.append(name)
        result = value.type
        assert isinstance(result, Scalar)
        attrs: dict[str, AttrValue] = {"element": result, "shape": (1,)}
        memory = self.builder.emit(ops.LOCAL_ARRAY, attrs=attrs)
        index = self.builder.index(0)
        self.builder.emit(ops.STORE, memory, index, value, attrs={"check": "checked"})

    def check(self, opened: Any) -> None:
        body = opened.close()
        kernel = Kernel(name="k", params=(self.a, self.b), body=body)
        verify(kernel)
        made = simplify(kernel, CONTEXT)
        verify(made)
        everything = np.arange(256).astype(np.uint8).view(np.int8).astype(self.type.numpy)
        given = {self.a: everything[:, None], self.b: everything[None, :]}
        before, after = (stored(each.body, given, (256, 256)) for each in (kernel, made))
        for name, old, new in zip(self.names, before, after, strict=True):
            assert old.dtype == new.dtype, name
            assert np.array_equal(old, new), name


@pytest.mark.parametrize("type", [I8, U8], ids=str)
def test_integer_identities_hold_for_every_value(type: Scalar) -> None:
    made = Expressions(type)
    constants = sorted({0, 1, 2, 3, type.minimum, type.maximum, -1 if type.is_signed else 5})
    with made.builder.region() as opened:
        emit, const = made.builder.emit, made.builder.const
        for opdef in INTEGER:
            made.keep(f"{opdef.name}(a, a)", emit(opdef, made.a, made.a))
            for c in constants:
                right = emit(opdef, made.a, const(type, c))
                made.keep(f"{opdef.name}(a, {c})", right)
                made.keep(f"{opdef.name}({c}, a)", emit(opdef, const(type, c), made.a))
                made.keep(f"neg {opdef.name}(a, {c})", emit(ops.NEG, right))
        made.keep("neg neg a", emit(ops.NEG, emit(ops.NEG, made.a)))
        made.keep("neg (a - b)", emit(ops.NEG, emit(ops.SUB, made.a, made.b)))
        made.check(opened)


@pytest.mark.parametrize("type", [I8, U8], ids=str)
def test_chains_of_two_operations_hold_for_every_value(type: Scalar) -> None:
    made = Expressions(type)
    two = (ops.ADD, ops.SUB, ops.MUL)
    with made.builder.region() as opened:
        emit, const = made.builder.emit, made.builder.const
        for first, second in itertools.product(two, two):
            for c, d in ((3, 5), (100, 100), (1, type.maximum)):
                inner = emit(first, made.a, const(type, c))
                made.keep(f"{second.name}({first.name}(a, {c}), {d})",
                          emit(second, inner, const(type, d)))  # fmt: skip
            inner = emit(first, made.a, made.b)
            for other in (made.a, made.b):
                made.keep(f"{second.name}({first.name}(a, b), {other.name})",
                          emit(second, inner, other))  # fmt: skip
                made.keep(f"{second.name}({other.name}, {first.name}(a, b))",
                          emit(second, other, inner))  # fmt: skip
        made.keep("(a + 3) - (a + 5)", emit(ops.SUB, emit(ops.ADD, made.a, const(type, 3)),
                                           emit(ops.ADD, made.a, const(type, 5))))  # fmt: skip
        made.check(opened)


@pytest.mark.parametrize("type", [I8, U8], ids=str)
def test_comparisons_and_choices_hold_for_every_value(type: Scalar) -> None:
    made = Expressions(type)
    with made.builder.region() as opened:
        emit, const = made.builder.emit, made.builder.const
        flag = emit(ops.LT, made.a, made.b)
        for opdef in COMPARISONS:
            compared = emit(opdef, made.a, made.b)
            made.keep(f"not {opdef.name}", emit(ops.BIT_NOT, compared))
            made.keep(f"{opdef.name}(a, a)", emit(opdef, made.a, made.a))
            made.keep(f"{opdef.name}(7, a)", emit(opdef, const(type, 7), made.a))
            if opdef in (ops.EQ, ops.NE):
                for value in (True, False):
                    made.keep(f"{opdef.name}(flag, {value})", emit(opdef, flag, const(BOOL, value)))
        bools = (const(BOOL, True), const(BOOL, False), flag, emit(ops.EQ, made.a, made.b))
        for a, b in itertools.product(bools, bools):
            made.keep("select", emit(ops.SELECT, flag, a, b))
            made.keep("select of not", emit(ops.SELECT, emit(ops.BIT_NOT, flag), a, b))
            for opdef in (ops.BIT_AND, ops.BIT_OR, ops.BIT_XOR):
                made.keep(opdef.name, emit(opdef, a, b))
        made.check(opened)


FLOATS = np.array(
    [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e-45, 3.4e38, 1 / 3], dtype=np.float32
)


def float_results(text: str) -> list[Any]:
    """What a body computes for all pairs of special floats, before and after."""
    params = "%a: f32, %b: f32, %y: global<f32, [1], unknown, 0>, %n: index"
    kernel = parse_kernel(f"kernel @k({params}) cube_dim(1, 1, 1) {{ {text} }}")
    given = {kernel.params[0]: FLOATS[:, None], kernel.params[1]: FLOATS[None, :]}
    changed = simplify(kernel, CONTEXT)
    verify(changed)
    return [stored(made.body, given, (10, 10))[0] for made in (kernel, changed)]


@pytest.mark.parametrize(
    "expression",
    [
        "%r: f32 = neg %a %s: f32 = neg %r",
        "%c: bool = lt %a, %b %d: bool = bit_not %c %s: f32 = select %d, %a, %b",
        "%c: bool = eq %a, %a %s: f32 = select %c, %a, %b",
        "%c: bool = le %a, %a %s: f32 = select %c, %b, %a",
        "%z: f32 = const 0.0 %r: f32 = mul %a, %z %s: f32 = add %r, %b",
        "%z: f32 = const -0.0 %s: f32 = add %a, %z",
        "%r: f32 = add %a, %b %s: f32 = sub %r, %b",
        "%s: f32 = min %a, %a",
        "%z: f32 = const 0.0 %c: bool = lt %z, %a %s: f32 = select %c, %a, %b",
        "%c: bool = lt %a, %b %s: f32 = select %c, %a, %a",
    ],
)
def test_floats_keep_their_bits(expression: str) -> None:
    before, after = float_results(f"{expression} store %y, %n, %s [check=checked]")
    assert np.array_equal(before.view(np.uint32), after.view(np.uint32))


def fold(opdef: OpDef, type: Scalar, *operands: int | float, to: Scalar | None = None) -> Any:
    """What `simplify` makes of an op with constant operands."""
    builder = Builder()
    with builder.region() as opened:
        constants = [builder.const(type, value) for value in operands]
        builder.emit(opdef, *constants, attrs={} if to is None else {"to": to})
    made = simplify(Kernel(name="k", params=(), body=opened.close()), CONTEXT)
    assert made.body.ops[-1].opdef is ops.CONST
    return made.body.ops[-1].attrs["value"]


@pytest.mark.parametrize(
    ("opdef", "type", "operands", "expected"),
    [
        (ops.FLOOR_DIV, I8, (-7, 2), -4),
        (ops.FLOOR_MOD, I8, (-7, 2), 1),
        (ops.FLOOR_DIV, I8, (-128, -1), -128),
        (ops.FLOOR_DIV, I8, (5, 0), 0),
        (ops.ADD, U8, (200, 100), 44),
        (ops.SHL, I8, (1, 8), 0),
        (ops.SHR, I8, (-1, -1), -1),
        (ops.ABS, I8, (-128,), -128),
        (ops.MUL, F32, (0.1, 3.0), float(np.float32(0.1) * np.float32(3.0))),
    ],
)
def test_folding_follows_the_semantics(
    opdef: OpDef, type: Scalar, operands: tuple[int | float, ...], expected: int | float
) -> None:
    assert fold(opdef, type, *operands) == expected


def test_folding_keeps_signs_of_zero_and_nan() -> None:
    assert repr(fold(ops.NEG, F32, 0.0)) == "-0.0"
    assert repr(fold(ops.MIN, F32, 0.0, -0.0)) == "-0.0"
    assert np.isnan(fold(ops.DIV, F32, 0.0, 0.0))


@pytest.mark.parametrize("target", [I8, U8, F32, BOOL], ids=str)
@pytest.mark.parametrize("source", [I8, U8, BOOL], ids=str)
def test_folded_casts_convert_as_numpy_does(source: Scalar, target: Scalar) -> None:
    samples = [False, True] if source is BOOL else [source.minimum, source.maximum, 0, 7]
    for value in samples:
        expected = np.asarray(value).astype(source.numpy).astype(target.numpy).item()
        assert repr(fold(ops.CAST, source, value, to=target)) == repr(expected)

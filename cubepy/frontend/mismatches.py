"""What is said of operands that do not go together, and the cast to write."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from cubepy.errors import CubeTypeError, CubeValueError, SourceError, shown
from cubepy.frontend.descriptions import describe, snippet
from cubepy.frontend.frame import Frame
from cubepy.frontend.promotion import default_type, literal_fits
from cubepy.frontend.values import Known, Value
from cubepy.ir import BOOL, F32, F64, INDEX, Op, Scalar, scalar_type
from cubepy.records import dataclass

__all__ = ["Operand", "literal_mismatch", "mismatch", "scalar_type_of"]


@dataclass(frozen=True, slots=True)
class Operand:
    """A value and the expression it came from."""

    value: Value
    node: ast.AST


def scalar_type_of(operand: Operand) -> Scalar:
    """The type of an operand known to be a run-time scalar."""
    assert isinstance(operand.value, Op)
    return scalar_type(operand.value)


def mismatch(
    frame: Frame,
    operands: Sequence[Operand],
    operand: Operand,
    target: Scalar,
    at: ast.AST,
    verb: str,
) -> SourceError:
    """The error for an operand that does not go with the type of the others, told in order."""
    typed_ones = [each for each in operands if isinstance(each.value, Op)]
    others = [each for each in typed_ones if each is not operand]
    other = next((each for each in others if scalar_type_of(each) == target), others[0])
    left, right = (each for each in typed_ones if each is operand or each is other)
    first, second = scalar_type_of(left), scalar_type_of(right)
    message = f"cannot {verb} {first} and {second}"
    fix = _fix(first, second, snippet(left.node), snippet(right.node))
    return frame.error(CubeTypeError, message, at, fix)


def _fix(first: Scalar, second: Scalar, left_text: str, right_text: str) -> str:
    """The cast to write."""
    if BOOL in (first, second):
        flag, number, text = (
            (first, second, left_text) if first == BOOL else (second, first, right_text)
        )
        return f"convert the {flag}: {number}({text})" if number != BOOL else "use &, | or ^"
    if INDEX in (first, second) and not (first.is_float or second.is_float):
        at, value = (left_text, right_text) if first == INDEX else (right_text, left_text)
        unsigned = second if first == INDEX else first
        return f"{unsigned}({at}) to hash (wraps), cb.index({value}) to address"
    if first.is_integer and second.is_integer:
        return _fix_integers(first, second, left_text, right_text)
    if first.is_integer and second.is_float:
        return f"convert one side, for example {second}({left_text})"
    if first.is_float and second.is_float:
        return f"convert both: f32({left_text}) and f32({right_text})"
    return f"convert one side, for example {first}({right_text})"


def _fix_integers(first: Scalar, second: Scalar, left: str, right: str) -> str:
    """A signed and an unsigned integer: what holds both, or which cast wraps."""
    if max(first.bits, second.bits) < 64:
        wide = f"i64({left})" if not first.is_signed else f"i64({right})"
        return f"convert without loss: {wide}; {first}({right}) wraps"
    return f"convert one side: {first}({right}), which wraps what does not fit"


def literal_mismatch(
    frame: Frame,
    operands: Sequence[Operand],
    literal_operand: Operand,
    target: Scalar,
    at: ast.AST,
    verb: str,
) -> SourceError:
    """The error for a literal that does not take the type of the others."""
    value = literal_operand.value
    assert isinstance(value, Known)
    other = next(operand for operand in operands if isinstance(operand.value, Op))
    text = snippet(other.node)
    pair = [target, describe(value)]
    if next(each for each in operands if each in (other, literal_operand)) is literal_operand:
        pair.reverse()
    message = f"cannot {verb} {pair[0]} and {pair[1]}"
    if target == BOOL or isinstance(value.value, bool):
        number = f"i32({text})" if target == BOOL else f"{target}({snippet(literal_operand.node)})"
        return frame.error(CubeTypeError, message, at, f"convert: {number}")
    if isinstance(value.value, float) and target.is_integer:
        help = f"convert the integer, for example f32({text})"
        return frame.error(CubeTypeError, message, at, help)
    wider = default_type(value.value) or F64
    if target.is_float:
        wider = F32 if literal_fits(value.value, F32) and target.bits < F32.bits else F64
    return frame.error(
        CubeValueError,
        f"{shown(value.value)} does not fit {target}, the type of the other operand",
        literal_operand.node,
        f"convert the other operand first, for example {wider}({text})",
    )

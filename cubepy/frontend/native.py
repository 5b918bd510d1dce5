"""`cb.intrinsic`: an instruction of one target, and what it stands for everywhere else."""

from __future__ import annotations

from collections.abc import Sequence

from cubepy.errors import ConfigError, CubeTypeError, CubeValueError, UnsupportedError
from cubepy.frontend.calls import Call, call_of, lowers_intrinsic
from cubepy.frontend.coercion import Operand, literal, typed
from cubepy.frontend.comptime import comptime_value
from cubepy.frontend.frame import Frame
from cubepy.frontend.promotion import literal_fits
from cubepy.frontend.values import Known, Poison, Value, is_number
from cubepy.ir import BF16, Op, ops, scalar_type
from cubepy.target import Target

__all__: list[str] = []

_USE = 'write cb.intrinsic("cpu", "llvm.fabs", x, fallback=lambda x: abs(x))'


@lowers_intrinsic("intrinsic")
def lower_intrinsic(frame: Frame, call: Call) -> Value:
    """`cb.intrinsic(target, template, *operands, fallback=function, constraints=None)`."""
    target, template, constraints, fallback = _arguments(frame, call)
    operands = _operands(frame, call.positional[2:])
    with frame.branch():  # only to learn which function it is; the call goes nowhere
        made = call_of(frame, fallback.value, "fallback", call.node, *operands)
    if isinstance(made, Poison):
        return made
    if not isinstance(made, Op) or made.opdef is not ops.CALL:
        raise frame.error(
            CubeTypeError,
            "the fallback of cb.intrinsic must compute one number",
            fallback.node,
            "write it as a function of the operands that returns one",
        )
    if BF16 in (made.type, *(operand.type for operand in made.operands)):
        raise frame.error(
            UnsupportedError,
            "cb.intrinsic with bf16",
            call.node,
            "convert: LLVM and most instructions know f32",
        )
    attrs = {
        "target": target, "template": template, "constraints": constraints,
        "callee": made.attrs["callee"], "results": str(scalar_type(made)),
    }  # fmt: skip
    return frame.emit(ops.INTRINSIC, *made.operands, at=call.node, attrs=attrs)


def _operands(frame: Frame, given: Sequence[Operand]) -> list[Operand]:
    """Numbers; a literal takes the type of the first operand that is none, where it fits."""
    typed_ones = [operand for operand in given if not is_number(operand.value)]
    company = None
    if typed_ones:
        company = scalar_type(typed(frame, typed_ones[0].value, typed_ones[0].node))
    made: list[Operand] = []
    for operand in given:
        value = operand.value
        if isinstance(value, Known) and company is not None and not isinstance(value.value, bool) \
                and literal_fits(value.value, company):  # fmt: skip
            op = literal(frame, value.value, company, operand.node)
        else:
            op = typed(frame, value, operand.node)
        made.append(Operand(op, operand.node))
    return made


def _arguments(frame: Frame, call: Call) -> tuple[str, str, str, Operand]:
    """Target, template, constraints and fallback of a call."""
    for name, operand in call.keywords.items():
        if name not in ("fallback", "constraints"):
            raise frame.error(
                CubeTypeError, f"{call.name}: the argument {name!r} is unknown", operand.node, _USE
            )
    fallback = call.keywords.get("fallback")
    if len(call.positional) < 3 or fallback is None:
        missing = "a fallback" if fallback is None else "a target, a template and operands"
        raise frame.error(CubeTypeError, f"{call.name} needs {missing}", call.node, _USE)
    target, template = (_text(frame, operand, call) for operand in call.positional[:2])
    try:
        Target.parse(target)
    except ConfigError as error:
        message, _, help = str(error).partition("\n  help: ")
        raise frame.error(CubeValueError, message, call.positional[0].node, help) from error
    given = call.keywords.get("constraints")
    return target, template, "" if given is None else _text(frame, given, call), fallback


def _text(frame: Frame, operand: Operand, call: Call) -> str:
    text = comptime_value(frame, operand.value, operand.node, f"a text of {call.name}")
    if not isinstance(text, str) or not text:
        raise frame.error(CubeTypeError, f"{call.name} takes texts here", operand.node, _USE)
    return text

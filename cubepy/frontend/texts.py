"""Text of run-time values: f-strings, `print`, `cb.static_print`, messages of `assert`.

A text is a format with holes and the values that fill them. The kernel hands over the values, and
the host puts the text together after the launch.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable

from cubepy.errors import CubeTypeError, CubeValueError
from cubepy.frontend.calls import Call, lowers_builtin, lowers_intrinsic
from cubepy.frontend.coercion import as_condition
from cubepy.frontend.comptime import UNKNOWN_VALUE, comptime_value, known_value
from cubepy.frontend.descriptions import describe
from cubepy.frontend.dispatch import lower_expression, lowers_expression, lowers_statement
from cubepy.frontend.evaluation import asks_python
from cubepy.frontend.frame import Frame
from cubepy.frontend.structs import names_of
from cubepy.frontend.values import (
    NONE,
    POISON,
    Group,
    Known,
    Poison,
    Text,
    Value,
    VectorValue,
)
from cubepy.frontend.wording import describe_object
from cubepy.ir import BOOL, Op, Scalar, ops

__all__: list[str] = []

# What an assertion can say of run-time values: the room for them in a report.
MOST_VALUES = 8


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _written(frame: Frame, value: object, at: ast.AST, write: Callable[[object], str]) -> str:
    """A value as Python writes it."""
    try:
        return write(value)
    except ValueError:
        what, advice = describe_object(value), "print hex(…) of the integer"
        raise frame.error(
            CubeValueError, f"{what} has more digits than Python writes", at, advice
        ) from None


def _text_of(frame: Frame, value: Value, at: ast.AST, *, inner: bool = False) -> Text:
    """A value as `print` shows it; `inner` as it is shown inside a tuple."""
    if isinstance(value, Text):
        return value
    if isinstance(value, Known):
        asks_python(frame, at, value.value)
        return Text(_escaped(_written(frame, value.value, at, repr if inner else str)), ())
    if isinstance(value, Op) and isinstance(value.type, Scalar):
        return Text("{}", (value,))
    if isinstance(value, Group):
        return _group_text(frame, value, at)
    raise frame.error(CubeTypeError, f"cannot print {describe(value)}", at, "print its elements")


def _group_text(frame: Frame, value: Group, at: ast.AST) -> Text:
    parts = [_text_of(frame, item, at, inner=True) for item in value.items]
    fields = names_of(value.maker)
    if fields:
        parts = [Text(f"{name}={part.form}", part.values)
                 for name, part in zip(fields, parts, strict=True)]  # fmt: skip
    inside = _joined(parts, ", ")
    vector = isinstance(value, VectorValue)
    comma = "," if len(parts) == 1 and not fields and not vector else ""
    name = describe(value) if vector else getattr(value.maker, "__name__", "")
    return Text(f"{name}({inside.form}{comma})", inside.values)


def _joined(parts: Iterable[Text], separator: str) -> Text:
    made = list(parts)
    form = _escaped(separator).join(part.form for part in made)
    return Text(form, tuple(value for part in made for value in part.values))


# ── f-strings ────────────────────────────────────────────────────────────────────────────────────


@lowers_expression(ast.JoinedStr)
def lower_f_string(frame: Frame, node: ast.JoinedStr) -> Value:
    """An f-string: known while compiling, or a text of run-time values."""
    parts: list[Text] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(Text(_escaped(str(part.value)), ()))
            continue
        assert isinstance(part, ast.FormattedValue)
        made = _hole(frame, part)
        if made is None:
            return POISON
        parts.append(made)
    whole = _joined(parts, "")
    return whole if whole.values else Known(whole.form.format())


def _hole(frame: Frame, node: ast.FormattedValue) -> Text | None:
    value = lower_expression(frame, node.value)
    form = ""
    if node.format_spec is not None:
        given = lower_expression(frame, node.format_spec)
        form = str(comptime_value(frame, given, node.format_spec, "the format of a value"))
    if isinstance(value, Poison):
        return None
    if isinstance(value, Known):
        asks_python(frame, node, value.value)
        convert = {ord("r"): repr, ord("a"): ascii}.get(node.conversion, lambda known: known)
        return Text(_escaped(_formatted(frame, convert(value.value), form, node)), ())
    made = _text_of(frame, value, node.value)
    if not form:
        return made
    if made.form != "{}":
        raise frame.error(CubeTypeError, f"a format for {describe(value)}", node,
                          "format its elements, each for itself")  # fmt: skip
    scalar = made.values[0].type
    assert isinstance(scalar, Scalar)
    sample = False if scalar is BOOL else 0.0 if scalar.is_float else 0
    _formatted(frame, sample, form, node)
    return Text(f"{{:{form}}}", made.values)


def _formatted(frame: Frame, value: object, form: str, at: ast.AST) -> str:
    try:
        if "{" in form or "}" in form:
            raise ValueError(f"Invalid format specifier {form!r}")
        return format(value, form) if form else _written(frame, value, at, str)
    except (TypeError, ValueError) as error:
        kind = type(value).__name__
        message = f"{form!r} is no format of a Python {kind}, as which it is shown"
        help = "write one of Python's, such as {x:8.3f}, {n:5d} or {n:x}"
        raise frame.error(CubeValueError, message, at, help) from error


# ── print ────────────────────────────────────────────────────────────────────────────────────────


@lowers_builtin(builtins.print, always=True)
def lower_print(frame: Frame, call: Call) -> Value:
    """`print(…, sep=…, end=…)`: shown when the launch has ended."""
    separator, end = _separators(frame, call)
    parts = [_text_of(frame, operand.value, operand.node) for operand in call.positional]
    text = _joined(parts, separator)
    form = text.form + _escaped(end)
    frame.emit(ops.PRINT, *text.values, at=call.node, attrs={"text": form})
    return NONE


@lowers_intrinsic("static_print")
def lower_static_print(frame: Frame, call: Call) -> Value:
    """`cb.static_print(…)`: shown while compiling; of run-time values what they are."""
    separator, end = _separators(frame, call)
    shown = []
    for operand in call.positional:
        known = known_value(frame, operand.value, plane=True)
        shown.append(
            describe(operand.value)
            if known is UNKNOWN_VALUE
            else _written(frame, known, operand.node, str)
        )
    frame.session.prints.append(separator.join(shown) + end)
    return NONE


def _separators(frame: Frame, call: Call) -> tuple[str, str]:
    """`sep` and `end` of a call of `print`."""
    given = {"sep": " ", "end": "\n"}
    for name, operand in call.keywords.items():
        if name not in given:
            raise frame.error(
                CubeTypeError,
                f"{call.name}: the argument {name!r} is unknown",
                operand.node,
                "in a kernel it takes values, sep and end",
            )
        value = comptime_value(frame, operand.value, operand.node, f"{name!r} of {call.name}")
        if value is not None:
            given[name] = str(value)
    return given["sep"], given["end"]


# ── assert ───────────────────────────────────────────────────────────────────────────────────────


@lowers_statement(ast.Assert)
def lower_assert(frame: Frame, node: ast.Assert) -> None:
    """`assert condition, message`: tested at run time unless the launch is unchecked."""
    value = lower_expression(frame, node.test)
    message: Value = Known("") if node.msg is None else lower_expression(frame, node.msg)
    if isinstance(value, Poison) or isinstance(message, Poison):
        return
    condition = as_condition(frame, value, node.test)
    text = _text_of(frame, message, node.msg or node)
    if len(text.values) > MOST_VALUES:
        raise frame.error(
            CubeValueError,
            f"an assertion that shows {len(text.values)} run-time values",
            node.msg or node,
            f"show at most {MOST_VALUES}",
        )
    if condition is True or frame.session.specialization.options.check == "unchecked":
        return
    tested = frame.const(BOOL, condition, node) if isinstance(condition, bool) else condition
    frame.emit(ops.ASSERT, tested, *text.values, at=node, attrs={"text": text.form})

"""Reading the text form of kernels back; the inverse of `printer.py`.

The grammar stands in grammar.lark. Lark turns the text into plain tuples (so one parser serves all
threads), and an assembler makes ops of them. Types are taken as written and only the verifier
compares them with the rules: ill-formed IR can be read, which tests of the verifier need.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from lark import Lark, Token, Transformer, UnexpectedInput

from cubepy.errors import ParseError
from cubepy.ir import ops
from cubepy.ir.nodes import NO_ATTRS, Function, Kernel, Op, Region, freeze_attrs
from cubepy.ir.opdef import Attrs, AttrValue
from cubepy.ir.types import (
    SCALARS,
    VOID,
    Access,
    BufferType,
    PrivateType,
    SharedType,
    SlotType,
    StrideClass,
    TupleType,
    Type,
)
from cubepy.location import UNKNOWN, Loc

__all__ = ["parse_kernel"]


def parse_kernel(text: str) -> Kernel:
    """The kernel that a text describes; raises ParseError with line, column, what was expected."""
    try:
        read: _Module = _grammar().parse(text)  # type: ignore[assignment]  # lark says Tree, we transform
    except UnexpectedInput as error:
        where = f"line {error.line}, column {error.column}"
        raise ParseError(
            f"IR text, {where}: {_complaint(error)}\n{error.get_context(text)}"
        ) from error
    places = _places(read.places)
    functions = tuple(_Assembler(places).function(function) for function in read.functions)
    return _Assembler(places).kernel(read.kernel, functions)


def _complaint(error: UnexpectedInput) -> str:
    expected = sorted(getattr(error, "accepts", None) or getattr(error, "allowed", None) or ())
    return (
        f"unexpected text; one of {', '.join(expected)} may stand here"
        if expected
        else "unexpected text"
    )


class _ReadOp(NamedTuple):
    word: Token
    operands: str
    attrs: Attrs | AttrValue
    place: str
    regions: tuple[_ReadRegion, ...]
    result: tuple[Token, Token] | None = None


class _ReadParam(NamedTuple):
    name: Token
    type: Token
    place: str


class _ReadRegion(NamedTuple):
    params: tuple[_ReadParam, ...]
    ops: list[_ReadOp]


class _ReadOwner(NamedTuple):
    symbol: Token
    params: tuple[_ReadParam, ...]
    place: str
    body: list[_ReadOp]
    result: Token | None = None
    cube_dim: tuple[int, int, int] = (1, 1, 1)
    options: Attrs = NO_ATTRS


class _ReadPlace(NamedTuple):
    number: str
    file: str
    span: str
    within: str
    at: str


class _Module(NamedTuple):
    functions: tuple[_ReadOwner, ...]
    kernel: _ReadOwner
    places: tuple[_ReadPlace, ...]


class _Reduce(Transformer[Token, Any]):
    """Rules of the grammar as tuples. No state, so that one instance serves every parse."""

    def start(self, parts: list[Any]) -> _Module:
        owners = [part for part in parts if isinstance(part, _ReadOwner)]
        return _Module(tuple(owners[:-1]), owners[-1], tuple(parts[len(owners) :]))

    def function(self, parts: list[Any]) -> _ReadOwner:
        symbol, params, result, place, body = parts
        return _ReadOwner(symbol, params, place, body, result)

    def kernel(self, parts: list[Any]) -> _ReadOwner:
        symbol, params, cube_dim, options, place, body = parts
        return _ReadOwner(symbol, params, place, body, cube_dim=cube_dim, options=options)

    def options(self, parts: list[Any]) -> Attrs:
        return parts[0] if parts else NO_ATTRS

    def params(self, parts: list[Any]) -> tuple[_ReadParam, ...]:
        return tuple(parts)

    def param(self, parts: list[Any]) -> _ReadParam:
        return _ReadParam(*parts)

    def body(self, parts: list[_ReadOp]) -> list[_ReadOp]:
        return parts

    def result(self, parts: list[Any]) -> _ReadOp:
        return parts[2]._replace(result=(parts[0], parts[1]))  # type: ignore[no-any-return]

    def plain(self, parts: list[Any]) -> _ReadOp:
        return _read(parts, NO_ATTRS, ())

    def constant(self, parts: list[Any]) -> _ReadOp:
        return _read([parts[0], *parts[2:]], parts[1], ())

    def with_attributes(self, parts: list[Any]) -> _ReadOp:
        attrs = next(part for part in parts if not isinstance(part, Token))
        return _read(parts, attrs, ())

    def with_regions(self, parts: list[Any]) -> _ReadOp:
        return _read(parts, NO_ATTRS, parts[-1])

    def with_both(self, parts: list[Any]) -> _ReadOp:
        attrs = next(part for part in parts if not isinstance(part, Token))
        return _read(parts, attrs, parts[-1])

    def attributes(self, parts: list[tuple[str, AttrValue]]) -> Attrs:
        return freeze_attrs(dict(parts))

    def attribute(self, parts: list[Any]) -> tuple[str, AttrValue]:
        return parts[0][:-1].rstrip(), parts[1]

    def regions(self, parts: list[_ReadRegion]) -> tuple[_ReadRegion, ...]:
        return tuple(parts)

    def region(self, parts: list[Any]) -> _ReadRegion:
        return _ReadRegion(() if len(parts) == 1 else parts[0], parts[-1])

    def place(self, parts: list[Token]) -> str:
        return str(parts[0]) if parts else ""

    within = at = place

    def number(self, parts: list[Token]) -> AttrValue:
        value: AttrValue = _NUMBERS[parts[0].type](parts[0])
        return value

    def value(self, parts: list[Any]) -> AttrValue:
        token = parts[0]
        if not isinstance(token, Token):
            return token  # type: ignore[no-any-return]
        return str(json.loads(token)) if token.type == "STRING" else SCALARS.get(token, str(token))

    def tuple(self, parts: list[Token]) -> tuple[int, ...]:
        return tuple(map(int, parts))

    def place_line(self, parts: list[str]) -> _ReadPlace:
        return _ReadPlace(*map(str, parts))


def _read(parts: list[Any], attrs: Attrs | AttrValue, regions: tuple[_ReadRegion, ...]) -> _ReadOp:
    """An op from its tokens: the word, then operands and place if they are there."""
    operands = place = ""
    for part in parts[1:]:
        if isinstance(part, Token):
            operands, place = (part, place) if part.type == "OPERANDS" else (operands, part)
    return _ReadOp(parts[0], operands, attrs, place, regions)


def _real(text: str) -> float:
    if not text.startswith("nan:"):
        return float(text)
    number: float = struct.unpack("<d", struct.pack("<Q", int(text[4:], 16)))[0]
    return number


_NUMBERS: Mapping[str, Any] = {"NUMBER": int, "REAL": _real, "BOOL": lambda text: text == "true"}


@cache
def _grammar() -> Lark:
    text = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", transformer=_Reduce(), maybe_placeholders=False)


def _places(lines: Iterable[_ReadPlace]) -> dict[str, Loc]:
    places = {"": UNKNOWN}
    for number, file, span, within, at in lines:
        start, end = span.split("-")
        (line, column), (end_line, end_column) = (
            map(int, part.split(":")) for part in (start, end)
        )
        places[number] = Loc(
            file=json.loads(file), line=line, column=column,
            end_line=end_line, end_column=end_column,
            function=json.loads(within) if within else "", inlined_at=places[at] if at else None,
        )  # fmt: skip
    return places


@cache
def _type(text: str) -> Type:
    """A type from its spelling, which is its `str`."""
    head, _, rest = text.partition("<")
    if not rest:
        if head == "void":
            return VOID
        return SCALARS[head]
    flat = rest[:-1].replace("[", "").replace("]", "")
    parts = [part.strip() for part in flat.split(",") if part.strip()]  # no axes: nothing in []
    scalar = SCALARS[parts[0]]
    match head:
        case "global":
            strides = tuple(map(StrideClass, parts[1:-2]))
            return BufferType(scalar, strides, Access(parts[-2]), int(parts[-1]))
        case "shared":
            return SharedType(scalar, tuple(map(int, parts[1:])))
        case "private":
            return PrivateType(scalar, tuple(map(int, parts[1:])))
        case "slot":
            return SlotType(scalar)
        case "tuple":
            return TupleType(tuple(SCALARS[part] for part in parts))
    raise ValueError(text)


class _Assembler:
    """Makes the ops of one kernel or function; `values` are the names defined so far."""

    def __init__(self, places: Mapping[str, Loc]) -> None:
        self._places = places
        self._values: dict[str, Op] = {}

    def kernel(self, read: _ReadOwner, functions: tuple[Function, ...]) -> Kernel:
        params, body = self._params(read.params), Region(ops=self._ops(read.body))
        name = _symbol(read.symbol)
        return Kernel(
            name=name, params=params, body=body, functions=functions, cube_dim=read.cube_dim,
            options=read.options, loc=self._place(read.place, read.symbol),
        )  # fmt: skip

    def function(self, read: _ReadOwner) -> Function:
        params, body = self._params(read.params), Region(ops=self._ops(read.body))
        assert read.result is not None
        return Function(
            name=_symbol(read.symbol), params=params, result=_checked_type(read.result), body=body,
            loc=self._place(read.place, read.symbol),
        )  # fmt: skip

    def _params(self, read: Iterable[_ReadParam]) -> tuple[Op, ...]:
        return tuple([self._param(*param) for param in read])

    def _param(self, name: Token, type: Token, place: str) -> Op:
        made = Op(
            opdef=ops.PARAM, type=_checked_type(type), name=_hint(name),
            loc=self._place(place, name),
        )  # fmt: skip
        return self._define(name, made)

    def _ops(self, read: list[_ReadOp]) -> tuple[Op, ...]:
        return tuple([self._op(op) for op in read])

    def _op(self, read: _ReadOp) -> Op:
        word, operands, attrs, place, regions, result = read
        opdef = ops.BY_NAME.get(word)
        if opdef is None:
            raise _error(word, f"no op {word}")
        type = _checked_type(result[1]) if result else VOID
        if not isinstance(attrs, Mapping):
            attrs = (
                freeze_attrs({"type": SCALARS[str(type)], "value": attrs})
                if str(type) in SCALARS
                else NO_ATTRS
            )
        made = Op(
            opdef=opdef, operands=self._operands(operands, word), type=type, attrs=attrs,
            regions=self._regions(regions, opdef.regions), loc=self._place(place, word),
            name=_hint(result[0]) if result else "",
        )  # fmt: skip
        return self._define(result[0], made) if result else made

    def _operands(self, text: str, word: Token) -> tuple[Op, ...]:
        if not text:
            return ()
        names = [name.strip() for name in text.split(",")]
        try:
            return tuple([self._values[name] for name in names])
        except KeyError as unknown:
            raise _error(word, f"{unknown.args[0]} is not defined before this op") from unknown

    def _regions(self, read: tuple[_ReadRegion, ...], count: int) -> tuple[Region, ...]:
        """Regions left out at the end of an op are empty."""
        if not read and not count:
            return ()
        made = [Region(params=self._params(params), ops=self._ops(inner)) for params, inner in read]
        return (*made, *(Region() for _ in range(count - len(made))))

    def _define(self, name: Token, op: Op) -> Op:
        key = name[:-1].rstrip()
        if key in self._values:
            raise _error(name, f"{key} is defined twice")
        self._values[key] = op
        return op

    def _place(self, place: str, token: Token) -> Loc:
        if place not in self._places:
            raise _error(token, f"no line tells what {place} is")
        return self._places[place]


def _hint(name: str) -> str:
    """The Python name in `%name.2:`, which may have dots as in `%p.x:`; a bare number is none."""
    base, _, last = name[1:-1].rstrip().rpartition(".")
    base = base if last.isdigit() and base else f"{base}.{last}".lstrip(".")
    return "" if base.isdigit() else base


def _symbol(token: Token) -> str:
    return str(json.loads(token[1:])) if token[1] == '"' else str(token[1:])


def _checked_type(token: Token) -> Type:
    try:
        return _type(str(token))
    except (KeyError, ValueError, IndexError) as error:
        raise _error(token, f"no type {token}") from error


def _error(token: Token, message: str) -> ParseError:
    return ParseError(f"IR text, line {token.line}, column {token.column}: {message}")

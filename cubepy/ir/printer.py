"""A kernel as text: total, deterministic, independent of object identity; grammar in docs/ir.md.

Every op has the one form `%result: type = name operands [attributes] {regions}`; only constants
have a literal in the operands' place. Python names are kept as hints, made unique by a suffix.
Locations are left out unless asked for; then every op ends in `!number` and a table of places
follows. `parser.py` reads it all back.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Mapping, Sequence

from cubepy.ir import ops
from cubepy.ir.nodes import Function, Kernel, Op, Region
from cubepy.ir.opdef import AttrValue, OpDef
from cubepy.ir.types import SCALARS, VOID
from cubepy.location import UNKNOWN, Loc

__all__ = ["print_function", "print_kernel", "print_lines", "print_value"]

INDENT = "  "
# the word between two regions of an op; for the reader only, the parser takes both everywhere
BETWEEN: Mapping[OpDef, str] = {ops.IF: "else", ops.WHILE: "do"}
NOT_BARE = frozenset({"true", "false", "inf", "nan", *SCALARS})
QUIET_NAN = 0x7FF8000000000000

_bare = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z").match
_hint = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z").match
_symbol = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z").match


def print_kernel(kernel: Kernel, *, locations: bool = False) -> str:
    """The text of a kernel and its functions, callees first; `locations` adds the places."""
    printer = _Printer(locations=locations)
    for function in kernel.functions:
        printer.function(function)
    printer.kernel(kernel)
    printer.table()
    return "\n".join(printer.lines) + "\n"


def print_lines(kernel: Kernel) -> list[tuple[str, Loc]]:
    """The lines of `print_kernel`, each with its place in the source."""
    printer = _Printer(locations=False)
    for function in kernel.functions:
        printer.function(function)
    printer.kernel(kernel)
    return list(zip(printer.lines, printer.places, strict=True))


def print_function(function: Function) -> str:
    """The text of one function, without locations."""
    printer = _Printer(locations=False)
    printer.function(function)
    return "\n".join(printer.lines)


def print_value(value: AttrValue) -> str:
    """An attribute's value, exactly: types and words bare, other text quoted, tuples in ()."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(str, value))})"
    if isinstance(value, str):
        return value if _bare(value) and value not in NOT_BARE else json.dumps(value)
    return str(value)


def _float(value: float) -> str:
    """`repr` is exact for numbers; a NaN that is not the usual one keeps its bits."""
    if not math.isnan(value):
        return repr(value)
    bits: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    return "nan" if bits == QUIET_NAN else f"nan:{bits:#x}"


class _Printer:
    """Collects lines; knows the names given in the present function and the places in use."""

    def __init__(self, *, locations: bool) -> None:
        self.lines: list[str] = []
        self.places: list[Loc] = []
        self._names: dict[Op, str] = {}
        self._taken: dict[str, int] = {}
        self._places: dict[Loc, int] | None = {} if locations else None

    def _line(self, text: str, place: Loc) -> None:
        self.lines.append(text)
        self.places.append(place)

    def kernel(self, kernel: Kernel) -> None:
        options = f" options {_attributes(kernel.options)}" if kernel.options else ""
        cube_dim = ", ".join(map(str, kernel.cube_dim))
        head = (
            f"kernel {self._head(kernel)} cube_dim({cube_dim}){options}{self._place(kernel.loc)} {{"
        )
        self._body(head, kernel.body, kernel.loc)

    def function(self, function: Function) -> None:
        self._body(
            f"function {self._head(function)} -> {function.result}{self._place(function.loc)} {{",
            function.body,
            function.loc,
        )

    def table(self) -> None:
        """The places used, callers' places before those reached through them."""
        for loc, number in (self._places or {}).items():
            span = f"{loc.line}:{loc.column}-{loc.end_line}:{loc.end_column}"
            within = f" in {json.dumps(loc.function)}" if loc.function else ""
            caller = f" at{self._place(loc.inlined_at)}" if loc.inlined_at is not None else ""
            self._line(f"!{number} = {json.dumps(loc.file)} {span}{within}{caller}", loc)

    def _head(self, owner: Kernel | Function) -> str:
        self._names, self._taken = {}, {}
        name = owner.name if _symbol(owner.name) else json.dumps(owner.name)
        return f"@{name}({self._parameters(owner.params)})"

    def _body(self, head: str, body: Region, place: Loc) -> None:
        self._line(head, place)
        self._region(body, INDENT)
        self._line("}", UNKNOWN)

    def _parameters(self, params: Sequence[Op]) -> str:
        return ", ".join(
            f"{self._define(param)}: {param.type}{self._place(param.loc)}" for param in params
        )

    def _region(self, region: Region, indent: str) -> None:
        for op in region.ops:
            self._op(op, indent)

    def _op(self, op: Op, indent: str) -> None:
        text = f"{indent}{op.opdef.name}{self._arguments(op)}{self._place(op.loc)}"
        if op.type is not VOID:
            text = f"{indent}{self._define(op)}: {op.type} = {text[len(indent) :]}"
        regions = op.regions
        while len(regions) > 1 and not regions[-1].ops and not regions[-1].params:
            regions = regions[:-1]
        for number, region in enumerate(regions):
            between = f" {BETWEEN.get(op.opdef, 'else')}" if number else ""
            params = f" ({self._parameters(region.params)})" if region.params else ""
            self._line(f"{text}{between}{params} {{", UNKNOWN if number else op.loc)
            self._region(region, indent + INDENT)
            text = f"{indent}}}"
        self._line(text, UNKNOWN if regions else op.loc)

    def _arguments(self, op: Op) -> str:
        if (
            op.opdef is ops.CONST
            and op.attrs.keys() == {"type", "value"}
            and op.attrs["type"] is op.type
        ):
            return f" {print_value(op.attrs['value'])}"
        names = self._names
        operands = ", ".join([names.get(operand, "%?") for operand in op.operands])
        text = f" {operands}" if operands else ""
        return f"{text} {_attributes(op.attrs)}" if op.attrs else text

    def _define(self, op: Op) -> str:
        hint = op.name if _hint(op.name) else ""
        count = self._taken.get(hint, 0)
        self._taken[hint] = count + 1
        text = f"%{hint}" if hint and not count else f"%{hint}.{count}" if hint else f"%{count}"
        self._names[op] = text
        return text

    def _place(self, loc: Loc | None) -> str:
        """` !number` of a place, entered into the table after the places it was reached through."""
        if self._places is None or loc is None or not loc.known:
            return ""
        if loc not in self._places:
            self._place(loc.inlined_at)
            self._places[loc] = len(self._places)
        return f" !{self._places[loc]}"


def _attributes(attrs: Mapping[str, AttrValue]) -> str:
    return f"[{', '.join([f'{name}={print_value(value)}' for name, value in attrs.items()])}]"

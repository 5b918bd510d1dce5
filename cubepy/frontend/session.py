"""What the lowering of one kernel keeps: helpers made so far, complaints, constants, limits."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

from cubepy.errors import CubeWarning, Diagnostic, SourceError
from cubepy.frontend.names import NameAnalysis
from cubepy.frontend.signature import Specialization
from cubepy.frontend.values import Skeleton
from cubepy.frontend.watched import Watch
from cubepy.ir import Function, Op
from cubepy.location import Loc, byte_offset, line_of
from cubepy.records import dataclass, field

if TYPE_CHECKING:
    from cubepy.frontend.notes import Note

__all__ = ["MAXIMUM_OPS", "MAXIMUM_TRIPS", "Complaint", "Instance", "Session", "raise_at_source"]

# What Python keeps to give a warning once for each place.
_GIVEN: dict[Any, Any] = {}
MAXIMUM_OPS = 50_000
MAXIMUM_TRIPS = 4_096
_MAXIMUM_COMPLAINTS = 20

Complaint = tuple[type[SourceError], Diagnostic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A helper lowered for certain arguments. `function` is None if it does nothing at run time.

    `result` is the value a call gives, without its run-time parts.
    """

    function: Function | None
    result: Skeleton | None
    failed: bool = False


@dataclass(slots=True)
class Session:
    """The state of one `lower`. `prefix` begins the names of helpers; `contract` and
    `deterministic` as of `@cube`. Helpers are kept by function and skeletons of their arguments.
    """

    specialization: Specialization
    prefix: str = ""
    contract: bool = False
    deterministic: bool = False
    functions: list[Function] = field(default_factory=list)
    instances: dict[Hashable, Instance] = field(default_factory=dict)
    complaints: list[Complaint] = field(default_factory=list)
    constants: dict[Op, Any] = field(default_factory=dict)
    analyses: dict[ast.AST, NameAnalysis] = field(default_factory=dict)
    prints: list[str] = field(default_factory=list)  # of cb.static_print
    warnings: list[Diagnostic] = field(default_factory=list)
    active: list[ast.AST] = field(default_factory=list)  # functions being lowered
    ops: int = 0
    exhausted: bool = False  # more ops than a kernel may have: nothing more is lowered
    trial: bool = False  # what is lowered will not run: Python must not either
    repeatable: bool = True  # another process would see and compute the same
    positions: set[str] = field(default_factory=set)  # names of those that were read
    notes: list[Note] | None = None  # of a kernel that is to be stepped through
    watch: Watch = field(default_factory=Watch)  # what was read that the captures do not have

    def report(self, error: SourceError) -> None:
        """Keep an error, to be raised with the others."""
        known = {(diagnostic.message, diagnostic.loc) for _, diagnostic in self.complaints}
        for diagnostic in error.diagnostics:
            if (diagnostic.message, diagnostic.loc) not in known:
                self.complaints.append((type(error), diagnostic))

    def warn(self, diagnostic: Diagnostic) -> None:
        """Keep a warning, to be given once the kernel is lowered."""
        if diagnostic not in self.warnings:
            self.warnings.append(diagnostic)

    def give_warnings(self) -> None:
        """Give every warning, at the kernel's own line."""
        for diagnostic in self.warnings:
            loc = diagnostic.loc
            text = diagnostic.render(kind="")
            warnings.warn_explicit(text, CubeWarning, loc.file, loc.line, registry=_GIVEN)

    @property
    def full(self) -> bool:
        """Whether so much is wrong that there is no point in going on."""
        return self.exhausted or len(self.complaints) >= _MAXIMUM_COMPLAINTS

    @contextmanager
    def called_from(self, loc: Loc, library: str = "") -> Iterator[None]:
        """Complaints made inside get the call that led there.

        Of a function of the device library, by its name, the first is a complaint about the call.
        """
        before = len(self.complaints)
        yield
        found = self.complaints[before:]
        self.complaints[before:] = (
            [(kind, _about(diagnostic, loc, library)) for kind, diagnostic in found[:1]]
            if library
            else [(kind, _through(diagnostic, loc)) for kind, diagnostic in found]
        )

    def raise_complaints(self) -> None:
        """Raise every complaint as one error of the first one's class."""
        if self.complaints:
            kind = self.complaints[0][0]
            raise_at_source(kind([diagnostic for _, diagnostic in self.complaints]))

    def watch_helper(self, function: FunctionType) -> None:
        """Note that a function was lowered; those among the captures are watched already."""
        if function not in self.specialization.captures.values:
            self.watch.function(function)

    def fresh_name(self, name: str) -> str:
        """A name no helper has yet."""
        taken = {function.name for function in self.functions}
        number, name = 1, self.prefix + name
        fresh = name
        while fresh in taken:
            number += 1
            fresh = f"{name}_{number}"
        return fresh


def raise_at_source(error: SourceError) -> NoReturn:
    """Raise an error so that the last line of its traceback is the kernel's."""
    loc = error.loc
    if loc.known:
        code = compile(_raising(loc), loc.file, "exec", dont_inherit=True)
        name = loc.function or "kernel"
        exec(code.replace(co_name=name, co_qualname=name), {"error": error})  # noqa: S102 (our text)
    raise error


def _raising(loc: Loc) -> ast.Module:
    """`raise error` at a place, so that a traceback puts its carets there."""
    last = max(loc.line, loc.end_line)
    start, end = byte_offset(loc.file, loc.line, loc.column), len(line_of(loc.file, last).encode())
    if loc.end_line:
        end = byte_offset(loc.file, last, loc.end_column)
    if last == loc.line:
        end = max(start, end)
    place = {"lineno": loc.line, "col_offset": start, "end_lineno": last, "end_col_offset": end}
    name = ast.Name("error", ast.Load(), **place)
    return ast.Module([ast.Raise(name, None, **place)], [])


def _through(diagnostic: Diagnostic, loc: Loc) -> Diagnostic:
    return Diagnostic(
        message=diagnostic.message,
        loc=diagnostic.loc.called_from(loc),
        help=diagnostic.help,
        notes=diagnostic.notes,
    )


def _about(diagnostic: Diagnostic, loc: Loc, library: str) -> Diagnostic:
    return Diagnostic(message=f"{library}: {diagnostic.message}", loc=loc, help=diagnostic.help)

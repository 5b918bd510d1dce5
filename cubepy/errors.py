"""Every exception cubepy raises.

::

    CubeError
    ├── SourceError                a mistake in a kernel's source; carries one or more Diagnostics
    │   ├── CubeSyntaxError        (SyntaxError)   a statement or expression kernels do not have
    │   ├── CubeTypeError          (TypeError)     types that do not go together
    │   ├── CubeNameError          (NameError)     a name that is not defined, or not on every path
    │   ├── CubeValueError         (ValueError)    a value out of its permitted range
    │   ├── ComptimeError          (ValueError)    something must be known while compiling and is
    not
    │   ├── UniformityError        (ValueError)    a barrier or plane op under divergent control
    flow
    │   └── UnsupportedError       (NotImplementedError)  the target cannot do it; names the feature
    ├── SourceUnavailable          (OSError)       the text of the kernel cannot be found
    ├── LaunchError                (ValueError)    arguments or sizes of a launch do not fit
    │   ├── ArgumentError          (TypeError)     one argument does not fit its parameter
    │   └── OutOfBoundsError       (IndexError)    check="validate" found an access outside
    ├── AssertionFailed            (AssertionError) an `assert` of a kernel did not hold
    ├── RuntimeUnavailable         (RuntimeError)  a runtime or device that is not there, and why
    ├── BackendError               (RuntimeError)  a tool or driver complained; its output attached
    ├── OutOfMemoryError           (MemoryError)
    ├── DeviceLostError            (RuntimeError)
    ├── NotPicklable               (PicklingError) another process could not find the kernel
    ├── ConfigError                (ValueError)
    ├── ParseError                 (ValueError)    IR text that does not parse
    ├── VerifyError                (RuntimeError)  a bug in cubepy: ill-formed IR
    └── ReferenceFault             (RuntimeError)  the reference runtime found a fault in a kernel
        ├── DataRaceError
        ├── UninitializedReadError
        ├── DivergentBarrierError
        └── NoProgressError

Errors of kernels are built from :class:`Diagnostic` values: what, where, why, what to do.
:class:`CubeWarning` is the one warning; it is built in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pickle import PicklingError
from typing import Any

from cubepy.late import late_import
from cubepy.location import Loc, excerpt
from cubepy.records import dataclass

__all__ = [
    "ArgumentError",
    "AssertionFailed",
    "BackendError",
    "ComptimeError",
    "ConfigError",
    "CubeError",
    "CubeNameError",
    "CubeSyntaxError",
    "CubeTypeError",
    "CubeValueError",
    "CubeWarning",
    "DataRaceError",
    "DeviceLostError",
    "Diagnostic",
    "DivergentBarrierError",
    "LaunchError",
    "NoProgressError",
    "NotPicklable",
    "OutOfBoundsError",
    "OutOfMemoryError",
    "ParseError",
    "ReferenceFault",
    "RuntimeUnavailable",
    "SourceError",
    "SourceUnavailable",
    "UniformityError",
    "UninitializedReadError",
    "UnsupportedError",
    "VerifyError",
    "did_you_mean",
    "shown",
    "stays_here",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One complaint: `message` at `loc`, further places in `notes`, and what to do in `help`."""

    message: str
    loc: Loc
    help: str = ""
    notes: tuple[tuple[str, Loc], ...] = ()

    def render(self, kind: str = "error") -> str:
        """The complaint as shown to a person, several lines; without a kind, without its place."""
        where = f"{self.loc}: " if self.loc.known and kind else ""
        lines = [f"{where}{kind}: {self.message}" if kind else self.message, excerpt(self.loc)]
        for text, place in self.notes:
            lines += [f"{place}: note: {text}", excerpt(place)]
        call = self.loc.inlined_at
        while call is not None:
            where = f" in {call.function}" if call.function else ""
            lines += [f"{call}: note: called from here{where}", excerpt(call)]
            call = call.inlined_at
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(line for line in lines if line)


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.7) -> str:
    """A help line with the nearest of some names; empty if none is near."""
    with late_import:
        import difflib  # noqa: PLC0415 - for a message only

    names = list(known)
    close = [each for each in names if each.lower().rstrip("_") == name.lower().rstrip("_")]
    close = close or difflib.get_close_matches(name, names, n=1, cutoff=cutoff)
    return f"did you mean {close[0]}?" if close else ""


def shown(value: object) -> str:
    """Numbers, alone or in a tuple or list, in a message: none of hundreds of digits."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        sign = "-" if value < 0 else ""
        return f"about {sign}10**{round((value.bit_length() - 0.5) * math.log10(2))}"
    if type(value) is tuple or type(value) is list:
        text = ", ".join(map(shown, value))
        return f"[{text}]" if type(value) is list else f"({text}{',' * (len(value) == 1)})"
    try:
        return repr(value)
    except ValueError:  # there is such an integer inside
        return f"a {type(value).__name__}"


# Of integers whose digits are shown.
_MOST_BITS = 128


class CubeWarning(UserWarning):
    """Something in a kernel that is permitted and hardly meant."""


class CubeError(Exception):
    """Base of everything cubepy raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Whole, whatever it was made of: it may be raised in a process that others wait for."""
        return _again, (type(self), self.args), self.__dict__


_WRITTEN_IN_PYTHON = 1 << 9


def _again(kind: type[CubeError], arguments: tuple[Any, ...]) -> CubeError:
    maker: type = kind
    while maker.__flags__ & _WRITTEN_IN_PYTHON:  # only the class below those can make one
        maker = maker.__base__ or object
    error: CubeError = maker.__new__(kind, *arguments)
    super(CubeError, error).__init__(*arguments)
    return error


class SourceError(CubeError):
    """A mistake in a kernel; `diagnostics` holds every complaint found, the first one names the
    class.
    """

    def __init__(self, diagnostics: Diagnostic | Sequence[Diagnostic]) -> None:
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = found
        super().__init__("\n\n".join(diagnostic.render() for diagnostic in found))

    @property
    def loc(self) -> Loc:
        """The place of the first complaint."""
        return self.diagnostics[0].loc

    def __str__(self) -> str:
        return "\n\n".join(diagnostic.render() for diagnostic in self.diagnostics)


class CubeSyntaxError(SourceError, SyntaxError):
    """A statement or expression that kernels do not have."""


class CubeTypeError(SourceError, TypeError):
    """Types that do not go together."""


class CubeNameError(SourceError, NameError):
    """A name that is not defined, or not on every path."""


class CubeValueError(SourceError, ValueError):
    """A value out of its permitted range."""


class ComptimeError(SourceError, ValueError):
    """Something must be known while the kernel is compiled and is not."""


class UniformityError(SourceError, ValueError):
    """A barrier or plane operation under control flow that is not uniform enough."""


class UnsupportedError(SourceError, NotImplementedError):
    """The target cannot do it; the message names the feature."""


class SourceUnavailable(CubeError, OSError):
    """The source text of a kernel cannot be found."""


class LaunchError(CubeError, ValueError):
    """Arguments or sizes of a launch do not fit."""


class ArgumentError(LaunchError, TypeError):
    """One argument of a launch does not fit its parameter."""


class OutOfBoundsError(LaunchError, IndexError):
    """`check="validate"` found an access outside; `loc` is the place in the kernel."""

    def __init__(self, message: str, loc: Loc, guard: str = "i < len(x)") -> None:
        self.loc = loc
        advice = f"test the subscript before the access, for example if {guard}"
        super().__init__(Diagnostic(message=message, loc=loc, help=advice).render())


class AssertionFailed(CubeError, AssertionError):
    """An `assert` of a kernel did not hold; `loc` is its place."""

    def __init__(self, message: str, loc: Loc) -> None:
        self.loc = loc
        advice = "print what the unit has before it, or step through it: kernel.over(n, debug=True)"
        super().__init__(Diagnostic(message=message, loc=loc, help=advice).render())


class RuntimeUnavailable(CubeError, RuntimeError):
    """A runtime or device that is not there, and why."""


class BackendError(CubeError, RuntimeError):
    """A compiler, assembler or driver complained; its own output is in `output`."""

    def __init__(self, message: str, output: str = "") -> None:
        self.output = output
        super().__init__(f"{message}\n{output}" if output else message)


class OutOfMemoryError(CubeError, MemoryError):
    """A device has no room for an allocation; buffers and device stay usable."""


class DeviceLostError(CubeError, RuntimeError):
    """The device stopped answering."""


class NotPicklable(CubeError, PicklingError):
    """Something that another process could not find, or that belongs to this one."""


def stays_here(what: str, advice: str) -> NotPicklable:
    """What is raised when something of this process is pickled or copied."""
    return NotPicklable(f"{what} cannot be copied or sent to another process\n  help: {advice}")


class ConfigError(CubeError, ValueError):
    """A setting that is not known or does not fit."""


class ParseError(CubeError, ValueError):
    """IR text that does not parse."""


class VerifyError(CubeError, RuntimeError):
    """Ill-formed IR: a bug in cubepy, never the user's mistake. The printed kernel is attached as a
    note.
    """


class ReferenceFault(CubeError, RuntimeError):
    """The reference runtime found a fault; `diagnostics` name the places."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostics = (diagnostic,)
        self.loc = diagnostic.loc
        super().__init__(diagnostic.render())


class DataRaceError(ReferenceFault):
    """Two units touch the same element, one writes, and no barrier orders them."""


class UninitializedReadError(ReferenceFault):
    """A read of shared or private memory that nothing has written."""


class DivergentBarrierError(ReferenceFault):
    """A barrier that not every unit of the cube reaches."""


class NoProgressError(ReferenceFault):
    """A loop in which nothing changes any more: units wait for one another."""

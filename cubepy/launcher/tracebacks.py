"""Tracebacks of users' mistakes: the caller's line and the kernel's, without cubepy's own between.

`CUBEPY_TRACEBACKS=full` leaves them whole, and so do errors that mean a bug in cubepy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

from cubepy import config
from cubepy.errors import BackendError, CubeError, ParseError, VerifyError

__all__ = ["short_tracebacks", "shortened"]

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=CubeError)

_BUGS = (BackendError, ParseError, VerifyError)


def shortened(error: E) -> E:
    """The error with no frame of cubepy's own in its traceback; to be raised from an entry."""
    if isinstance(error, _BUGS) or config.current().compilation.tracebacks == "full":
        return error
    return error.with_traceback(_without_own(error.__traceback__))


def _without_own(traceback: TracebackType | None) -> TracebackType | None:
    entries: list[TracebackType] = []
    while traceback is not None:
        if not _is_own(traceback):
            entries.append(traceback)
        traceback = traceback.tb_next
    rest: TracebackType | None = None
    for entry in reversed(entries):
        rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rest


def _is_own(traceback: TracebackType) -> bool:
    module = str(traceback.tb_frame.f_globals.get("__name__", ""))
    package = module.partition(".")[0]
    return package == "cubepy" or package.startswith("cubepy_")


def short_tracebacks(entry: Callable[P, R]) -> Callable[P, R]:
    """Let errors, and who leaves a debugger, leave a function with a short traceback."""

    @functools.wraps(entry)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        try:
            return entry(*arguments, **keywords)
        except CubeError as error:
            raise shortened(error) from error.__cause__
        except Exception as error:
            if type(error).__module__ != "bdb":  # `BdbQuit`; launches do not import bdb for it
                raise
            raise error.with_traceback(_without_own(error.__traceback__)) from None

    return call

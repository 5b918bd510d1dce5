"""Room for deeply nested kernels: a chain of `elif` nests as deep as it has branches.

Python's own limit of recursion is meant for programs that never end. Kernels are compiled, and
interpreted, under a higher one, which no stack of a thread is too small for.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cubepy.errors import Diagnostic, UnsupportedError
from cubepy.location import Loc

__all__ = ["deep"]

# Frames; a few hundred branches of an `elif` are nested in each other.
DEPTH = 3_000
_lock = threading.Lock()
_state = {"inside": 0, "usual": 0}  # threads inside, and the limit outside


@contextmanager
def deep(kernel: str, loc: Loc) -> Iterator[None]:
    """Allow deeper recursion, for all threads, while any is inside; an UnsupportedError that names
    a kernel and its place where even that is not enough.
    """
    with _lock:
        if _state["inside"] == 0:
            _state["usual"] = sys.getrecursionlimit()
            sys.setrecursionlimit(max(DEPTH, _state["usual"]))
        _state["inside"] += 1
    try:
        yield
    except RecursionError as error:
        raise UnsupportedError(
            Diagnostic(
                message=f"{kernel} is nested too deeply",
                loc=loc,
                help="give parts of a long expression names; "
                "use a loop or helpers instead of a long chain of elif",
            )
        ) from error
    finally:
        with _lock:
            _state["inside"] -= 1
            if _state["inside"] == 0:
                sys.setrecursionlimit(_state["usual"])

"""What becomes of a mutated kernel: Python refuses it, cubepy refuses it, or it compiles.

Any exception that is not cubepy's own, or that says cubepy is broken, passes through. A kernel that
compiles is verified; `run_alike` also launches it on the reference and in machine code.
"""

from __future__ import annotations

import random
import signal
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import cubepy as cb
from cubepy import compiler, frontend, ir
from cubepy.errors import CubeError, ReferenceFault, VerifyError
from cubepy.testing import reference_for
from tests.mutation.corpus import Case, corpus
from tests.mutation.mutations import mutated

__all__ = ["TooLong", "defined", "lowered", "mutation", "outcome", "run_alike"]

SECONDS_TO_COMPILE = 30.0
SECONDS_TO_RUN = 2.0


class TooLong(BaseException):
    """A mutation took more than any should. No Exception, so that nothing takes it for one."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TooLong from inside what takes more processor time."""

    def ring(number: int, frame: types.FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def mutation(seed: int) -> tuple[Case, str]:
    """The case and the changed text of a seed."""
    cases = corpus()
    case = random.Random(seed).choice(cases)
    return case, mutated(case.text, [other.text for other in cases], seed)


def defined(case: Case, text: str) -> types.FunctionType | None:
    """The function a text defines; None where Python itself does not run the text."""
    scope = dict(case.scope)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            cb.exec(text, scope)
    except Exception:  # noqa: BLE001 (an annotation or default may be anything)
        return None
    found = scope.get(case.name)
    return found if isinstance(found, types.FunctionType) else None


def outcome(seed: int) -> str:
    """`python`, `refused` or `compiled`; raises what a user must never see."""
    case, text = mutation(seed)
    function = defined(case, text)
    if function is None:
        return "python"
    try:
        with at_most(SECONDS_TO_COMPILE):
            kernel = lowered(case, function)
    except VerifyError:
        raise
    except CubeError as error:
        check_message(error)
        return "refused"
    assert ir.print_kernel(ir.parse_kernel(ir.print_kernel(kernel))) == ir.print_kernel(kernel)
    return "compiled"


def lowered(case: Case, function: types.FunctionType) -> ir.Kernel:
    """The verified IR of a kernel."""
    source = frontend.capture(function)
    options = frontend.LaunchOptions(
        cube_dim=case.cube_dim, over_rank=len(case.shape), plane_dim=16
    )
    given = {name: value for name, value in case.arguments().items()
             if name in source.signature.parameters}  # fmt: skip
    return compiler.lower(source, frontend.specialize(source, given, options))


def check_message(error: CubeError) -> None:
    """A message has text, and no internals in it."""
    text = str(error)
    assert text.strip()
    for word in ("<ast.", "object at 0x", "NotImplemented", "Traceback", "TypeRule"):
        assert word not in text, text


def run_alike(seed: int) -> str:
    """Launch a mutation on both runtimes: `python`, `refused`, `fault`, `long` or `same`.

    `fault`: units race, or read what was never written. `long`: a loop without end.
    """
    case, text = mutation(seed)
    function = defined(case, text)
    if function is None:
        return "python"
    try:
        kernel = cb.cube(function)
        expected = _launched(kernel, case, reference_for("cpu").replace("shared", "all"))
        got = expected and _launched(kernel, case, "cpu")
    except ReferenceFault:
        return "fault"
    except VerifyError:
        raise
    except CubeError as error:
        check_message(error)
        return "refused"
    for name, value in expected.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(got[name], value, err_msg=f"{seed}: {name}")
    return "same" if expected else "long"


def _launched(kernel: Any, case: Case, where: str) -> dict[str, Any]:
    """The arguments after a launch; none where that took too long."""
    given = {name: value for name, value in case.arguments().items()
             if name in kernel.source.signature.parameters}  # fmt: skip
    with at_most(SECONDS_TO_COMPILE):
        if case.shape:
            prepared = kernel.over(case.shape, device=where).prepare(**given)
        else:
            prepared = kernel.launcher(1, case.cube_dim, where).prepare(**given)
    try:
        with at_most(SECONDS_TO_RUN), np.errstate(all="ignore"):
            prepared(**given)
    except TooLong:
        return {}
    return given

"""`cubepy show FILE:KERNEL`: what a kernel becomes for given kinds of arguments, at any stage."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping

from rich.console import Console

from cubepy.inspection import Inspection, PassStep, asm_listing, hot_listing, rendered
from cubepy.tools.launches import named_launch

__all__ = ["show"]

_MORE = (
    "--asm the machine code, --hot its hot loop, --ir, --after PASS, --diff what passes change, "
    "--llvm, --text, --target; `cubepy explore` all of it on a page"
)
_WIDTH = 100  # where the output is not a terminal


def show(arguments: argparse.Namespace) -> int:
    """Print what was decided about a kernel, one stage of it, or what each pass changed."""
    inspection = named_launch(arguments).inspect(arguments.target)
    shown = [name for name in _STAGES if getattr(arguments, name)]
    if arguments.decisions or not (shown or arguments.after or arguments.diff):
        _console().print(rendered(inspection, _MORE))
    if arguments.after is not None:
        _after(inspection, arguments.after, diff=arguments.diff)
    elif arguments.diff:
        _differences(inspection.passes)
    for name in shown:
        _STAGES[name](inspection)
    return 0


def _console() -> Console:
    width = None if sys.stdout.isatty() else _WIDTH
    return Console(width=width, soft_wrap=False)


def _after(inspection: Inspection, name: str, *, diff: bool) -> None:
    """The IR behind a pass, or what all of its runs changed."""
    runs = inspection.runs_of(name)
    if diff:
        _differences(runs)
        return
    print(runs[-1].text)
    if len(runs) > 1:
        others = ", ".join(step.name for step in runs[:-1])
        print(
            f"{name} ran {len(runs)} times; this is after the last. Before it: {others}",
            file=sys.stderr,
        )


def _differences(steps: tuple[PassStep, ...]) -> None:
    for step in steps:
        unchanged = f"--- {step.name} changes nothing" if step.before else step.text
        print(step.diff or unchanged)


def _machine_code(inspection: Inspection) -> None:
    _console().print(asm_listing(inspection), soft_wrap=True)


def _hot_loop(inspection: Inspection) -> None:
    _console().print(hot_listing(inspection), soft_wrap=True)


def _printed(attribute: str) -> Callable[[Inspection], None]:
    return lambda inspection: print(getattr(inspection, attribute))


_STAGES: Mapping[str, Callable[[Inspection], None]] = {
    "ir": _printed("ir"),
    "text": _printed("text"),
    "llvm": _printed("llvm"),
    "asm": _machine_code,
    "hot": _hot_loop,
    "raw_asm": _printed("asm"),
}

"""`cubepy show FILE:KERNEL`: what a kernel becomes for given kinds of arguments, at any stage."""

from __future__ import annotations

import argparse

from cubepy.inspection import Inspection, PassStep
from cubepy.tools.launches import named_launch

__all__ = ["show"]


def show(arguments: argparse.Namespace) -> int:
    """Print one stage of a kernel, or what each pass changed."""
    inspection = named_launch(arguments).inspect(arguments.target)
    if arguments.after is not None:
        step = inspection.after(arguments.after)
        print((step.diff or _unchanged(step)) if arguments.diff else step.text)
    elif arguments.diff:
        for step in inspection.passes:
            print(step.diff or _unchanged(step))
    elif arguments.decisions:
        inspection.show()
    else:
        print(_stage(inspection, arguments))
    return 0


def _unchanged(step: PassStep) -> str:
    return f"--- {step.name} changes nothing" if step.before else step.text


def _stage(inspection: Inspection, arguments: argparse.Namespace) -> str:
    if arguments.ir:
        return inspection.ir
    if arguments.llvm:
        return inspection.llvm
    return inspection.asm if arguments.asm else inspection.text

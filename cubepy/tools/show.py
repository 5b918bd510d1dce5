"""`cubepy show FILE:KERNEL`: what a kernel becomes for given kinds of arguments, at any stage."""

from __future__ import annotations

import argparse
from typing import Any

from cubepy.cube import Cube
from cubepy.errors import CubeError
from cubepy.inspection import Inspection, PassStep, example_arguments
from cubepy.launcher import Launcher
from cubepy.tools.kernels import load_kernel

__all__ = ["inspection_of", "show"]


def show(arguments: argparse.Namespace) -> int:
    """Print one stage of a kernel, or what each pass changed."""
    inspection = inspection_of(arguments)
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


def inspection_of(arguments: argparse.Namespace, target: str | None = None) -> Inspection:
    """The kernel that the command line names, inspected for its target, or for another."""
    kernel = load_kernel(arguments.kernel)
    values = example_arguments(kernel.source, arguments.signature)
    return _launcher(kernel, arguments).inspect(target=target or arguments.target, **values)


def _launcher(kernel: Cube[..., Any], arguments: argparse.Namespace) -> Launcher:
    if arguments.cube_dim is None:
        return kernel.over(_sizes(arguments.over, "--over"), check=arguments.check)
    sizes = _sizes(arguments.cube_dim, "--cube-dim")
    return kernel.launcher(cube_count=1, cube_dim=sizes, check=arguments.check)


def _sizes(text: str, option: str) -> tuple[int, ...]:
    """`8` or `4,2` as numbers."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise CubeError(f"{option} {text}: expects numbers such as 100 or 1000,2000")
    return tuple(int(part) for part in parts)

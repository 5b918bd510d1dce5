"""Kernels in other processes: pickled as functions are, by module and name, with their launchers.

Nothing compiled travels: the other process finds the kernel in its own module, and what is compiled
in the store on disk.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from cubepy import frontend
from cubepy.errors import NotPicklable
from cubepy.late import late_import
from cubepy.launcher.work import Work

__all__ = ["Again", "launcher_again", "named", "over_again", "reference"]

#: What an object's `__reduce__` gives: a function, and what it is called with elsewhere.
Again = tuple[Callable[..., Any], tuple[Any, ...]]


def reference(source: frontend.KernelSource) -> tuple[str, str]:
    """The module of a kernel, and its name there."""
    module, name = source.function.__module__, source.function.__qualname__
    if getattr(_found(sys.modules.get(module), name), "source", None) is not source:
        raise NotPicklable(
            f"{source.name}: other processes find kernels by name, and {name} of {module!r} "
            "is not this one\n  help: define it at the top of a module, under its own name"
        )
    return module, name


def named(module: str, name: str) -> Any:
    """The kernel of that name, in the process that unpickles it."""
    with late_import:
        found = _found(importlib.import_module(module), name)
    if not isinstance(getattr(found, "source", None), frontend.KernelSource):
        raise NotPicklable(
            f"{name}: the module {module!r} of this process has no such kernel\n"
            "  help: define it in a module that both processes import"
        )
    return found


def _found(module: object, name: str) -> object:
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def over_again(module: str, name: str) -> Any:
    """`k.over` of that kernel."""
    return named(module, name).over


def launcher_again(module: str, name: str, work: Work, planes: list[int], device: Any) -> Any:
    """A launcher with these sizes; the axes of `planes` are as long as a plane."""
    kernel = named(module, name)
    if work.shape is not None:
        return kernel.over(work.shape, device, work.check)
    dim = work.cube_dim
    if planes:
        parts = [frontend.PLANE if at in planes else part for at, part in enumerate(dim)]
        dim = tuple(parts)
    return kernel.launcher(work.cube_count, dim, device, work.check)

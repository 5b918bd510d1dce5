"""The kernel that `FILE:KERNEL` on a command line names: the file is run, its kernels are found."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cubepy.cube import Cube
from cubepy.errors import CubeError, did_you_mean

__all__ = ["load_kernel", "load_module"]


def load_kernel(place: str) -> Cube[..., Any]:
    """The kernel that `FILE:NAME` names; NAME may be dotted, and left out if there is only one."""
    path, name = _place(place)
    kernels = dict(_kernels(load_module(path), path.stem))
    if not name and len(kernels) == 1:
        return next(iter(kernels.values()))
    if name in kernels:
        return kernels[name]
    known = "\n".join(f"  {path}:{each}" for each in kernels)
    listed = f"; it has\n{known}" if known else "; it has no kernel at all"
    if not name:
        raise CubeError(f"{path}: which kernel?{listed[1:]}")
    advice = did_you_mean(name, kernels)
    raise CubeError(
        f"{path} has no kernel {name!r}{listed}" + (f"\n  help: {advice}" * bool(advice))
    )


def _place(place: str) -> tuple[Path, str]:
    """The file and the name of a kernel in it, which may be missing."""
    if Path(place).is_file():
        return Path(place), ""
    file, _, name = place.rpartition(":")
    if not file or not Path(file).is_file():
        raise CubeError(f"{place!r}: expects FILE:KERNEL with a file that exists")
    return Path(file), name


def _kernels(holder: Any, module: str, prefix: str = "") -> Iterator[tuple[str, Cube[..., Any]]]:
    """The kernels that a module or a class holds, by dotted name."""
    for name, value in list(vars(holder).items()):
        if isinstance(value, Cube):
            yield prefix + name, value
        elif isinstance(value, type) and value.__module__ == module:
            yield from _kernels(value, module, f"{prefix}{name}.")


def load_module(path: Path) -> Any:
    """The file as a module, imported the way Python runs a script: its folder comes first."""
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module

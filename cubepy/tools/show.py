"""`cubepy show FILE:KERNEL`: what a kernel becomes for given kinds of arguments, at any stage."""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cubepy import frontend, ir
from cubepy.compiler import Stages
from cubepy.cube import Cube
from cubepy.errors import CubeError, did_you_mean
from cubepy.launcher import Launcher

__all__ = ["example_arguments", "load_kernel", "show"]

_ARRAY = re.compile(r"(?P<element>\w+)\s*\[(?P<axes>[\s:,]*)\]")
# Elements along each axis of an example array; no kernel is specialised for it.
EXTENT = 4


def show(arguments: argparse.Namespace) -> int:
    """Print one stage of a kernel, or what each pass changed."""
    kernel = load_kernel(arguments.kernel)
    values = example_arguments(kernel, arguments.signature)
    launcher = _launcher(kernel, arguments)
    ran: list[tuple[str, str]] = []

    def observe(name: str, after: ir.Kernel) -> None:
        ran.append((name, ir.print_kernel(after)))

    stages = launcher.inspect(target=arguments.target, observe=observe, **values)
    if arguments.after is not None:
        print(_after(_numbered(ran), arguments.after))
    elif arguments.diff:
        _print_changes(_numbered(ran))
    else:
        print(_stage(stages, arguments))
    return 0


def _stage(stages: Stages, arguments: argparse.Namespace) -> str:
    if arguments.ir:
        return stages.ir
    if arguments.llvm:
        return stages.llvm
    return stages.asm if arguments.asm else stages.text


def _numbered(ran: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Passes with their texts; one that ran several times is `simplify:1`, `simplify:2`."""
    runs = Counter(name for name, _ in ran)
    seen: Counter[str] = Counter()
    passed: list[tuple[str, str]] = []
    for name, text in ran:
        seen[name] += 1
        passed.append((f"{name}:{seen[name]}" if runs[name] > 1 else name, text))
    return passed


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


def _after(passed: list[tuple[str, str]], wanted: str) -> str:
    """The text after a pass: after its last run, unless its name tells which."""
    for name, text in reversed(passed):
        if wanted in (name, name.partition(":")[0]):
            return text
    names = ", ".join(name for name, _ in passed)
    raise CubeError(f"no pass {wanted!r} ran: these did: {names}")


def _print_changes(passed: list[tuple[str, str]]) -> None:
    previous = ""
    for name, text in passed:
        changes = difflib.unified_diff(
            previous.splitlines(), text.splitlines(), "before", name, lineterm="", n=2
        )
        changed = list(changes)
        print("\n".join(changed) if changed else f"--- {name} changes nothing")
        previous = text


def load_kernel(place: str) -> Cube[..., Any]:
    """The kernel that `FILE:NAME` names; NAME may be dotted, and left out if there is only one."""
    path, name = _place(place)
    kernels = dict(_kernels(_module(path), path.stem))
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


def _module(path: Path) -> Any:
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


def example_arguments(kernel: Cube[..., Any], signature: str) -> dict[str, Any]:
    """An example of every argument, from `signature` or else from the annotation."""
    written = _written(signature)
    source = kernel.source
    unknown = sorted(set(written) - set(source.signature.parameters))
    if unknown:
        raise CubeError(f"{source.name} has no parameter {unknown[0]!r}")
    values: dict[str, Any] = {}
    for name, parameter in source.signature.parameters.items():
        if name in written:
            values[name] = _example(name, written[name])
        elif parameter.default is parameter.empty:
            values[name] = _annotated(name, frontend.annotation_of(source.annotations.get(name)))
    return values


# Text in quotes and in brackets holds together; one level of brackets is enough for a signature.
_ENTRY = re.compile(r"""(?:'[^']*'|"[^"]*"|[\[(][^\])]*[\])]|[^,'"\[(])+""")


def _written(signature: str) -> dict[str, str]:
    """`x=f32[:,:], n=4` by name."""
    pairs = (entry.partition("=") for entry in _ENTRY.findall(signature) if entry.strip())
    return {name.strip(): text.strip() for name, _, text in pairs}


def _example(name: str, text: str) -> Any:
    array = _ARRAY.fullmatch(text)
    if array is not None and array["element"] in ir.SCALARS:
        rank = len(array["axes"].split(","))
        return np.zeros((EXTENT,) * rank, ir.SCALARS[array["element"]].numpy)
    if text in ir.SCALARS:
        return ir.SCALARS[text].numpy.type(1)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError) as error:
        raise CubeError(
            f"{name}={text}: expects an array such as f32[:,:], a type such as i32, or a literal"
        ) from error


def _annotated(name: str, annotation: frontend.Annotation) -> Any:
    element = ir.F32 if annotation.variable is not None else annotation.element
    if element is not None and annotation.kind in ("array", "tensor"):
        return np.zeros((EXTENT,) * (1 if annotation.kind == "array" else 2), element.numpy)
    if element is not None and annotation.kind in ("scalar", "generic"):
        return element.numpy.type(1)
    parts = [_annotated(f"{name}.{part}", inner) for part, inner in frontend.parts_of(annotation)]
    if annotation.kind == "struct":
        return annotation.structure(*parts)
    if annotation.kind in ("tuple", "vector"):
        return tuple(parts)
    raise CubeError(f"its annotation does not tell what {name} is: give it with --signature")

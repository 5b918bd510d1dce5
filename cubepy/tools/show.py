"""`cubepy show FILE:KERNEL`: what a kernel becomes for given kinds of arguments, at any stage."""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from cubepy import frontend, ir
from cubepy.cube import Cube
from cubepy.errors import CubeError
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
    passed: list[tuple[str, str]] = []

    def observe(name: str, after: ir.Kernel) -> None:
        passed.append((name, ir.print_kernel(after)))

    stages = launcher.inspect(target=arguments.target, observe=observe, **values)
    if arguments.after is not None:
        print(_after(passed, arguments.after))
    elif arguments.diff:
        _print_changes(passed)
    else:
        print(stages.asm if arguments.asm else stages.text)
    return 0


def _launcher(kernel: Cube[..., Any], arguments: argparse.Namespace) -> Launcher:
    if arguments.cube_dim is None:
        return kernel.over((EXTENT,) * arguments.over, check=arguments.check)
    numbers = tuple(int(number) for number in arguments.cube_dim.split(","))
    return kernel.launcher(cube_count=1, cube_dim=numbers, check=arguments.check)


def _after(passed: list[tuple[str, str]], name: str) -> str:
    """The text after the last run of a pass."""
    for ran, text in reversed(passed):
        if ran == name:
            return text
    names = ", ".join(dict.fromkeys(ran for ran, _ in passed))
    raise CubeError(f"no pass {name!r} ran: these did: {names}")


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
    """The kernel that `FILE:NAME` names; NAME may be dotted."""
    file, _, name = place.rpartition(":")
    path = Path(file)
    if not file or not path.is_file():
        raise CubeError(f"{place!r}: expects FILE:KERNEL with a file that exists")
    found: Any = _module(path)
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, Cube):
        raise CubeError(f"{path} has no kernel {name!r}")
    return found


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

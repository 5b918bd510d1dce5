"""The cookbook as a page: of each recipe its text, its kernels and how they are called.

What a kernel needs is imported once, at the top of the page; below that each recipe is complete.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from examples.cookbook.recipe import Recipe

__all__ = ["page"]

HEAD = """\
# Cookbook

Kernels by task, to copy and change. Each is a file of `examples/cookbook`, with the same in NumPy
or SciPy beside it: the tests run it on every device, compare the two, and time them side by side.
`python -m examples.cookbook` does that here and prints the times.

`run` takes and gives NumPy arrays and launches on the default device. In a program of yours, keep
results and buffers instead of making new ones for each call.
"""


def page(recipes: tuple[Recipe, ...]) -> str:
    """The page as Markdown."""
    contents = "\n".join(f"- [{each.title}](#{_anchor(each.title)})" for each in recipes)
    codes = ["\n\n\n".join(map(_source, (*each.kernels, each.run))) for each in recipes]
    parts = [HEAD, contents, _block("\n".join(_imports(recipes, "\n".join(codes))))]
    for each, code in zip(recipes, codes, strict=True):
        parts += [f"## {each.title}", each.text, _block(code)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _anchor(title: str) -> str:
    return title.lower().replace("–", "").replace(",", "").replace(" ", "-")


def _block(code: str) -> str:
    return f"```python\n{code}\n```"


def _source(shown: Any) -> str:
    return inspect.getsource(getattr(shown, "function", shown)).rstrip()


def _imports(recipes: tuple[Recipe, ...], code: str) -> Iterator[str]:
    """What the code needs of what its files import from elsewhere; cubepy comes last."""
    plain: set[str] = set()
    named: dict[str, set[str]] = {}
    for module in _modules(recipes):
        for statement in ast.parse(inspect.getsource(module)).body:
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                continue
            used = {each.name for each in statement.names if _occurs(each, code)}
            if isinstance(statement, ast.ImportFrom):
                named.setdefault(statement.module or "", set()).update(used)
            elif used:
                plain.add(ast.unparse(statement))
    lines = sorted(plain)
    for source, names in sorted(named.items()):
        if names and not source.startswith("examples"):
            lines.append(f"from {source} import {', '.join(sorted(names))}")
    ours = [line for line in lines if "cubepy" in line]
    yield from (line for line in lines if line not in ours)
    yield ""
    yield from ours


def _occurs(alias: ast.alias, code: str) -> bool:
    name = re.escape(alias.asname or alias.name)
    return re.search(rf"\b{name}\b", code) is not None


def _modules(recipes: tuple[Recipe, ...]) -> list[ModuleType]:
    found = [recipe.module for recipe in recipes]
    for recipe in recipes:
        for kernel in recipe.kernels:
            defined = inspect.getmodule(getattr(kernel, "function", kernel))
            if defined is not None and defined not in found:
                found.append(defined)
    return found

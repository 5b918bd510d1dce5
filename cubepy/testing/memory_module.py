"""Source text as a module: made in memory, and found by everything that shows source lines."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from importlib.abc import ExecutionLoader
from types import ModuleType

__all__ = ["module_of"]

_numbers = itertools.count()


class _TextLoader(ExecutionLoader):
    """Gives one text for whatever module it is asked for; `linecache` asks it for the lines."""

    def __init__(self, text: str, filename: str) -> None:
        self._text = text
        self._filename = filename

    def get_source(self, fullname: str) -> str:
        return self._text

    def get_filename(self, fullname: str) -> str:
        return self._filename

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None


def module_of(text: str, stem: str = "generated") -> ModuleType:
    """A new module with this source; it is not entered into `sys.modules`."""
    name = f"{stem}_{next(_numbers)}"
    loader = _TextLoader(text, f"{name}.py")
    spec = importlib.util.spec_from_loader(name, loader, origin=f"{name}.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules.pop(name, None)
    return module

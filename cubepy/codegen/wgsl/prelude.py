"""The functions of `library.wgsl` that a kernel needs, and those that emitters make for it."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib.resources import files

from cubepy.codegen.structured import HELPER

__all__ = ["Prelude"]

_CALLED = re.compile(rf"\b{HELPER}\w+(?=\()")
_FUNCTION = re.compile(r"^fn (\w+)\(.*?^\}$", re.MULTILINE | re.DOTALL)


@functools.cache
def _library() -> Mapping[str, str]:
    """Texts of the library's functions by name."""
    text = files("cubepy.codegen.wgsl").joinpath("library.wgsl").read_text(encoding="utf-8")
    return {found[1]: found[0] for found in _FUNCTION.finditer(text)}


class Prelude:
    """The functions needed so far, those they call before them."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    @property
    def texts(self) -> tuple[str, ...]:
        """Their text."""
        return tuple(self._texts.values())

    def need(self, name: str) -> str:
        """Have a function of the library; its name."""
        return self.add(name, _library()[name]) if name not in self._texts else name

    def add(self, name: str, text: str) -> str:
        """Have a function of the caller's making; its name."""
        if name not in self._texts:
            self.need_all(text, besides=name)
            self._texts[name] = text
        return name

    def need_all(self, text: str, besides: str = "") -> None:
        """Have what a text calls of the library."""
        for called in dict.fromkeys(_CALLED.findall(text)):
            if called in _library() and called != besides:
                self.need(called)

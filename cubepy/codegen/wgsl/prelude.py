"""The functions of the library that a kernel needs, and those that emitters make for it.

`library.wgsl` is for every device; those of `library_longs.wgsl`, `library_doubles.wgsl` and
`library_halves.wgsl` go before on devices with such types.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib.resources import files

from cubepy.codegen.structured import HELPER
from cubepy.target import Features

__all__ = ["Prelude"]

_CALLED = re.compile(rf"\b{HELPER}\w+(?=\()")
_FUNCTION = re.compile(r"^fn (\w+)\(.*?^\}$", re.MULTILINE | re.DOTALL)


@functools.cache
def _library(*names: str) -> Mapping[str, str]:
    """Texts of the functions by name, those of the last file first."""
    folder = files("cubepy.codegen.wgsl")
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in names]
    return {found[1]: found[0] for text in texts for found in _FUNCTION.finditer(text)}


class Prelude:
    """The functions needed so far, those they call before them."""

    def __init__(self, features: Features) -> None:
        self._texts: dict[str, str] = {}
        there = {
            "longs": features.longs,
            "doubles": features.doubles,
            "halves": features.half_conversion,
        }
        better = [f"library_{name}.wgsl" for name, found in there.items() if found]
        self._library = _library("library.wgsl", *better)

    @property
    def texts(self) -> tuple[str, ...]:
        """Their text."""
        return tuple(self._texts.values())

    def need(self, name: str) -> str:
        """Have a function of the library; its name."""
        return self.add(name, self._library[name]) if name not in self._texts else name

    def add(self, name: str, text: str) -> str:
        """Have a function of the caller's making; its name."""
        if name not in self._texts:
            self.need_all(text, besides=name)
            self._texts[name] = text
        return name

    def need_all(self, text: str, besides: str = "") -> None:
        """Have what a text calls of the library."""
        for called in dict.fromkeys(_CALLED.findall(text)):
            if called in self._library and called != besides:
                self.need(called)

"""Writes a measured error into the table of `cubepy/std/accuracy.py`, rounded up."""

from __future__ import annotations

import math
import re
from pathlib import Path

from cubepy.std import accuracy

__all__ = ["record"]

FILE = Path(accuracy.__file__)


def record(name: str, type: str, error: float) -> None:
    """The table's entry for a function and a type becomes this error."""
    stated = f"{math.ceil(error * 1000) / 1000:.3f}"
    text = FILE.read_text()
    entry = rf'("{name}": {{[^}}]*"{type}": )[0-9.]+'
    changed, count = re.subn(entry, rf"\g<1>{stated}", text)
    if count != 1:
        raise SystemExit(f"no entry for {name} of {type} in {FILE}")
    FILE.write_text(changed)

"""Cases for instructions in a target's own words: whoever runs them, the result is the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cubepy.testing.cases import Case
from cubepy.testing.text_cases import buffer, text_case

__all__ = ["native_cases"]

UNITS = 70
_PLAIN = """
function @plain(%v: f32) -> f32 {
  %0: f32 = abs %v
  return %0
}
"""


def native_cases() -> Iterator[Case]:
    """The absolute value, by a function of one target or of another."""
    values = np.linspace(-9, 9, 2 * UNITS, dtype=np.float32)
    for target in ("cpu", "ptx"):
        body = f"""
          %i: index = absolute_pos
          %value: f32 = load %values, %i [check=checked]
          %made: f32 = intrinsic %value [callee=plain, constraints="", results="f32",
                                         target={target}, template="llvm.fabs"]
          store %out, %i, %made [check=checked]"""
        yield text_case(
            "intrinsic",
            target,
            body,
            functions=_PLAIN,
            params={"values": buffer("f32"), "out": buffer("f32")},
            arguments={"values": values, "out": np.zeros_like(values)},
            expected={"out": np.abs(values)},
            cube_dim=(UNITS, 1, 1),
            cube_count=(2, 1, 1),
        )

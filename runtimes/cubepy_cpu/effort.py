"""How hard LLVM tries: which of its passes run, and what its code generator may cost."""

import re
from collections.abc import Sequence

__all__ = ["CODEGEN_EFFORT", "DEFAULT_PASSES", "LONG_TEXT", "OPTIONS", "passes_for"]

#: LLVM's own passes, in order, under the names llvmlite gives them. O3 buys nothing on code this
#: regular and takes several times as long.
DEFAULT_PASSES = (
    "always_inliner",
    "sroa",
    "simplify_cfg",
    "instruction_combine",
    "new_gvn",
    "loop_rotate",
    "instruction_combine",
    "simplify_cfg",
    "aggressive_dce",
)

#: LLVM's own options, under the names of its command line. Operations on phis stay as they are:
#: that part of `new_gvn` takes what holds in one block for true in others (llvm-project issue
#: 63335, open) and ended the process for two of 20,000 generated kernels; code is as fast without.
OPTIONS = ("-enable-phi-of-ops=false",)

#: Lines from which on a module does without the pass whose time grows with their square.
LONG_TEXT = 8_000


#: Masks that depend on so many others in a row, of as many comparisons for equality: a chain of
#: `elif` has them. LLVM asks of each pair whether one implies the other, so 80 branches took 4 s in
#: place of 0.5. The code it gives without was no slower.
MASKS_IN_A_ROW = 16
_EQUALITY = re.compile(r"[if]cmp (?:eq|ne|oeq|une) <")
_MASK = re.compile(r"^\s*(%[\w.]+) = (?:and|or|xor) <\d+ x i1> (%[\w.]+), (%[\w.]+|splat)", re.M)


def passes_for(text: str, passes: Sequence[str]) -> tuple[str, ...]:
    """Those of `passes` that a module gets, by its length and its masks."""
    left_out = set()
    if text.count("\n") > LONG_TEXT:
        left_out.add("new_gvn")
    if len(_EQUALITY.findall(text)) > MASKS_IN_A_ROW < _masks_in_a_row(text):
        left_out.add("instruction_combine")
    return tuple(name for name in passes if name not in left_out)


def _masks_in_a_row(text: str) -> int:
    """The longest chain of masks of which each is made from the one before."""
    depths: dict[str, int] = {}
    for made, *operands in _MASK.findall(text):
        depths[made] = 1 + max(depths.get(operand, 0) for operand in operands)
    return max(depths.values(), default=0)


#: Effort of LLVM's code generator. 0 gives up to eight times slower code; 2 and 3 are no faster.
CODEGEN_EFFORT = 1

"""How hard LLVM tries: which of its passes run, and what its code generator may cost."""

from collections.abc import Sequence

__all__ = ["CODEGEN_EFFORT", "DEFAULT_PASSES", "LONG_TEXT", "passes_for"]

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

#: Lines from which on a module does without the pass whose time grows with their square.
LONG_TEXT = 8_000


def passes_for(text: str, passes: Sequence[str]) -> tuple[str, ...]:
    """Those of `passes` that a module of this length gets."""
    long = text.count("\n") > LONG_TEXT
    return tuple(name for name in passes if not (long and name == "new_gvn"))


#: Effort of LLVM's code generator. 0 gives up to eight times slower code; 2 and 3 are no faster.
CODEGEN_EFFORT = 1

"""How hard LLVM tries: which of its passes run, and what its code generator may cost."""

__all__ = ["CODEGEN_EFFORT", "DEFAULT_PASSES"]

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

#: Effort of LLVM's code generator. 0 gives up to eight times slower code; 2 and 3 are no faster.
CODEGEN_EFFORT = 1

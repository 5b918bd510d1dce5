"""LLVM IR for the CPU: gangs of units in SIMD lanes."""

from cubepy.codegen.llvm.elementwise import ELEMENTWISE
from cubepy.codegen.llvm.entry import emit_cpu

__all__ = ["ELEMENTWISE", "emit_cpu"]

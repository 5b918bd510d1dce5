"""The text of a module from the lines of its one function, and which place each line comes from."""

from __future__ import annotations

from cubepy.codegen.llvm.gang import Module
from cubepy.codegen.llvm.reports import report_text
from cubepy.codegen.llvm.writer import Line
from cubepy.location import UNKNOWN, Loc
from cubepy.target import FOREIGN

__all__ = ["assemble"]

# Conversions that LLVM calls by these names where the processor has none. To f32: the exponent is
# moved by a multiplication, which is exact for denormals too. From f32: to nearest even, denormals
# through an addition whose last bit is their unit.
_HALF_TEXT = """
define internal float @__extendhfsf2(half %value) {
  %bits = bitcast half %value to i16
  %wide = zext i16 %bits to i32
  %sign = and i32 %wide, 32768
  %high = shl i32 %sign, 16
  %size = and i32 %wide, 32767
  %moved = shl i32 %size, 13
  %small = bitcast i32 %moved to float
  %scaled = fmul float %small, 0x46F0000000000000
  %number = bitcast float %scaled to i32
  %special = or i32 %moved, 2139095040
  %is_special = icmp uge i32 %size, 31744
  %chosen = select i1 %is_special, i32 %special, i32 %number
  %signed = or i32 %chosen, %high
  %result = bitcast i32 %signed to float
  ret float %result
}
define internal half @__truncsfhf2(float %value) {
  %bits = bitcast float %value to i32
  %sign = and i32 %bits, -2147483648
  %high = lshr i32 %sign, 16
  %size = and i32 %bits, 2147483647
  %magnitude = bitcast i32 %size to float
  %shifted = fadd float %magnitude, 5.000000e-01
  %tiny_bits = bitcast float %shifted to i32
  %tiny = sub i32 %tiny_bits, 1056964608
  %lower = lshr i32 %size, 13
  %odd = and i32 %lower, 1
  %biased = add i32 %size, -939520001
  %rounding = add i32 %biased, %odd
  %normal = lshr i32 %rounding, 13
  %is_tiny = icmp ult i32 %size, 947912704
  %finite = select i1 %is_tiny, i32 %tiny, i32 %normal
  %is_large = icmp uge i32 %size, 1199566848
  %limited = select i1 %is_large, i32 31744, i32 %finite
  %payload = and i32 %lower, 1023
  %quiet = or i32 %payload, 32256
  %is_nan = icmp ugt i32 %size, 2139095040
  %chosen = select i1 %is_nan, i32 %quiet, i32 %limited
  %signed = or i32 %chosen, %high
  %narrow = trunc i32 %signed to i16
  %result = bitcast i16 %narrow to half
  ret half %result
}
@llvm.used = appending global [2 x ptr] [
  ptr @__extendhfsf2, ptr @__truncsfhf2
], section "llvm.metadata"
"""


def assemble(module: Module, symbol: str) -> tuple[str, dict[int, Loc]]:
    """The module's text, and the kernel's place of each line (counted from 1)."""
    target = module.target.features
    lines: list[Line] = [(f'target triple = "{target.triple}"', UNKNOWN)] if target.triple else []
    signature = (
        f"define void @{symbol}(ptr noalias %args, i64 %task_begin, i64 %task_end, "
        "ptr noalias %arena) #0 {"
    )
    lines += [(signature, UNKNOWN), ("entry:", UNKNOWN)]
    lines += list(module.w.flatten())
    line_map = {number: loc for number, (_, loc) in enumerate(lines, 1) if loc.known}
    text = [line for line, _ in lines]
    text.append("}")
    text += report_text(module)
    if not target.half_conversion and any("half" in line for line in text):
        text.append(_HALF_TEXT)
    text += sorted(module.declared.values())
    if module.foreign:
        text.append(FOREIGN)
    text.append('attributes #0 = { nounwind "no-trapping-math"="true" }')
    text.append('!0 = !{!"branch_weights", i32 2000, i32 1}')
    return "\n".join(text) + "\n", line_map

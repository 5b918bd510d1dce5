"""The text of a module from the lines of its one function, and which place each line comes from."""

from __future__ import annotations

from cubepy.codegen.llvm.bounds import REPORT
from cubepy.codegen.llvm.gang import Module
from cubepy.codegen.llvm.writer import Line
from cubepy.location import UNKNOWN, Loc

__all__ = ["assemble"]

_REPORT_TEXT = f"""
; writes the fault record once: number, axis, subscript, extent
define internal void {REPORT}(ptr %record, i64 %fault, i64 %axis, i64 %subscript, i64 %extent)
noinline cold {{
entry:
  %none = icmp eq ptr %record, null
  %inside = icmp ult i64 %subscript, %extent
  %skip = or i1 %none, %inside
  br i1 %skip, label %done, label %claim
claim:
  %pair = cmpxchg ptr %record, i64 0, i64 %fault monotonic monotonic
  %won = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %won, label %write, label %done
write:
  %p1 = getelementptr i64, ptr %record, i64 1
  store i64 %axis, ptr %p1
  %p2 = getelementptr i64, ptr %record, i64 2
  store i64 %subscript, ptr %p2
  %p3 = getelementptr i64, ptr %record, i64 3
  store i64 %extent, ptr %p3
  br label %done
done:
  ret void
}}
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
    if module.faults:
        text.append(_REPORT_TEXT)
    text += sorted(module.declared.values())
    text.append('attributes #0 = { nounwind "no-trapping-math"="true" }')
    text.append('!0 = !{!"branch_weights", i32 2000, i32 1}')
    return "\n".join(text) + "\n", line_map

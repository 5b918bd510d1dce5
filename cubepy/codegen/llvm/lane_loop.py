"""What lanes must do one after the other: a loop over the set bits of a mask."""

from __future__ import annotations

from collections.abc import Callable

from cubepy.codegen.llvm.gang import Gang

__all__ = ["each_lane", "spill"]


def spill(gang: Gang, value: str, type: str) -> str:
    """A vector in a cell on the stack, where a lane's element can be found at run time."""
    cell = gang.module.alloca(type)
    gang.w.line(f"store {type} {value}, ptr {cell}, align 64")
    return cell


def each_lane(gang: Gang, mask: str, act: Callable[[str], None]) -> None:
    """Emit `act(lane)` for every lane of a part that is on, in the order of the lanes."""
    w, lanes = gang.w, gang.layout.lanes
    head, body, end = gang.fresh_labels("lane", "update", "done")
    bits = (
        w.value(f"bitcast {gang.mask_type} {mask} to i{lanes}")
        if lanes > 1
        else w.value(f"extractelement <1 x i1> {mask}, i64 0")
    )
    wide = bits if lanes == 64 else w.value(f"zext i{lanes} {bits} to i64")
    before = w.label
    w.jump(head)
    w.begin(head)
    left, rest = "%" + w.fresh("left"), "%" + w.fresh("rest")
    phi = w.hook()
    w.branch(w.value(f"icmp ne i64 {left}, 0"), body, end)
    w.begin(body)
    gang.module.declared["llvm.cttz.i64"] = "declare i64 @llvm.cttz.i64(i64, i1)"
    act(w.value(f"call i64 @llvm.cttz.i64(i64 {left}, i1 true)"))
    lower = w.value(f"sub i64 {left}, 1")
    w.line(f"{rest} = and i64 {left}, {lower}")
    after = w.label
    w.jump(head)
    with w.at(phi):
        w.line(f"{left} = phi i64 [ {wide}, %{before} ], [ {rest}, %{after} ]")
    w.begin(end)

"""The loop of a call over its tasks; a file of its own as each schedule has one."""

from __future__ import annotations

from cubepy.codegen.llvm.gang import Module
from cubepy.codegen.llvm.tallies import close_tallies, open_tallies
from cubepy.ir import Kernel

__all__ = ["close_task_loop", "open_task_loop"]


def open_task_loop(module: Module, kernel: Kernel) -> str:
    """Open the loop over tasks; gives the task's number. The caller jumps to `task_next`."""
    w, layout = module.w, module.layout
    crossing = layout.schedule.crosses_cubes
    open_tallies(module, kernel, layout.task_units * layout.task_rows if crossing else layout.units)
    before = w.label
    w.jump("tasks")
    w.begin("tasks")
    w.line(f"%task = phi i64 [ %task_begin, %{before} ], [ %task_after, %task_next ]")
    more = w.value("icmp slt i64 %task, %task_end")
    w.branch(more, "task_body", "finish")
    w.begin("task_body")
    return "%task"


def close_task_loop(module: Module) -> None:
    """The end of the loop, and of the call."""
    w = module.w
    w.begin("task_next")
    w.line("%task_after = add i64 %task, 1")
    w.jump("tasks")
    w.begin("finish")
    close_tallies(module)
    w.line("ret void")

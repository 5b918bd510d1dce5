"""Gangs of several rows: what a loop loads for a column serves every row of the gang.

In `total += a[row, k] * b[k, column]` a vector of `b` is good for one product alone while lanes run
along a single row. A gang that holds the same columns of several rows loads it once for all of
them. Only kernels whose units know nothing but their place in the launch are free for this, and
only if rows never part: no branch or loop may depend on the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cubepy.codegen.llvm.direction import knows_only_its_place
from cubepy.codegen.llvm.pressure import held_in_loops
from cubepy.ir import BufferType, Kernel, Op, Region, ops, walk
from cubepy.ir.analyses import (
    UNIFORM,
    Assumptions,
    Shape,
    Uniformity,
    analyze_uniformity,
    find_assumptions,
    part,
)

__all__ = ["extent_guards", "rows_and_vectors"]

_LOOPS = (ops.FOR, ops.WHILE)
_MOST_ROWS = 8
_REPORTING = (ops.ASSERT, ops.PRINT, ops.CHECK_BOUNDS)


def rows_and_vectors(kernel: Kernel, across: str, registers: int) -> tuple[int, int] | None:
    """How many rows and vectors of a row a gang should have; None if one row is as good."""
    held = held_in_loops(kernel)
    if not 1 <= held <= registers // 8 or not _free(kernel):
        return None
    name = f"absolute_pos_{across}"
    by_row = _analyze(kernel, name, rows=True)
    if by_row.divergent or by_row.thins:
        return None
    by_column = _analyze(kernel, name, rows=False)
    if not any(_serves_rows(op, by_row, by_column) for op in _in_innermost_loops(kernel.body)):
        return None
    # Of the registers one holds what a row brings, one a product, two the columns.
    rows = min((registers - 4) // 2 // held, _MOST_ROWS)
    return (rows, 2) if rows > 1 else None


def _free(kernel: Kernel) -> bool:
    return knows_only_its_place(kernel) and not any(
        op.opdef in _REPORTING or op.attrs.get("check") == "validate" for op in walk(kernel.body)
    )


def _analyze(kernel: Kernel, across: str, *, rows: bool) -> Uniformity:
    """How values differ from row to row, or only from column to column, where all guards hold."""

    def seed(op: Op) -> Shape:
        differs = (op.opdef.name == across) == rows and op.opdef.name.startswith("absolute_pos")
        return part(0 if rows else 1) if differs else UNIFORM

    def analyze(assumed: Mapping[Op, bool]) -> Uniformity:
        return analyze_uniformity(
            kernel.body, params=kernel.params, seed=seed, assumed=assumed,
            uniform_load=lambda memory: isinstance(memory.type, BufferType),
        )  # fmt: skip

    given = extent_guards(kernel)
    plain = analyze(given)
    found: Assumptions = find_assumptions(kernel.body, plain, given)
    return analyze({**given, **found.conditions})


def extent_guards(kernel: Kernel) -> dict[Op, bool]:
    """Guards that hold by the way rows are cut: a position below its extent."""
    given: dict[Op, bool] = {}
    for op in walk(kernel.body):
        if op.opdef is ops.LT and all(not operand.operands for operand in op.operands):
            names = (op.operands[0].opdef.name, op.operands[1].opdef.name)
            if names in {(f"absolute_pos_{axis}", f"extent_{axis}") for axis in "xyz"}:
                given[op] = True
        if op.opdef is ops.BIT_AND and all(operand in given for operand in op.operands):
            given[op] = True
    return given


def _in_innermost_loops(region: Region) -> Iterator[Op]:
    for op in walk(region):
        if op.opdef in _LOOPS:
            inside = [inner for part in op.regions for inner in walk(part)]
            if not any(inner.opdef in _LOOPS for inner in inside):
                yield from inside


def _serves_rows(op: Op, by_row: Uniformity, by_column: Uniformity) -> bool:
    """Whether an op loads what differs from column to column and is the same in every row."""
    if op.opdef is not ops.LOAD or not isinstance(op.operands[0].type, BufferType):
        return False
    return by_row.shape(op) == UNIFORM and by_column.shape(op).level > 0

"""The machine: runs a kernel as the IR says, all units of a batch of cubes in step, on NumPy.

Every op is done for all active units before the next op. Values are arrays with one element a unit
(0-d where all units have the same); control flow narrows the mask of active units. What single ops
do stands in `accesses.py`, `atomics.py`, `cooperation.py` and, for values, in the op table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cubepy.errors import Diagnostic, ReferenceFault, VerifyError
from cubepy.interp import accesses, atomics, cooperation
from cubepy.interp import reports as unit_reports
from cubepy.interp.accesses import Handler
from cubepy.interp.batch import Batch, batches
from cubepy.interp.clock import Clock
from cubepy.interp.facts import Facts, facts_of
from cubepy.interp.masks import Mask, Value, chosen, first_lane, merge, refused, union
from cubepy.interp.memory import Memory, buffer, place_of
from cubepy.interp.orders import Orders
from cubepy.interp.progress import Progress
from cubepy.interp.sharing import share_shadows
from cubepy.interp.state import Context, Reports, State, Watch
from cubepy.ir import Access, BufferType, Kernel, Op, OpDef, Region, Scalar, Trait, ops
from cubepy.runtime import ArrayBinding, Binding, Grid, Prints, ScalarBinding

__all__ = ["goes_beyond_values", "run"]

STANDARD = Reports()


def run(
    kernel: Kernel,
    grid: Grid,
    bindings: Sequence[Binding],
    *,
    plane_dim: int = 4,
    reports: Reports = STANDARD,
    watch: Watch | None = None,
) -> None:
    """Run `kernel` on memory that the reference device gave; raises what `reports` asks for.

    `watch` is told of every op that touches more than values, after it has been done.
    """
    if grid.cubes == 0:
        return
    facts = facts_of(kernel)
    arguments = _arguments(kernel, bindings)
    prints = Prints()
    try:
        _run_batches(kernel, grid, facts, arguments, plane_dim, reports, prints, watch)
    finally:
        prints.write()


def _run_batches(
    kernel: Kernel,
    grid: Grid,
    facts: Facts,
    arguments: Mapping[Op, Any],
    plane_dim: int,
    reports: Reports,
    prints: Prints,
    watch: Watch | None,
) -> None:
    numbers: dict[Op, int] = {}
    shadowed = reports.races != "all"
    orders: Orders | None = None
    for batch in batches(grid, kernel.cube_dim, plane_dim, facts.batch):
        if not shadowed:
            share_shadows(_written_buffers(arguments), batch)
            shadowed = True
        if facts.orders and reports.races != "none":
            orders = _orders(orders, batch, whole=reports.races == "all")
        state = State(
            batch=batch, reports=reports,
            clock=Clock(batch=batch, numbers=numbers, orders=orders),
            values=dict(arguments), facts=facts, kernel_name=kernel.name, prints=prints,
            watch=watch,
        )  # fmt: skip
        with np.errstate(all="ignore"):
            Machine(kernel, state).run()


def _orders(before: Orders | None, batch: Batch, *, whole: bool) -> Orders:
    """What is known of the units of a batch, and of those before if they matter."""
    if before is None or not whole:
        return Orders(batch, whole=whole)
    before.begin(batch)
    return before


def _arguments(kernel: Kernel, bindings: Sequence[Binding]) -> dict[Op, Any]:
    values: dict[Op, Any] = {}
    for param, binding in zip(kernel.params, bindings, strict=True):
        if isinstance(binding, ArrayBinding):
            values[param] = buffer(param.name, binding)
        elif isinstance(binding, ScalarBinding):
            values[param] = np.asarray(binding.value).astype(binding.element.numpy)
    return values


def _written_buffers(arguments: Mapping[Op, Any]) -> list[tuple[Memory, bool]]:
    """The buffers, and whether the kernel may write them."""
    return [
        (value, isinstance(op.type, BufferType) and op.type.access is not Access.READ)
        for op, value in arguments.items()
        if isinstance(value, Memory)
    ]


class Machine:
    """One batch of one launch."""

    def __init__(self, kernel: Kernel, state: State) -> None:
        self.kernel = kernel
        self.state = state
        self.functions = {function.name: function for function in kernel.functions}
        self.loops: list[Context] = []
        self.blocks: list[Context] = []
        self.frames: list[Context] = []
        self.results: list[list[Value | None]] = []
        self.condition: Value = np.asarray(False)

    def run(self) -> None:
        """Run the kernel's body in every unit of the batch."""
        self._enter(self.kernel.body, True, self.frames, None)

    def _enter(
        self, region: Region, mask: Mask, kind: list[Context], op: Op | None
    ) -> tuple[Mask, Context]:
        """Run a region in a context of its own, which is known to be of `kind`."""
        context = Context(op=op, mask=mask)
        kind.append(context)
        self.state.contexts.append(context)
        after = self.region(region, mask)
        self.state.contexts.pop()
        kind.pop()
        return after, context

    def region(self, region: Region, mask: Mask) -> Mask:
        """Run the ops of a region; the units that reach its end."""
        values, watch = self.state.values, self.state.watch
        for op in region.ops:
            simple = SIMPLE.get(op.opdef)
            if simple is not None:
                simple(self.state, op, mask)
                if watch is not None:
                    watch(self.state, op, mask)
                continue
            control = CONTROL.get(op.opdef)
            if control is not None:
                mask = control(self, op, mask)
                if mask is False:
                    break
                continue
            evaluate = op.opdef.evaluate
            if evaluate is None:
                raise VerifyError(f"the reference runtime cannot run {op!r}; expand it first")
            operands = [values[operand] for operand in op.operands]
            values[op] = evaluate(*operands, type=op.type, attrs=op.attrs)
        return mask

    # ── branches and loops ────────────────────────────────────────────────────────────────────

    def branch(self, op: Op, mask: Mask) -> Mask:
        """`if`: both arms, each in the units that take it."""
        condition: Value = self.state.values[op.operands[0]]
        arms = chosen(mask, condition), refused(mask, condition)
        after: Mask = False
        for arm, region in zip(arms, op.regions, strict=True):
            if arm is False:
                continue
            self.state.contexts.append(Context(op=op, mask=arm))
            after = union(after, self.region(region, arm))
            self.state.contexts.pop()
        return after

    def _trip(self, region: Region, mask: Mask, context: Context) -> Mask:
        """One trip of a loop; the units that begin the next one."""
        context.trip(mask)
        return union(self.region(region, mask), context.continued)

    def for_loop(self, op: Op, mask: Mask) -> Mask:
        """`for`: in step while the bounds are the same in every unit, else trip by trip."""
        bounds = [self.state.values[operand] for operand in op.operands]
        self._refuse_zero_step(op, mask, bounds[2])
        context = self._open_loop(op, mask)
        uniform = all(bound.ndim == 0 for bound in bounds)
        run_trips = self._uniform_trips if uniform else self._varying_trips
        after = run_trips(op, mask, context, bounds)
        self._close_loop()
        return union(after, context.ended)

    def _refuse_zero_step(self, op: Op, mask: Mask, step: Value) -> None:
        """Devices run such a loop zero times; a program that has one means something else."""
        if step.all():
            return
        standing = refused(mask, step != 0)
        if standing is not False:
            unit = self.state.batch.name(first_lane(standing))
            raise ReferenceFault(
                Diagnostic(
                    message=f"the step of range is 0 in {unit}",
                    loc=place_of(op, self.state.calls),
                    help="count up with 1, down with -1, or guard the loop: if step != 0",
                )
            )

    def _open_loop(self, op: Op, mask: Mask) -> Context:
        context = Context(op=op, mask=mask)
        self.loops.append(context)
        self.state.contexts.append(context)
        return context

    def _close_loop(self) -> None:
        self.loops.pop()
        self.state.contexts.pop()

    def _uniform_trips(self, op: Op, mask: Mask, context: Context, bounds: list[Value]) -> Mask:
        start, stop, step = (int(bound) for bound in bounds)
        body = op.regions[0]
        active = mask
        for number in range(start, stop, step) if step else ():
            self.state.values[body.params[0]] = np.asarray(number, dtype=bounds[0].dtype)
            active = self._trip(body, active, context)
            if active is False:
                break
        return active

    def _varying_trips(self, op: Op, mask: Mask, context: Context, bounds: list[Value]) -> Mask:
        start, _, step = bounds
        trips = np.broadcast_to(_trip_counts(*bounds), (self.state.batch.lanes,))
        body = op.regions[0]
        variable, done = start, np.uint64(0)
        finished: Mask = False
        active = mask
        while active is not False:
            finished = union(finished, refused(active, trips > done))
            active = chosen(active, trips > done)
            if active is False:
                break
            self.state.values[body.params[0]] = variable
            active = self._trip(body, active, context)
            variable = np.asarray(variable + step)
            done += np.uint64(1)
        return finished

    def while_loop(self, op: Op, mask: Mask) -> Mask:
        """`while`: the condition's region ends in `yield`, which hands over its value."""
        test, body = op.regions
        context = self._open_loop(op, mask)
        progress = Progress(state=self.state, loop=op)
        finished: Mask = False
        active = mask
        while active is not False:
            progress.trip(active)
            context.mask = active
            tested = self.region(test, active)
            finished = union(finished, refused(tested, self.condition))
            active = chosen(tested, self.condition)
            if active is not False:
                active = self._trip(body, active, context)
        self._close_loop()
        return union(finished, context.ended)

    def yield_condition(self, op: Op, mask: Mask) -> Mask:
        """The value of a `while` condition."""
        self.condition = self.state.values[op.operands[0]]
        return mask

    def block(self, op: Op, mask: Mask) -> Mask:
        """`block`: its region once; `leave` goes to its end."""
        after, context = self._enter(op.regions[0], mask, self.blocks, op)
        return union(after, context.ended)

    # ── exits ─────────────────────────────────────────────────────────────────────────────────

    def break_loop(self, op: Op, mask: Mask) -> Mask:
        """Leaves the innermost loop."""
        self.loops[-1].leave(op, mask)
        return False

    def continue_loop(self, op: Op, mask: Mask) -> Mask:
        """Waits for the next trip of the innermost loop."""
        self.loops[-1].wait(op, mask)
        return False

    def leave_block(self, op: Op, mask: Mask) -> Mask:
        """Leaves the innermost block."""
        self.blocks[-1].leave(op, mask)
        return False

    def return_values(self, op: Op, mask: Mask) -> Mask:
        """Leaves the function, or the kernel; results are kept for the units that return here."""
        self.frames[-1].leave(op, mask)
        if op.operands:
            kept = self.results[-1] or [None] * len(op.operands)
            values = (self.state.values[operand] for operand in op.operands)
            self.results[-1] = [
                merge(mask, value, old) for value, old in zip(values, kept, strict=True)
            ]
        return False

    # ── calls ─────────────────────────────────────────────────────────────────────────────────

    def call(self, op: Op, mask: Mask) -> Mask:
        """Runs a function on values and memories of the caller."""
        function = self.functions[str(op.attrs["callee"])]
        values = self.state.values
        for param, argument in zip(function.params, op.operands, strict=True):
            values[param] = values[argument]
        self.results.append([])
        self.state.calls = (*self.state.calls, op)
        # loops and blocks of the caller are not the function's to leave
        loops, blocks, self.loops, self.blocks = self.loops, self.blocks, [], []
        after, context = self._enter(function.body, mask, self.frames, None)
        self.loops, self.blocks = loops, blocks
        self.state.calls = self.state.calls[:-1]
        results = self.results.pop()
        if results:
            values[op] = results[0] if isinstance(op.type, Scalar) else tuple(results)
        return union(after, context.ended)


def _trip_counts(start: Value, stop: Value, step: Value) -> Value:
    """Trips of Python's `range` as u64, none for a step of 0; differences wrap to the right one."""
    wide = np.dtype(np.uint64 if start.dtype.kind == "u" else np.int64)
    first, last, stride = (np.asarray(bound).astype(wide) for bound in (start, stop, step))
    up, down = stride > 0, stride < 0
    distance = np.where(up, last - first, first - last).astype(np.uint64)
    runs = (up & (first < last)) | (down & (first > last))
    size = np.where(down, np.negative(stride), stride).astype(np.uint64)
    one = np.uint64(1)
    trips = (distance - one) // np.maximum(size, one) + one
    return np.where(runs, trips, np.uint64(0))


def _position(state: State, op: Op, mask: Mask) -> None:
    state.values[op] = state.batch.position(op.opdef.name)


def _constant(state: State, op: Op, mask: Mask) -> None:
    if op not in state.values:
        assert op.opdef.evaluate is not None
        state.values[op] = op.opdef.evaluate(type=op.type, attrs=op.attrs)


def _tuple_get(state: State, op: Op, mask: Mask) -> None:
    state.values[op] = state.values[op.operands[0]][op.attrs["index"]]


def _positions() -> dict[OpDef, Handler]:
    """Ops without operands and meaning of their own: where a unit stands."""
    return {
        row: _position
        for row in ops.BY_NAME.values()
        if not row.operands and row.has(Trait.PURE) and row.evaluate is None
    }


def goes_beyond_values(op: Op) -> bool:
    """Whether an op does more than compute a value of its operands: those a `watch` is told of."""
    return op.opdef in SIMPLE


Control = Callable[[Machine, Op, Mask], Mask]

SIMPLE: Mapping[OpDef, Handler] = {
    **_positions(),
    **accesses.HANDLERS,
    **atomics.HANDLERS,
    **cooperation.HANDLERS,
    **unit_reports.HANDLERS,
    ops.CONST: _constant,
    ops.TUPLE_GET: _tuple_get,
}
CONTROL: Mapping[OpDef, Control] = {
    ops.IF: Machine.branch,
    ops.FOR: Machine.for_loop,
    ops.WHILE: Machine.while_loop,
    ops.BLOCK: Machine.block,
    ops.YIELD: Machine.yield_condition,
    ops.BREAK: Machine.break_loop,
    ops.CONTINUE: Machine.continue_loop,
    ops.LEAVE: Machine.leave_block,
    ops.RETURN: Machine.return_values,
    ops.CALL: Machine.call,
}

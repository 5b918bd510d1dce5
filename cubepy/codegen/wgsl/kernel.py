"""A kernel in WGSL: the language as the shared walk sees it, and what the kernel needs so far.

Scalars, shapes and strides come in one uniform struct, `launch`, whose fields are the words of the
kernel's `Abi`; arrays are storage buffers, which all functions see.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from cubepy.codegen.structured import Body, Expression, KernelLanguage, Names, call
from cubepy.codegen.wgsl.atomics import emit_atomic, emit_fence
from cubepy.codegen.wgsl.cells import Cells, cells_of_shared
from cubepy.codegen.wgsl.conversions import moved
from cubepy.codegen.wgsl.memory import Memory, emit_load, emit_store, named_apart
from cubepy.codegen.wgsl.narrow import narrow_values
from cubepy.codegen.wgsl.operations import VALUES
from cubepy.codegen.wgsl.planes import emit_plane, emit_uniform
from cubepy.codegen.wgsl.positions import WgslPositions
from cubepy.codegen.wgsl.prelude import Prelude
from cubepy.codegen.wgsl.reports import emit_assert, emit_check, emit_print, report_outside
from cubepy.codegen.wgsl.types import Machine, literal, machine_of
from cubepy.ir import (
    F16,
    I32,
    I64,
    INDEX,
    U32,
    U64,
    Kernel,
    Op,
    OpDef,
    PrivateType,
    Scalar,
    SharedType,
    SlotType,
    Trait,
    TupleType,
    analyze_ranges,
    ops,
    walk,
)
from cubepy.target import Target

__all__ = ["WgslKernel", "result_struct"]


# ── statements ──────────────────────────────────────────────────────────────────────────────────


def _shared(kernel: WgslKernel, body: Body, op: Op) -> None:
    """Memory of the cube; each element has a cell of its own."""
    type = op.type
    assert isinstance(type, SharedType)
    name = named_apart(kernel.names, kernel.names.fresh(op.name or "shared"))
    atomics = kernel.atomics_on([op])
    cells = cells_of_shared({type.element}, atomics, kernel.features)
    memory = Memory.of_shape(name, type, type.shape, cells, atomic=bool(atomics))
    kernel.share(name, memory.cell, math.prod(type.shape), max(4, type.element.size))
    kernel.padded |= type.element.size < 4
    kernel.bind_memory(op, memory)


def _private(kernel: WgslKernel, body: Body, op: Op) -> None:
    type = op.type
    assert isinstance(type, PrivateType)
    name = body.names.fresh(op.name or "array")
    memory = Memory.of_shape(name, type, type.shape, Cells.OWN, atomic=False)
    body.writer.line(f"var {name}: array<{memory.cell}, {math.prod(type.shape)}>;")
    kernel.bind_memory(op, memory)


def _barrier(kernel: WgslKernel, body: Body, op: Op) -> None:
    if op.opdef is ops.SYNC_CUBE:
        body.writer.line("workgroupBarrier();")
    body.writer.line("storageBarrier();")


_EFFECTS: Mapping[OpDef, Callable[[WgslKernel, Body, Op], None]] = {
    ops.LOAD: emit_load,
    ops.STORE: emit_store,
    ops.SHARED: _shared,
    ops.LOCAL_ARRAY: _private,
    ops.SYNC_CUBE: _barrier,
    ops.SYNC_STORAGE: _barrier,
    ops.FENCE: emit_fence,
    ops.CUBE_UNIFORM: emit_uniform,
    ops.ASSERT: emit_assert,
    ops.CHECK_BOUNDS: emit_check,
    ops.PRINT: emit_print,
}


# ── the language ────────────────────────────────────────────────────────────────────────────────


class WgslKernel(KernelLanguage[Memory, WgslPositions]):
    """What one kernel needs while its functions are written.

    `shared` are the declarations of memory of the cube. `halves`: buffers of f16 may be that.
    """

    title = "WGSL"
    values = VALUES
    effects = _EFFECTS
    atomic = emit_atomic
    plane = emit_plane
    endless = "loop {"
    block = ("switch 0 { default: {", "} }")

    def __init__(self, kernel: Kernel, target: Target, names: Names) -> None:
        positions = WgslPositions(cube_dim=kernel.cube_dim, plane_dim=target.plane_dim(kernel))
        ranges = analyze_ranges(kernel, target.features.index_limit)
        super().__init__(kernel, target.features, names, positions, ranges)
        self.prelude = Prelude(target.features)
        self.shared: dict[str, str] = {}
        self.shared_bytes = 0
        self.padded = False  # whether elements of shared memory are smaller than their cells
        self._narrow = narrow_values(kernel, ranges)
        self._feeding = _feeding(kernel)
        self._atomics = _atomics(kernel)
        # what quiets a NaN while it is moved is no way to its bits
        self.halves = target.features.halves and not _looks_at_halves(kernel)

    # ── what the walk asks ──

    def machine(self, op: Op) -> Machine:
        """What a value, or what a variable holds, is in registers."""
        if op in self._narrow:
            return Machine.I32
        scalar = op.type.element if isinstance(op.type, SlotType) else op.type
        assert isinstance(scalar, Scalar)
        return machine_of(scalar)

    def moved_to(self, op: Op, wanted: Machine, value: Expression) -> Expression:
        """A value in another kind of register."""
        return moved(self.prelude, self.machine(op), wanted, value)

    def literal(self, scalar: Scalar, value: float) -> Expression:
        """A constant."""
        return self._noted(literal(scalar, value))

    def literal_of(self, op: Op) -> Expression:
        """A constant, in one word if it fits."""
        value = op.attrs["value"]
        assert isinstance(op.type, Scalar)
        assert isinstance(value, int | float)
        return self._noted(literal(op.type, value, self.machine(op)))

    def _noted(self, expression: Expression) -> Expression:
        if expression.text.startswith("cb_bits"):
            self.prelude.need(expression.text.partition("(")[0])
        return expression

    def constant(self, scalar: Scalar, name: str, value: str) -> str:
        """The statement that names a value."""
        return f"let {name} = {value};"

    def variable(self, scalar: Scalar, name: str, value: str) -> str:
        """The statement that makes a variable."""
        return f"var {name} = {value};"

    def initial(self, slot: Op) -> Expression:
        """0."""
        assert isinstance(slot.type, SlotType)
        return self._noted(literal(slot.type.element, 0, self.machine(slot)))

    def assigned(self, store: Op, expression: Expression) -> Expression:
        """A value in the kind of register of the variable."""
        slot, value = store.operands
        return self.moved_to(value, self.machine(slot), expression)

    def returned(self, value: Op, expression: Expression) -> Expression:
        """A value in the kind of register that its type says."""
        assert isinstance(value.type, Scalar)
        return self.moved_to(value, machine_of(value.type), expression)

    def statement(self, expression: Expression) -> str:
        """A call, or something computed for nothing."""
        atomic = expression.text.startswith("atomic") and expression.text.endswith(")")
        return f"{expression};" if atomic else f"_ = {expression};"

    def counter(self, op: Op) -> tuple[Scalar, Scalar]:
        """i32 and u32 where the variable fits one."""
        (variable,) = op.regions[0].params
        scalar = variable.type
        assert isinstance(scalar, Scalar)
        if self.machine(variable) is Machine.PAIR:
            return scalar, U64
        return (I32 if scalar.bits == 64 else scalar), U32

    def counted(self, op: Op, value: Op, expression: Expression) -> Expression:
        """A bound or step in the kind of register of the variable."""
        return self.moved_to(value, self.machine(op.regions[0].params[0]), expression)

    def counting(self, scalar: Scalar, name: str, start: str, stop: str, step: int) -> str:
        """The head of a counting loop."""
        machine = machine_of(scalar)
        if machine is Machine.PAIR:
            return self._counting_pairs(scalar, name, start, stop, step)
        test = f"{name} {'<' if step > 0 else '>'} {stop}"
        single = {1: f"{name}++", -1: f"{name}--"}
        size = literal(scalar, abs(step), machine)
        moves = single.get(step, f"{name} {'+' if step > 0 else '-'}= {size}")
        return f"for (var {name} = {start}; {test}; {moves}) {{"

    def _counting_pairs(self, scalar: Scalar, name: str, start: str, stop: str, step: int) -> str:
        less = self.prelude.need(f"cb_less_{'i64' if scalar.is_signed else 'u64'}")
        ends = f"{name}, {stop}" if step > 0 else f"{stop}, {name}"
        moves = self.prelude.need("cb_add_64" if step > 0 else "cb_sub_64")
        size = literal(U64, abs(step))
        head = f"for (var {name} = {start}; {less}({ends}); {name} = {moves}({name}, {size}))"
        return f"{head} {{"

    def trips(self, scalar: Scalar, start: str, stop: str, step: str) -> str:
        """How many trips a range makes."""
        machine = machine_of(scalar)
        pair = "i64" if scalar.is_signed else "u64"
        kind = pair if machine is Machine.PAIR else machine.value
        return f"{self.prelude.need(f'cb_trips_{kind}')}({start}, {stop}, {step})"

    def stepped(self, scalar: Scalar, start: str, trip: str, step: str) -> str:
        """`start + trip * step` with wrap-around."""
        machine = machine_of(scalar)
        if machine is Machine.PAIR:
            add, times = self.prelude.need("cb_add_64"), self.prelude.need("cb_mul_64")
            return f"{add}({start}, {times}({trip}, {step}))"
        number = trip if machine is Machine.U32 else f"i32({trip})"
        return f"{start} + {number} * {step}"

    def size(self, value: int) -> Expression:
        """An index in one word."""
        return literal(INDEX, value, Machine.I32)

    def call(self, body: Body, op: Op) -> Expression:
        """A call, with values in the kind of register that their types say."""
        arguments = [self.returned(operand, body.text(operand)) for operand in op.operands]
        return call(self.functions[str(op.attrs["callee"])], *arguments)

    def result_declaration(self, op: Op, name: str, value: str) -> str:
        """The statement that names the results of a call."""
        return f"let {name} = {value};"

    def results(self, op: Op, values: Sequence[Expression]) -> str:
        """Several results as a struct."""
        return f"{self.current_function}_results({', '.join(map(str, values))})"

    # ── what ops ask ──

    def pins(self, op: Op) -> bool:
        """Whether compilers must be kept from rewriting a float op."""
        flags = str(self.kernel.options.get("fast_math", ""))
        loose = "contract" in flags or "reassoc" in flags
        return self.features.pinned and (not loose or "strict" in op.attrs)

    def feeds_a_float(self, op: Op) -> bool:
        """Whether anything but a store to memory takes the value."""
        return op in self._feeding

    def atomics_on(self, memories: Iterable[Op]) -> frozenset[OpDef]:
        """The atomics that touch any of these."""
        return frozenset(op for each in memories for op in self._atomics.get(each, ()))

    def bounds(self, op: Op) -> tuple[int, int] | None:
        """Where an integer lies; those in one word lie in it."""
        known = op.opdef is ops.CONST or op in self.ranges.intervals
        if not known and op.type in (INDEX, I64, U64) and self.machine(op) is Machine.I32:
            return I32.minimum, I32.maximum
        return super().bounds(op)

    def report_outside(
        self, body: Body, op: Op, memory: Memory, indices: Sequence[Op], inside: str
    ) -> None:
        """Report an access unless it is inside."""
        report_outside(self, body, op, memory, indices, inside)

    def share(self, name: str, cell: str, count: int, size: int) -> str:
        """Have an array in memory of the cube."""
        if name not in self.shared:
            self.shared[name] = f"var<workgroup> {name}: array<{cell}, {count}>;"
            self.shared_bytes += count * size
        return name


def _feeding(kernel: Kernel) -> frozenset[Op]:
    """Values that something other than a store to memory takes."""
    return frozenset(
        operand for op in _every(kernel) if op.opdef is not ops.STORE for operand in op.operands
    )


def _every(kernel: Kernel) -> Iterator[Op]:
    """The ops of the kernel and of its functions."""
    for body in (kernel.body, *(function.body for function in kernel.functions)):
        yield from walk(body)


def _looks_at_halves(kernel: Kernel) -> bool:
    """Whether anything takes the bits of an f16."""
    return any(op.opdef is ops.BITCAST and op.operands[0].type is F16 for op in _every(kernel))


def _atomics(kernel: Kernel) -> Mapping[Op, set[OpDef]]:
    """The atomics that touch memories."""
    found: dict[Op, set[OpDef]] = {}
    for op in walk(kernel.body):
        if op.opdef.has(Trait.ATOMIC):
            found.setdefault(op.operands[0], set()).add(op.opdef)
    return found


def result_struct(name: str, result: TupleType) -> str:
    """The struct of a function's several results."""
    fields = "".join(
        f"    item_{number}: {machine_of(each).value},\n"
        for number, each in enumerate(result.elements)
    )
    return f"struct {name}_results {{\n{fields}}}"

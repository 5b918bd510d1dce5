"""A kernel in OpenCL C: the language as the shared walk sees it, and what the kernel needs so far.

Scalars, shapes and strides come in one struct, `launch`, whose fields are the words of the kernel's
`Abi`; each buffer is a pointer beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from cubepy.codegen.opencl.atomics import emit_atomic, emit_fence
from cubepy.codegen.opencl.memory import Memory, emit_load, emit_store
from cubepy.codegen.opencl.operations import VALUES
from cubepy.codegen.opencl.parted import alike_at_first, apart
from cubepy.codegen.opencl.planes import emit_plane, emit_uniform
from cubepy.codegen.opencl.positions import OpenclPositions
from cubepy.codegen.opencl.prelude import Prelude
from cubepy.codegen.opencl.reports import emit_assert, emit_check, emit_print, report_outside
from cubepy.codegen.opencl.subscripts import slow_values
from cubepy.codegen.opencl.types import literal, memory_type, register_type
from cubepy.codegen.structured import Body, Expression, KernelLanguage, Names, call, primary
from cubepy.ir import (
    INDEX,
    Kernel,
    Op,
    OpDef,
    PrivateType,
    Region,
    Scalar,
    SharedType,
    Trait,
    TupleType,
    analyze_ranges,
    ops,
    walk,
)
from cubepy.target import Target

__all__ = ["OpenclKernel", "speaks_of_planes"]

# Ops of a function that is worth going round.
_LONG = 40
_PLANE_WORDS = (ops.UNIT_POS_PLANE, ops.PLANE_POS)


def speaks_of_planes(kernel: Kernel) -> bool:
    """Whether a kernel uses plane ops, or asks where in its plane a unit is."""
    bodies = (kernel.body, *(function.body for function in kernel.functions))
    return any(
        op.opdef.has(Trait.PLANE) or op.opdef in _PLANE_WORDS
        for body in bodies
        for op in walk(body)
    )


# ── statements ──────────────────────────────────────────────────────────────────────────────────


def _shared(kernel: OpenclKernel, body: Body, op: Op) -> None:
    """Local memory is declared where the kernel begins; narrow elements fill whole words."""
    memory = op.type
    assert isinstance(memory, SharedType)
    name = kernel.names.fresh(op.name or "shared")
    count, scalar = math.prod(memory.shape), memory.element
    aligned = ""
    if scalar.size < 4:
        count, aligned = (
            -(-count * scalar.size // 4) * 4 // scalar.size,
            " __attribute__((aligned(4)))",
        )
    room = op.attrs.get("room")
    if isinstance(room, int):  # one of several arrays of which one is alive at a time
        place = f"place{op.attrs['place']}"
        kernel.share(place, f"ulong {place}[{-(-room // 8)}]", -(-room // 8) * 8)
        cell = f"local {memory_type(scalar)}"
        kernel.locals[name] = f"{cell} *const {name} = ({cell} *){place};"
    else:
        array = f"{memory_type(scalar)} {name}[{count}]{aligned}"
        kernel.share(name, array, count * scalar.size)
    kernel.bind_memory(op, Memory.of_shape(name, memory, "local", memory.shape))


def _private(kernel: OpenclKernel, body: Body, op: Op) -> None:
    memory = op.type
    assert isinstance(memory, PrivateType)
    name = body.names.fresh(op.name or "array")
    body.writer.line(f"{memory_type(memory.element)} {name}[{math.prod(memory.shape)}];")
    kernel.bind_memory(op, Memory.of_shape(name, memory, "private", memory.shape))


def _barrier(kernel: OpenclKernel, body: Body, op: Op) -> None:
    fences = "CLK_GLOBAL_MEM_FENCE"
    if op.opdef is ops.SYNC_CUBE:
        fences = f"CLK_LOCAL_MEM_FENCE | {fences}"
    body.writer.line(f"barrier({fences});")


_EFFECTS: Mapping[OpDef, Callable[[OpenclKernel, Body, Op], None]] = {
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


class OpenclKernel(KernelLanguage[Memory, OpenclPositions]):
    """What one kernel needs while its functions are written.

    `locals` are the declarations of local memory, `reporting` the functions that take the report
    block.
    """

    title = "OpenCL C"
    values = VALUES
    effects = _EFFECTS
    atomic = emit_atomic
    plane = emit_plane

    reporting: frozenset[str] = frozenset()

    def __init__(self, kernel: Kernel, target: Target, names: Names) -> None:
        planes, plane_dim = speaks_of_planes(kernel), target.plane_dim(kernel)
        own = plane_dim > 1 and not target.features.emulates_planes(plane_dim)
        positions = OpenclPositions(
            cube_dim=kernel.cube_dim, linear=planes, plane_dim=plane_dim, planes=planes and own
        )
        super().__init__(kernel, target.features, names, positions, analyze_ranges(kernel))
        self.planes_emulated = planes and self.planes_emulated
        self.prelude = Prelude(half_conversion=target.features.half_conversion)
        self.slow = slow_values(kernel)
        self.locals: dict[str, str] = {}
        self._shared_bytes: dict[str, int] = {}
        self._lengths: dict[str, int] = {}
        self._alike = alike_at_first(kernel) if target.features.abreast else frozenset()

    # ── what the walk asks ──

    def literal(self, scalar: Scalar, value: float) -> Expression:
        """A constant."""
        return literal(scalar, value)

    def constant(self, scalar: Scalar, name: str, value: str) -> str:
        """The statement that names a value."""
        return f"const {register_type(scalar)} {name} = {value};"

    def variable(self, scalar: Scalar, name: str, value: str) -> str:
        """The statement that makes a variable."""
        return f"{register_type(scalar)} {name} = {value};"

    def assigned(self, store: Op, expression: Expression) -> Expression:
        """A value as a variable takes it: as several, if those of units differ in a loop."""
        if store not in self._alike:
            return expression
        scalar = store.operands[1].type
        assert isinstance(scalar, Scalar)
        return call(apart(self.prelude, scalar), expression)

    def counting(self, scalar: Scalar, name: str, start: str, stop: str, step: int) -> str:
        """The head of a counting loop."""
        test = f"{name} {'<' if step > 0 else '>'} {stop}"
        single = {1: f"{name}++", -1: f"{name}--"}
        moves = single.get(step, f"{name} {'+' if step > 0 else '-'}= {abs(step)}")
        return f"for ({register_type(scalar)} {name} = {start}; {test}; {moves}) {{"

    def detour(self, body: Body, region: Region, condition: Expression) -> str:
        """In functions a loop, where a long function is called: compilers that run units side by
        side go round a loop that no unit wants, but through both ways of a branch. No launch has
        more than three dimensions, which they do not know.
        """
        called = {str(op.attrs["callee"]) for op in region.ops if op.opdef is ops.CALL}
        if not self.current_function or max(map(self._length, called), default=0) < _LONG:
            return ""
        name = body.names.fresh("rare")
        return f"for (bool {name} = {condition}; {name}; {name} = get_work_dim() > 3) {{"

    def _length(self, function: str) -> int:
        """Ops of a function and of those it calls."""
        if function not in self._lengths:
            body = next(each.body for each in self.kernel.functions if each.name == function)
            every = list(walk(body))
            calls = [str(op.attrs["callee"]) for op in every if op.opdef is ops.CALL]
            self._lengths[function] = len(every) + sum(map(self._length, calls))
        return self._lengths[function]

    def trips(self, scalar: Scalar, start: str, stop: str, step: str) -> str:
        """How many trips a range makes."""
        return f"{self.prelude.need('trips', scalar)}({start}, {stop}, {step})"

    def stepped(self, scalar: Scalar, start: str, trip: str, step: str) -> str:
        """`start + trip * step` with wrap-around."""
        return f"({register_type(scalar)})((ulong)({start}) + {trip} * (ulong)({step}))"

    def size(self, value: int) -> Expression:
        """An index."""
        return literal(INDEX, value)

    def call(self, body: Body, op: Op) -> Expression:
        """A call; memory goes with its sizes."""
        arguments = []
        for operand in op.operands:
            if operand in self.memories():
                arguments += [primary(each) for each in _passed(self.memory(operand))]
            else:
                arguments.append(body.text(operand))
        name = str(op.attrs["callee"])
        if name in self.reporting:
            arguments.append(primary("report"))
        return call(self.functions[name], *arguments)

    def result_declaration(self, op: Op, name: str, value: str) -> str:
        """The statement that names the results of a call."""
        return f"const {self.functions[str(op.attrs['callee'])]}_results {name} = {value};"

    def results(self, op: Op, values: Sequence[Expression]) -> str:
        """Several results as a struct."""
        return f"({self.current_function}_results){{{', '.join(map(str, values))}}}"

    # ── what ops ask ──

    def report_outside(
        self, body: Body, op: Op, memory: Memory, indices: Sequence[Op], inside: str
    ) -> None:
        """Report an access unless it is inside."""
        report_outside(self, body, op, memory, indices, inside)

    def plane_scratch(self) -> str:
        """A place in local memory for a value of each unit."""
        units = math.prod(self.positions.group)
        self.share("cb_scratch", f"ulong cb_scratch[{units}]", 8 * units)
        return "cb_scratch"

    def uniform_cell(self) -> str:
        """A place in local memory for one value."""
        self.share("cb_cell", "ulong cb_cell[1]", 8)
        return "cb_cell"

    def share(self, name: str, array: str, size: int) -> None:
        """Have an array in local memory, of so many bytes."""
        self.locals[name] = f"local {array};"
        self._shared_bytes[name] = size

    @property
    def shared_bytes(self) -> int:
        """What a cube takes of local memory."""
        return sum(self._shared_bytes.values())


def _passed(memory: Memory) -> list[str]:
    return [memory.name, *(size for size in _sizes(memory))]


def _sizes(memory: Memory) -> list[str]:
    """Extents and strides that are not the same number for every memory of the type."""
    return [size for size in (*memory.extents, *memory.strides) if size[0].isalpha()]


def result_struct(name: str, result: TupleType) -> str:
    """The struct of a function's several results."""
    fields = "".join(
        f"    {register_type(each)} item_{number};\n" for number, each in enumerate(result.elements)
    )
    return f"typedef struct {{\n{fields}}} {name}_results;"

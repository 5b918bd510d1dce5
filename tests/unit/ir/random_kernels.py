"""Random kernels as IR, for properties of printer, parser, verifier and passes.

Every kernel is well formed and free of faults: slots are stored before they are read, loops end,
each unit writes elements of its own. So what it computes is one array, whatever a pass may do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import hypothesis.strategies as st

from cubepy.ir import (
    BOOL,
    F32,
    F64,
    I8,
    I32,
    INDEX,
    U32,
    VOID,
    AttrValue,
    BufferType,
    Builder,
    Function,
    Kernel,
    Op,
    PrivateType,
    Region,
    Scalar,
    SlotType,
    StrideClass,
    Type,
    ops,
    param,
    print_kernel,
)

TYPES = (F32, I32, U32, INDEX, I8, F64)
STORED = (F32, I32, INDEX)
BINARY = (ops.ADD, ops.SUB, ops.MUL, ops.MIN, ops.MAX)
INTEGER = (
    ops.FLOOR_DIV, ops.FLOOR_MOD, ops.TRUNC_DIV, ops.BIT_AND, ops.BIT_OR, ops.BIT_XOR, ops.SHL,
    ops.SHR,
)  # fmt: skip
COMPARISONS = (ops.LT, ops.LE, ops.GT, ops.GE, ops.EQ, ops.NE)
EXIT_OPS = {"break": ops.BREAK, "continue": ops.CONTINUE, "leave": ops.LEAVE, "return": ops.RETURN}
UNITS = 8
Choice = TypeVar("Choice")


def element(memory: Op) -> Scalar:
    """The element type of a memory or slot."""
    assert isinstance(memory.type, BufferType | PrivateType | SlotType)
    return memory.type.element


def scalar(op: Op) -> Scalar:
    """The type of a number."""
    assert isinstance(op.type, Scalar)
    return op.type


def buffer(of: Scalar, alias: int) -> BufferType:
    return BufferType(of, (StrideClass.ONE,), alias=alias)


@dataclass
class Scope:
    """What may be used at a point: values and slots by type, memories, and exits."""

    values: list[Op] = field(default_factory=list)
    slots: list[Op] = field(default_factory=list)
    memories: list[Op] = field(default_factory=list)
    exits: tuple[str, ...] = ()
    result: Type = VOID

    def inner(self, *exits: str) -> "Scope":
        kept = tuple(dict.fromkeys((*self.exits, *exits)))
        return Scope(list(self.values), list(self.slots), list(self.memories), kept, self.result)


class Maker:
    """Draws ops into a builder."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.builder = Builder()
        self.functions: list[Function] = []
        self.budget = draw(st.integers(3, 40))

    def pick(self, choices: Sequence[Choice]) -> Choice:
        return self.draw(st.sampled_from(choices))

    def chance(self, of: int) -> bool:
        """True once in `of` times."""
        number: int = self.draw(st.integers(0, of - 1))
        return number == 0

    def value(self, scope: Scope, type: Scalar) -> Op:
        """A visible value of a type, or a constant."""
        known = [op for op in scope.values if op.type == type]
        if known and not self.chance(5):
            return self.pick(known)
        if type is BOOL:
            return self.builder.const(BOOL, self.draw(st.booleans()))
        if type.is_float:
            return self.builder.const(type, self.pick((0.0, -0.0, 1.0, -1.5, 3.25, 1e30)))
        low, high = max(-4, type.minimum), 5
        return self.builder.const(type, self.pick((*range(low, high), type.maximum, type.minimum)))

    def statements(self, scope: Scope, depth: int) -> None:
        for _ in range(self.draw(st.integers(0, 6))):
            self.budget -= 1
            if self.budget < 0:
                return
            getattr(self, self.pick(STATEMENTS if depth < 3 else SIMPLE))(scope, depth)
        if scope.exits and self.draw(st.integers(0, 3)) == 0:
            self.exit(scope)

    def exit(self, scope: Scope) -> None:
        name = self.pick(scope.exits)
        operands: tuple[Op, ...] = ()
        if name == "return" and isinstance(scope.result, Scalar):
            operands = (self.value(scope, scope.result),)
        self.builder.emit(EXIT_OPS[name], *operands)

    # ── values ────────────────────────────────────────────────────────────────────────────────

    def arithmetic(self, scope: Scope, depth: int) -> None:
        type = self.pick(TYPES)
        opdef = self.pick(BINARY if type.is_float else BINARY + INTEGER)
        operands = self.value(scope, type), self.value(scope, type)
        scope.values.append(self.builder.emit(opdef, *operands, name=self.pick(("", "a", "b"))))

    def comparison(self, scope: Scope, depth: int) -> None:
        type = self.pick(TYPES)
        operands = self.value(scope, type), self.value(scope, type)
        scope.values.append(self.builder.emit(self.pick(COMPARISONS), *operands))

    def logic(self, scope: Scope, depth: int) -> None:
        opdef = self.pick((ops.BIT_AND, ops.BIT_OR, ops.BIT_XOR, ops.BIT_NOT))
        operands = [self.value(scope, BOOL) for _ in opdef.operands]
        scope.values.append(self.builder.emit(opdef, *operands))

    def choice(self, scope: Scope, depth: int) -> None:
        type = self.pick((*TYPES, BOOL))
        operands = self.value(scope, BOOL), self.value(scope, type), self.value(scope, type)
        scope.values.append(self.builder.emit(ops.SELECT, *operands))

    def cast(self, scope: Scope, depth: int) -> None:
        value = self.value(scope, self.pick((*TYPES, BOOL)))
        scope.values.append(
            self.builder.emit(ops.CAST, value, attrs={"to": self.pick((*TYPES, BOOL))})
        )

    # ── memory ────────────────────────────────────────────────────────────────────────────────

    def slot(self, scope: Scope, depth: int) -> None:
        type = self.pick((*TYPES, BOOL))
        value = self.value(scope, type)
        made = self.builder.emit(ops.LOCAL, attrs={"element": type}, name=self.pick(("", "s")))
        self.builder.emit(ops.STORE_LOCAL, made, value)
        scope.slots.append(made)

    def assign(self, scope: Scope, depth: int) -> None:
        if scope.slots:
            slot = self.pick(scope.slots)
            self.builder.emit(ops.STORE_LOCAL, slot, self.value(scope, element(slot)))

    def read(self, scope: Scope, depth: int) -> None:
        if scope.slots:
            scope.values.append(self.builder.emit(ops.LOAD_LOCAL, self.pick(scope.slots)))

    def load(self, scope: Scope, depth: int) -> None:
        """Anything may be read of `x` (never written) and of own memory."""
        if not scope.memories:
            return
        memory = self.pick(scope.memories)
        index = self.position(scope) if memory.name == "out" else self.value(scope, INDEX)
        made = self.builder.emit(ops.LOAD, memory, index, attrs={"check": "checked"})
        scope.values.append(made)

    def store(self, scope: Scope, depth: int) -> None:
        """A unit writes `out` at its own position only, its own memory anywhere."""
        written = [memory for memory in scope.memories if memory.name != "x"]
        if written:
            memory = self.pick(written)
            index = self.position(scope) if memory.name == "out" else self.value(scope, INDEX)
            value = self.value(scope, element(memory))
            self.builder.emit(ops.STORE, memory, index, value, attrs={"check": "checked"})

    def private(self, scope: Scope, depth: int) -> None:
        shape = (self.draw(st.integers(1, 4)),)
        attrs: dict[str, AttrValue] = {"element": self.pick(STORED), "shape": shape}
        made = self.builder.emit(ops.LOCAL_ARRAY, attrs=attrs)
        zero = self.builder.const(element(made), 0)
        for place in range(shape[0]):
            index = self.builder.index(place)
            self.builder.emit(ops.STORE, made, index, zero, attrs={"check": "checked"})
        scope.memories.append(made)
        scope.values.append(self.builder.emit(ops.LENGTH, made, attrs={"axis": 0}))

    def position(self, scope: Scope) -> Op:
        return self.builder.emit(ops.ABSOLUTE_POS, name="i")

    def length(self, scope: Scope, depth: int) -> None:
        if scope.memories:
            memory = self.pick(scope.memories)
            scope.values.append(self.builder.emit(ops.LENGTH, memory, attrs={"axis": 0}))

    def where(self, scope: Scope, depth: int) -> None:
        scope.values.append(self.builder.emit(self.pick((ops.ABSOLUTE_POS, ops.UNIT_POS))))

    # ── control ───────────────────────────────────────────────────────────────────────────────

    def branch(self, scope: Scope, depth: int) -> None:
        condition = self.value(scope, BOOL)
        regions = [self.region(scope.inner(), depth) for _ in range(2)]
        self.builder.emit(ops.IF, condition, regions=tuple(regions))

    def guarded_load(self, scope: Scope, depth: int) -> None:
        """`if i < len(x): … x[i] …`: what bounds checks are dropped for."""
        if not scope.memories:
            return
        memory = self.pick(scope.memories)
        index = self.position(scope) if memory.name == "out" else self.value(scope, INDEX)
        length = self.builder.emit(ops.LENGTH, memory, attrs={"axis": 0})
        condition = self.builder.emit(self.pick((ops.LT, ops.LE)), index, length)
        if self.draw(st.booleans()):
            zero = self.builder.emit(ops.GE, index, self.builder.index(0))
            condition = self.builder.emit(ops.BIT_AND, condition, zero)
        with self.builder.region() as opened:
            inner = scope.inner()
            load = self.builder.emit(ops.LOAD, memory, index, attrs={"check": "checked"})
            inner.values.append(load)
            self.statements(inner, depth + 1)
        self.builder.emit(ops.IF, condition, regions=(opened.close(), Region()))

    def region(self, scope: Scope, depth: int, *params: Op) -> Region:
        scope.values += params
        with self.builder.region(*params) as opened:
            self.statements(scope, depth + 1)
        return opened.close()

    def loop(self, scope: Scope, depth: int) -> None:
        type = self.pick((I32, INDEX, U32))
        start, trips = self.draw(st.integers(0, 3)), self.draw(st.integers(0, 5))
        step = 1 if type is U32 else self.pick((1, 2, -1))
        bounds = [self.builder.const(type, value) for value in (start, start + trips * step, step)]
        variable = param(self.pick(("", "j")), type)
        body = self.region(scope.inner("break", "continue"), depth, variable)
        self.builder.emit(ops.FOR, *bounds, regions=(body,))

    def while_loop(self, scope: Scope, depth: int) -> None:
        """A counter no one else may touch, so that it ends."""
        counter = self.builder.emit(ops.LOCAL, attrs={"element": I32}, name="n")
        self.builder.emit(ops.STORE_LOCAL, counter, self.builder.const(I32, 0))
        limit = self.builder.const(I32, self.draw(st.integers(0, 4)))
        with self.builder.region() as condition:
            now = self.builder.emit(ops.LOAD_LOCAL, counter)
            more = self.builder.emit(ops.LT, now, limit)
            if self.draw(st.booleans()):
                more = self.builder.emit(ops.BIT_AND, more, self.value(scope, BOOL))
            self.builder.emit(ops.YIELD, more)
        inner = scope.inner("break", "continue")
        with self.builder.region() as body:
            now = self.builder.emit(ops.LOAD_LOCAL, counter)
            inner.values.append(now)
            next = self.builder.emit(ops.ADD, now, self.builder.const(I32, 1))
            self.builder.emit(ops.STORE_LOCAL, counter, next)
            self.statements(inner, depth + 1)
        self.builder.emit(ops.WHILE, regions=(condition.close(), body.close()))

    def block(self, scope: Scope, depth: int) -> None:
        self.builder.emit(ops.BLOCK, regions=(self.region(scope.inner("leave"), depth),))

    def call(self, scope: Scope, depth: int) -> None:
        if not self.functions:
            return
        function = self.pick(self.functions)
        arguments = [
            self.pick([memory for memory in scope.memories if memory.name == "x"])
            if isinstance(wanted.type, BufferType)
            else self.value(scope, scalar(wanted))
            for wanted in function.params
        ]
        results = "" if function.result is VOID else str(function.result)
        attrs = {"callee": function.name, "results": results}
        made = self.builder.emit(ops.CALL, *arguments, attrs=attrs)
        if isinstance(function.result, Scalar):
            scope.values.append(made)

    # ── whole ─────────────────────────────────────────────────────────────────────────────────

    def function(self, number: int) -> None:
        result = self.pick((VOID, *STORED))
        params = (param("v", self.pick(STORED)), param("x", buffer(F32, 0)))
        scope = Scope([params[0]], [], [params[1]], ("return",), result)
        with self.builder.region() as opened:
            self.statements(scope, 1)
            if isinstance(result, Scalar) and not opened.ended:
                self.builder.emit(ops.RETURN, self.value(scope, result))
        self.functions.append(
            Function(name=f"f{number}", params=params, result=result, body=opened.close())
        )

    def kernel(self) -> Kernel:
        for number in range(self.draw(st.integers(0, 2))):
            self.function(number)
        self.budget = self.draw(st.integers(3, 60))
        params = (
            param("x", buffer(F32, 0)), param("out", buffer(self.pick(STORED), 1)), param("p", I32)
        )  # fmt: skip
        scope = Scope([params[2]], [], list(params[:2]), ("return",))
        with self.builder.region() as opened:
            self.statements(scope, 0)
            if not opened.ended:
                self.store(Scope(scope.values, [], [params[1]]), 0)
        return Kernel(
            name="k", params=params, body=opened.close(), functions=tuple(self.functions),
            cube_dim=(UNITS, 1, 1),
        )  # fmt: skip


SIMPLE = (
    "arithmetic", "arithmetic", "comparison", "logic", "choice", "cast", "slot", "assign", "read",
    "assign", "read", "load", "store", "length", "where", "call",
)  # fmt: skip
STATEMENTS = (
    *SIMPLE, "private", "branch", "branch", "guarded_load", "loop", "while_loop", "block"
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Sample:
    """A random kernel that shows itself as text when a property fails."""

    kernel: Kernel

    def __repr__(self) -> str:
        return f'Sample(parse_kernel("""\n{print_kernel(self.kernel)}"""))'


@st.composite
def kernels(draw: st.DrawFn) -> Sample:
    """A well-formed kernel `k(x: Array[f32], out: Array[…], p: i32)` without faults."""
    return Sample(Maker(draw).kernel())

"""Cases for rows that compute a value: one kernel an op and operand types, all modes inside.

Modes, each an output: `varying` operands from arrays; `uniform` operands in a loop that all units
take together; `scalar_<p>` operand p an argument; `literal_<p>` operand p a constant; `folded` all
constants; `partial` inside a branch that some units take; `after_break` in a loop that some units
have left. What is expected comes from the row's `evaluate`, or from mpmath for functions of the
library.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cubepy.ir import (
    BOOL,
    INDEX,
    SCALARS,
    Access,
    Attrs,
    BufferType,
    Builder,
    Kernel,
    Op,
    OpDef,
    Scalar,
    StrideClass,
    Trait,
    TypeRuleError,
    freeze_attrs,
    ops,
    param,
)
from cubepy.records import dataclass, field
from cubepy.testing.cases import Case
from cubepy.testing.operands import operand_product, operand_table, representative
from cubepy.testing.witness import exact_value

__all__ = ["computes_a_value", "constant_cases", "value_cases"]

Array = np.ndarray[Any, Any]

LITERALS = 4  # constants tried at each operand
FOLDED = 24  # combinations of constants
UNIFORM = 96  # operands of the loop that all units take together
CUBE_DIM = 64
MIXED_WITH = ("u8", "i32", "u64")  # second operands of rows that take two integer types


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """An op at one choice of types."""

    row: OpDef
    types: tuple[Scalar, ...]
    result: Scalar
    attrs: Attrs

    @property
    def name(self) -> str:
        goal = [f"to {value}" for value in self.attrs.values()]
        return f"{self.row.name}[{', '.join([*map(str, self.types), *goal])}]"


def computes_a_value(row: OpDef) -> bool:
    """Whether the row's result depends on its scalar operands alone."""
    known = row.evaluate is not None or row.has(Trait.LIBRARY)
    return known and row.has(Trait.PURE) and bool(row.operands)


def value_cases(row: OpDef) -> Iterator[Case]:
    """The cases of one row, for all operand types it takes."""
    for form in _forms(row):
        yield _Maker(form=form).case()


def constant_cases() -> Iterator[Case]:
    """Every operand of every type as a constant, stored by one unit."""
    for type in SCALARS.values():
        table = operand_table(type)
        out = param("out", BufferType(type, (StrideClass.ONE,), Access.UNKNOWN, 0))
        builder = Builder()
        with builder.region() as body:
            for number, value in enumerate(table):
                constant = builder.const(type, _python(value, type))
                attrs = {"check": "checked"}
                builder.emit(ops.STORE, out, builder.index(number), constant, attrs=attrs)
        yield Case(
            row="const",
            name=f"const[{type}]",
            kernel=Kernel(name="const", params=(out,), body=body.close()),
            arguments={"out": table[::-1].copy()},
            expected={"out": table},
        )


def _forms(row: OpDef) -> Iterator[_Form]:
    every = tuple(SCALARS.values())
    choices: list[tuple[tuple[Scalar, ...], dict[str, Scalar]]]
    if row in (ops.CAST, ops.BITCAST):
        choices = [((source,), {"to": goal}) for source in every for goal in every]
    else:
        choices = [(types, {}) for types in itertools.product(every, repeat=len(row.operands))]
    for types, attrs in choices:
        try:
            result = row.rule(types, attrs)
        except TypeRuleError:
            continue
        assert isinstance(result, Scalar)
        if _worth_trying(types):
            yield _Form(row=row, types=types, result=result, attrs=freeze_attrs(attrs))


def _worth_trying(types: Sequence[Scalar]) -> bool:
    """Of two integer types that may differ, a few suffice for the second."""
    mixed = len(types) == 2 and types[0] != types[1]
    return not mixed or types[1].name in MIXED_WITH


@dataclass(slots=True, kw_only=True)
class _Maker:
    """Builds the kernel of one form, and collects arguments and expectations on the way."""

    form: _Form
    builder: Builder = field(default_factory=Builder)
    params: list[Op] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)
    expected: dict[str, Array] = field(default_factory=dict)
    operands: dict[str, tuple[Array, ...]] = field(default_factory=dict)

    def case(self) -> Case:
        arrays = operand_product(self.form.types)
        inputs = [self.array(f"in_{p}", array) for p, array in enumerate(arrays)]
        pattern = np.arange(arrays[0].size)
        gate = self.array("gate", (pattern * 7 + pattern // 5) % 11 < 5)
        with self.builder.region() as body:
            here = self.builder.emit(ops.ABSOLUTE_POS)
            self.in_range(here, arrays, inputs, gate)
            self.uniform(here, arrays, inputs)
            self.folded(here)
        kernel = Kernel(
            name=self.form.row.name,
            params=tuple(self.params),
            body=body.close(),
            cube_dim=(CUBE_DIM, 1, 1),
        )
        ulp = self.form.row.ulp.get(self.form.result.name, 0.0)
        return Case(
            row=self.form.row.name,
            name=self.form.name,
            kernel=kernel,
            arguments=self.arguments,
            expected=self.expected,
            operands=self.operands,
            cube_count=(-(-arrays[0].size // CUBE_DIM), 1, 1),
            steps=int(ulp + 0.5),
        )

    # ── parameters ────────────────────────────────────────────────────────────────────────────────

    def array(self, name: str, content: Array) -> Op:
        """An array argument and its parameter."""
        element = self._element(name)
        made = param(
            name, BufferType(element, (StrideClass.ONE,), Access.UNKNOWN, len(self.params))
        )
        self.params.append(made)
        self.arguments[name] = content
        return made

    def _element(self, name: str) -> Scalar:
        """The type by the array's role: NumPy does not tell index from i64."""
        if name.startswith("in_"):
            return self.form.types[int(name[3:])]
        return BOOL if name == "gate" else self.form.result

    def scalar(self, name: str, type: Scalar, value: Any) -> Op:
        """A scalar argument and its parameter."""
        made = param(name, type)
        self.params.append(made)
        self.arguments[name] = value.item() if not type.is_float else float(value)
        return made

    def output(self, name: str, operands: Sequence[Array], keep: Array | None = None) -> Op:
        """An output, what it must hold, and what it holds before; `keep`: elements not written."""
        wanted = exact_value(self.form.row, operands, type=self.form.result, attrs=self.form.attrs)
        before = np.full(wanted.size * wanted.itemsize, 0x2B, np.uint8).view(wanted.dtype)
        if self.form.result is BOOL:
            before = ~wanted
        self.operands[name] = tuple(operands)
        self.expected[name] = wanted if keep is None else np.where(keep, before, wanted)
        return self.array(name, before)

    # ── modes ─────────────────────────────────────────────────────────────────────────────────────

    def load(self, memory: Op, at: Op) -> Op:
        return self.builder.emit(ops.LOAD, memory, at, attrs={"check": "checked"})

    def store(self, memory: Op, at: Op, operands: Sequence[Op]) -> None:
        """The op under test, and where its result goes."""
        value = self.builder.emit(self.form.row, *operands, attrs=self.form.attrs)
        self.builder.emit(ops.STORE, memory, at, value, attrs={"check": "checked"})

    def branch(self, condition: Op) -> _Branch:
        return _Branch(self.builder, condition)

    def in_range(self, here: Op, arrays: list[Array], inputs: list[Op], gate: Op) -> None:
        """The modes of one element a unit."""
        size = self.builder.index(arrays[0].size)
        with self.branch(self.builder.emit(ops.LT, here, size)):
            operands = [self.load(memory, here) for memory in inputs]
            self.store(self.output("varying", arrays), here, operands)
            self.mixed(here, arrays, operands)
            self.partial(here, arrays, inputs, gate)
            self.after_break(here, arrays, inputs, gate)

    def mixed(self, here: Op, arrays: list[Array], operands: list[Op]) -> None:
        """One operand a scalar argument or a constant, the others varying."""
        for p, type in enumerate(self.form.types):
            choices = representative(type, LITERALS)
            for number, value in enumerate(choices if len(self.form.types) > 1 else ()):
                given = [*arrays[:p], np.full_like(arrays[p], value), *arrays[p + 1 :]]
                literal = self.builder.const(type, _python(value, type))
                placed = [*operands[:p], literal, *operands[p + 1 :]]
                self.store(self.output(f"literal_{p}_{number}", given), here, placed)
            value = choices[len(choices) // 2]
            given = [*arrays[:p], np.full_like(arrays[p], value), *arrays[p + 1 :]]
            placed = [*operands[:p], self.scalar(f"scalar_{p}_in", type, value), *operands[p + 1 :]]
            self.store(self.output(f"scalar_{p}", given), here, placed)

    def partial(self, here: Op, arrays: list[Array], inputs: list[Op], gate: Op) -> None:
        """Under a branch that some units take; read backwards, so nothing is shared."""
        last = self.builder.index(arrays[0].size - 1)
        there = self.builder.emit(ops.SUB, last, here)
        reverse = [array[::-1] for array in arrays]
        with self.branch(self.load(gate, here)):
            operands = [self.load(memory, there) for memory in inputs]
            out = self.output("partial", reverse, keep=~self.arguments["gate"])
            self.store(out, here, operands)

    def after_break(self, here: Op, arrays: list[Array], inputs: list[Op], gate: Op) -> None:
        """In the second trip of a loop that units leave with `break` as the gate says."""
        zero, one, two = (self.builder.index(number) for number in (0, 1, 2))
        size = arrays[0].size
        with self.builder.region(param("trip", INDEX)) as loop:
            second = self.builder.emit(ops.EQ, loop.params[0], one)
            with self.branch(self.load(gate, here)):
                self.builder.emit(ops.BREAK)
            with self.branch(second):
                at = self.builder.emit(ops.ADD, here, one)
                wrapped = self.builder.emit(ops.FLOOR_MOD, at, self.builder.index(size))
                operands = [self.load(memory, wrapped) for memory in inputs]
                rolled = [np.roll(array, -1) for array in arrays]
                out = self.output("after_break", rolled, keep=self.arguments["gate"])
                self.store(out, here, operands)
        self.builder.emit(ops.FOR, zero, two, one, regions=(loop.close(),))

    def uniform(self, here: Op, arrays: list[Array], inputs: list[Op]) -> None:
        """Operands that are the same in all units: a loop over some of them."""
        step = max(1, arrays[0].size // UNIFORM)
        chosen = np.arange(0, arrays[0].size, step)
        out = self.output("uniform", [array[chosen] for array in arrays])
        start, stop, stride = (self.builder.index(n) for n in (0, chosen.size, 1))
        with self.builder.region(param("k", INDEX)) as loop:
            k = loop.params[0]
            at = self.builder.emit(ops.MUL, k, self.builder.index(step))
            operands = [self.load(memory, at) for memory in inputs]
            value = self.builder.emit(self.form.row, *operands, attrs=self.form.attrs)
            with self.branch(self.builder.emit(ops.EQ, here, start)):
                self.builder.emit(ops.STORE, out, k, value, attrs={"check": "checked"})
        self.builder.emit(ops.FOR, start, stop, stride, regions=(loop.close(),))

    def folded(self, here: Op) -> None:
        """All operands constants, so the value may be computed while compiling."""
        combinations = [list(row) for row in zip(*self._folded_operands(), strict=True)]
        columns = [np.array(column) for column in self._folded_operands()]
        out = self.output("folded", columns)
        zero = self.builder.index(0)
        with self.branch(self.builder.emit(ops.EQ, here, zero)):
            for number, values in enumerate(combinations):
                constants = [
                    self.builder.const(type, _python(value, type))
                    for type, value in zip(self.form.types, values, strict=True)
                ]
                self.store(out, self.builder.index(number), constants)

    def _folded_operands(self) -> list[Array]:
        arrays = operand_product(self.form.types)
        chosen = np.linspace(0, arrays[0].size - 1, min(FOLDED, arrays[0].size))
        positions = np.unique(chosen.round().astype(np.int64))
        return [array[positions] for array in arrays]


class _Branch:
    """`with` over the units for which a condition holds."""

    def __init__(self, builder: Builder, condition: Op) -> None:
        self.builder = builder
        self.condition = condition
        self.opened = builder.region()

    def __enter__(self) -> None:
        self.then = self.opened.__enter__()

    def __exit__(self, *error: Any) -> None:
        self.opened.__exit__(*error)
        with self.builder.region() as other:
            pass
        self.builder.emit(ops.IF, self.condition, regions=(self.then.close(), other.close()))


def _python(value: Any, type: Scalar) -> int | float | bool:
    """A table's value as a constant's: floats wider than ours hold it exactly."""
    if type.is_float:
        return float(value)
    return bool(value) if type is BOOL else int(value)

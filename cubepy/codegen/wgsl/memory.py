"""Loads, stores and the tests that keep them inside: elements of buffers, shared and private
memory.

Buffers whose elements are narrower than a word, or of several types, are arrays of words; elements
are taken out of a word and put into it so that its other elements survive. A checked load outside
gives 0, a store outside is dropped; `validate` writes the first fault into the report before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cubepy.codegen.structured import (
    HELPER,
    Body,
    Expression,
    Names,
    binary,
    call,
    place_at,
    primary,
    tests_of,
)
from cubepy.codegen.wgsl.cells import Cells, cell_of, element_in
from cubepy.codegen.wgsl.conversions import (
    as_bits,
    as_pair,
    helper,
    invoked,
    low_word,
    of_pair,
)
from cubepy.codegen.wgsl.types import Machine, literal, machine_of
from cubepy.ir import BOOL, MemoryType, Op, Scalar
from cubepy.records import dataclass

if TYPE_CHECKING:
    from cubepy.codegen.wgsl.kernel import WgslKernel
    from cubepy.codegen.wgsl.prelude import Prelude

__all__ = [
    "Memory",
    "element_of",
    "emit_load",
    "emit_store",
    "guard",
    "named_apart",
    "place_of",
    "put_element",
    "within_word",
    "word_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """`start`: the place of the first element, "" for 0. `atomic`: its cells are."""

    name: str
    type: MemoryType
    extents: tuple[str, ...]
    strides: tuple[str, ...]
    start: str = ""
    cells: Cells = Cells.OWN
    atomic: bool = False

    @staticmethod
    def of_shape(
        name: str, type: MemoryType, shape: tuple[int, ...], cells: Cells, *, atomic: bool
    ) -> Memory:
        """Memory of a shape known while compiling, row-major."""
        return Memory(
            name=name,
            type=type,
            extents=tuple(map(str, shape)),
            strides=tuple(str(math.prod(shape[axis + 1 :])) for axis in range(len(shape))),
            cells=cells,
            atomic=atomic,
        )

    @property
    def scalar(self) -> Scalar:
        """Its element."""
        return self.type.element

    @property
    def cell(self) -> str:
        """The type of what the array has."""
        plain = self.cells.value or machine_of(self.scalar).value
        return f"atomic<{plain}>" if self.atomic else plain

    @property
    def is_packed(self) -> bool:
        """Whether several elements share a cell."""
        return self.cells is Cells.WORDS and self.scalar.bits < 32

    @property
    def is_split(self) -> bool:
        """Whether an element takes two cells."""
        return self.cells is Cells.WORDS and self.scalar.bits == 64


# What is in functions made for a memory, such as stores of narrow elements.
_INSIDE = frozenset(
    {"place", "bits", "word", "shift", "element", "seen", "next", "change"}
    | {"value", "expected", "old"}
)


def named_apart(names: Names, name: str) -> str:
    """A name for a memory, its own if functions made for it have nothing called so."""
    return names.fresh(f"{name}_array") if name in _INSIDE else name


# ── places ──────────────────────────────────────────────────────────────────────────────────────


def place_of(kernel: WgslKernel, body: Body, memory: Memory, indices: Sequence[Op]) -> Expression:
    """The number of the element with these subscripts, which must be inside."""
    texts = [low_word(kernel.machine(index), Machine.I32, body.text(index)) for index in indices]
    start = [primary(memory.start)] if memory.start else []
    return place_at(zip(texts, memory.strides, strict=True), start)


def guard(kernel: WgslKernel, body: Body, op: Op, memory: Memory, indices: Sequence[Op]) -> str:
    """The condition of an access being inside, "" if nothing need be tested."""
    condition = tests_of(
        body, op, indices, kernel.ranges,
        lambda axis, text: _inside(kernel, op, axis, indices[axis], text, memory.extents[axis]),
    )  # fmt: skip
    kernel.notes.access(op, tested=bool(condition))
    if condition and op.attrs.get("check") == "validate":
        kernel.report_outside(body, op, memory, indices, condition)
    return condition


def _inside(kernel: WgslKernel, op: Op, axis: int, index: Op, text: Expression, extent: str) -> str:
    if kernel.machine(index) is Machine.PAIR:
        return helper(kernel.prelude, "cb_inside", text, primary(extent)).text
    if kernel.ranges.is_not_negative(op, axis):
        return f"{text.within(primary('').binding)} < {extent}"
    unsigned = f"u32({extent})" if not extent.isdigit() else f"{extent}u"
    return f"{low_word(Machine.I32, Machine.U32, text)} < {unsigned}"


# ── cells ───────────────────────────────────────────────────────────────────────────────────────


def word_of(memory: Memory, number: Expression) -> Expression:
    """The present content of a cell."""
    place = f"{memory.name}[{number}]"
    return primary(f"atomicLoad(&{place})" if memory.atomic else place, number)


def element_of(prelude: Prelude, memory: Memory, body: Body, place: Expression) -> Expression:
    """The value of an element."""
    scalar = memory.scalar
    if not (memory.is_packed or memory.is_split):
        return element_in(prelude, scalar, memory.cells, word_of(memory, place))
    place = _once(body, place)
    if memory.is_split:
        first = binary("*", place, primary("2"))
        second = binary("+", first, primary("1"))
        pair = call("vec2<u32>", word_of(memory, first), word_of(memory, second))
        return of_pair(prelude, machine_of(scalar), pair)
    return _part(scalar, word_of(memory, _word_number(scalar, place)), _shift(scalar, place))


def _once(body: Body, place: Expression) -> Expression:
    if place.is_atom:
        return place
    name = body.names.fresh("place")
    body.writer.line(f"let {name} = {place};")
    return primary(name)


def _word_number(scalar: Scalar, place: Expression) -> Expression:
    return binary(">>", place, primary("2u" if scalar.bits == 8 else "1u"))


def _shift(scalar: Scalar, place: Expression) -> Expression:
    """Where in its word a narrow element begins."""
    number = binary("&", place, primary("3" if scalar.bits == 8 else "1"))
    return binary("*", call("u32", number), primary(f"{scalar.bits}u"))


def within_word(scalar: Scalar) -> tuple[Expression, Expression]:
    """The number of the word of the narrow element `place`, and where in it the element begins."""
    place = primary("place")
    return _word_number(scalar, place), _shift(scalar, place)


def _part(scalar: Scalar, word: Expression, shift: Expression) -> Expression:
    width = primary(f"{scalar.bits}u")
    if scalar.is_signed:
        return call("extractBits", call("bitcast<i32>", word), shift, width)
    bits = call("extractBits", word, shift, width)
    return binary("!=", bits, primary("0u")) if scalar is BOOL else bits


def emit_load(kernel: WgslKernel, body: Body, op: Op) -> None:
    """A load; 0 outside."""
    memory, indices = kernel.memory(op.operands[0]), op.operands[1:]
    inside = guard(kernel, body, op, memory, indices)
    value = element_of(kernel.prelude, memory, body, place_of(kernel, body, memory, indices))
    if inside:
        zero = literal(memory.scalar, 0)
        value = invoked("select", zero, value, primary(inside))
    body.define_now(op, value)


def emit_store(kernel: WgslKernel, body: Body, op: Op) -> None:
    """A store; dropped outside."""
    memory, indices = kernel.memory(op.operands[0]), op.operands[1:-1]
    inside = guard(kernel, body, op, memory, indices)
    value = kernel.moved_to(op.operands[-1], machine_of(memory.scalar), body.text(op.operands[-1]))
    if not inside:
        put_element(kernel, body, memory, place_of(kernel, body, memory, indices), value)
        return
    body.writer.open(f"if ({inside}) {{")
    put_element(kernel, body, memory, place_of(kernel, body, memory, indices), value)
    body.writer.close()


def put_element(
    kernel: WgslKernel, body: Body, memory: Memory, place: Expression, value: Expression
) -> None:
    """Write an element."""
    scalar = memory.scalar
    if memory.is_packed:
        bits = _once(body, as_bits(scalar, value))
        body.writer.line(f"{_narrow_store(kernel, memory)}({place}, {bits});")
    elif memory.is_split:
        first = binary("*", _once(body, place), primary("2"))
        pair = _once(body, as_pair(kernel.prelude, machine_of(scalar), value))
        _set(body, memory, first, primary(f"{pair}.x"))
        _set(body, memory, binary("+", first, primary("1")), primary(f"{pair}.y"))
    else:
        _set(body, memory, place, cell_of(kernel.prelude, scalar, memory.cells, value))


def _set(body: Body, memory: Memory, number: Expression, value: Expression) -> None:
    if memory.atomic:
        body.writer.line(f"atomicStore(&{memory.name}[{number}], {value});")
    else:
        body.writer.line(f"{memory.name}[{number}] = {value};")


def _narrow_store(kernel: WgslKernel, memory: Memory) -> str:
    """The function that puts an element into its word while others may change the rest of it."""
    scalar = memory.scalar
    name = f"{HELPER}store_{scalar.bits}_in_{memory.name}"
    ones = (1 << scalar.bits) - 1
    number, shift = within_word(scalar)
    text = (
        f"fn {name}(place: i32, bits: u32) {{\n"
        f"    let word = {number};\n    let shift = {shift};\n"
        f"    let element = (bits & {ones}u) << shift;\n"
        f"    var seen = atomicLoad(&{memory.name}[word]);\n"
        "    loop {\n"
        f"        let next = (seen & ~({ones}u << shift)) | element;\n"
        f"        let change = atomicCompareExchangeWeak(&{memory.name}[word], seen, next);\n"
        "        if (change.exchanged) {\n            break;\n        }\n"
        "        seen = change.old_value;\n    }\n}"
    )
    return kernel.prelude.add(name, text)

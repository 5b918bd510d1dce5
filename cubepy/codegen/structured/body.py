"""The walk over one function: what gets a name, what stands inside an expression.

A value without effects that has one use is written where it is used, unless the line would become
long or the value would be computed once a trip. Loads and other effects are statements in their
order. A value that reads a variable is named before the variable changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cubepy.codegen.structured import control
from cubepy.codegen.structured.expression import Expression, primary
from cubepy.codegen.structured.language import Language
from cubepy.codegen.structured.names import Names
from cubepy.codegen.structured.uses import stored_slots, use_counts, used_inside
from cubepy.codegen.structured.writer import SourceWriter
from cubepy.ir import Op, OpDef, Region, Scalar, SlotType, Trait, ops

__all__ = ["Body"]

# An expression of at least so many characters gets a name.
_LONG = 56
_LOOPS = (ops.FOR, ops.WHILE)


class Body:
    """The statements of one function. `values` has what ops are called, parameters included.

    `highest` tells the greatest value an integer can have, or None; `pure` are the names of
    functions whose calls have no effects.
    """

    def __init__(
        self,
        language: Language,
        writer: SourceWriter,
        names: Names,
        root: Region,
        *,
        values: Mapping[Op, Expression],
        pure: frozenset[str] = frozenset(),
        bounds: Callable[[Op], tuple[int, int] | None] = lambda op: None,
    ) -> None:
        self.language = language
        self.writer = writer
        self.names = names
        self.bounds = bounds
        self.scopes: list[control.Scope] = []
        self._values = dict(values)
        self._pure = pure
        self._counts = use_counts(root)
        self._left: dict[Op, int] = {}
        self._waiting: dict[Op, Expression] = {}  # not yet written, in order
        self._undeclared: dict[Op, None] = {}  # variables without a declaration so far, in order

    # ── values ──

    def text(self, op: Op) -> Expression:
        """A value for one use of it."""
        waiting = self._waiting.get(op)
        if waiting is None:
            return self._values[op]
        self._left[op] -= 1
        if self._left[op] == 0:
            del self._waiting[op]
        return waiting

    def name(self, op: Op) -> Expression:
        """A value as something that may be written more than once."""
        expression = self.text(op)
        return self.named(expression, op) if not expression.is_atom else expression

    def peek(self, op: Op) -> Expression:
        """A value as something that may be written more than once, besides a use still to come."""
        waiting = self._waiting.get(op)
        if waiting is None:
            return self._values[op]
        return waiting if waiting.is_atom else self.named(waiting, op)

    def named(self, expression: Expression, op: Op) -> Expression:
        """An expression given a name, with the type of `op` and a name like its."""
        assert isinstance(op.type, Scalar)
        name = self.names.fresh(op.name or _hint(op))
        self.writer.line(self.language.constant(op.type, name, expression.text))
        self._values[op] = primary(name)
        self._waiting.pop(op, None)
        return self._values[op]

    def define(self, op: Op, expression: Expression, *, effect: bool = False) -> None:
        """What an op's value is; named here and now if computing it has an effect."""
        count = self._counts.get(op, 0)
        if effect and not count:
            self.writer.line(self.language.statement(expression))
        elif expression.is_atom and not expression.slots and not effect:
            self._values[op] = expression
        elif count and not effect and (expression.is_atom or self._fits_where_used(op, expression)):
            self._waiting[op] = expression
            self._left[op] = count
        elif count:
            self.named(expression, op)

    def define_now(self, op: Op, expression: Expression) -> None:
        """A value that must be computed here, if it is used at all: what a load gives."""
        if op in self._counts:
            self.named(expression, op)

    def is_used(self, op: Op) -> bool:
        """Whether anything asks for the op's result."""
        return op in self._counts

    def _fits_where_used(self, op: Op, expression: Expression) -> bool:
        single = self._counts[op] == 1
        return single and len(expression.text) < _LONG

    # ── the walk ──

    def region(self, region: Region) -> None:
        """All ops of a region."""
        for op in region.ops:
            self.emit(op)

    def emit(self, op: Op) -> None:
        """One op."""
        self.writer.at(op.loc)
        handler = _HANDLERS.get(op.opdef)
        if handler is not None:
            handler(self, op)
        elif op.opdef.has(Trait.PURE):
            if op not in self._counts:
                self._leave_out(op)
                return
            operands = [self.text(o) for o in op.operands if isinstance(o.type, Scalar)]
            self.define(op, self.language.value(self, op, operands))
        else:
            self.language.effect(self, op)

    def _leave_out(self, op: Op) -> None:
        """Write nothing of an op: what it alone would have used waits no longer, or it would be
        named when a variable in it changes, where its parts need not be known any more.
        """
        for operand in op.operands:
            if operand in self._waiting:
                self.text(operand)

    def before(self, op: Op) -> None:
        """Get ready for a control op: what must not be computed inside it gets its name now."""
        for waiting in self._named_before(op):
            self.named(self._waiting[waiting], waiting)
        inside = used_inside(op)
        for slot in [slot for slot in self._undeclared if slot in inside]:
            self._declare(slot)

    def is_ready(self, op: Op) -> bool:
        """Whether `before` would write nothing."""
        return not self._named_before(op) and used_inside(op).isdisjoint(self._undeclared)

    def _named_before(self, op: Op) -> list[Op]:
        inside, stored = used_inside(op), stored_slots(op)
        loop = op.opdef in _LOOPS
        return [
            waiting
            for waiting, expression in self._waiting.items()
            if (loop and waiting in inside and not expression.is_atom)
            or not stored.isdisjoint(expression.slots)
        ]

    def bind(self, op: Op, expression: Expression) -> None:
        """What an op is called from here on."""
        self._values[op] = expression

    # ── variables ──

    def local(self, op: Op) -> None:
        """A variable; its declaration waits for the first value."""
        self._values[op] = primary(self.names.fresh(op.name or "local"))
        self._undeclared[op] = None

    def load(self, op: Op) -> None:
        """The variable itself, until it changes."""
        slot = op.operands[0]
        if slot in self._undeclared:
            self._declare(slot)
        self.define(op, Expression(self._values[slot].text, slots=frozenset({slot})))

    def store(self, op: Op) -> None:
        """An assignment, or the declaration if it is the first."""
        slot, operand = op.operands
        value = self.language.assigned(op, self.text(operand))
        for waiting, expression in list(self._waiting.items()):
            if slot in expression.slots:
                self.named(expression, waiting)
        name = self._values[slot].text
        if slot in self._undeclared:
            assert isinstance(slot.type, SlotType)
            del self._undeclared[slot]
            self.writer.line(self.language.variable(slot.type.element, name, value.text))
        elif value.text != name:
            self.writer.line(f"{name} = {value.text};")

    def _declare(self, slot: Op) -> None:
        """A variable whose first value comes later: a fixed one until then."""
        assert isinstance(slot.type, SlotType)
        element = slot.type.element
        del self._undeclared[slot]
        first = self.language.initial(slot).text
        self.writer.line(self.language.variable(element, self._values[slot].text, first))

    # ── calls ──

    def call(self, op: Op) -> None:
        """A call of a helper: inside an expression where it has no effects."""
        effect = str(op.attrs["callee"]) not in self._pure
        if not effect and op not in self._counts:
            self._leave_out(op)
            return
        expression = self.language.call(self, op)
        if isinstance(op.type, Scalar):
            self.define(op, expression, effect=effect)
            return
        if op not in self._counts:
            self.writer.line(self.language.statement(expression))
            return
        name = self.names.fresh(op.name or "results")
        self.writer.line(self.language.result_declaration(op, name, expression.text))
        self._values[op] = primary(name)

    def element(self, op: Op) -> None:
        """One of several results."""
        number = op.attrs["index"]
        assert isinstance(number, int)
        self.define(op, self.language.result(self.text(op.operands[0]), number))

    def literal(self, op: Op) -> None:
        """A constant stands where it is used."""
        self._values[op] = self.language.literal_of(op)


def _hint(op: Op) -> str:
    """A name for a value that has none."""
    if op.operands and op.operands[0].name and op.opdef is ops.LOAD:
        return op.operands[0].name
    return "test" if str(op.type) == "bool" else "t"


_HANDLERS: Mapping[OpDef, Callable[[Body, Op], None]] = {
    ops.CONST: Body.literal,
    ops.LOCAL: Body.local,
    ops.LOAD_LOCAL: Body.load,
    ops.STORE_LOCAL: Body.store,
    ops.CALL: Body.call,
    ops.TUPLE_GET: Body.element,
    ops.IF: control.branch,
    ops.FOR: control.counted_loop,
    ops.WHILE: control.conditional_loop,
    ops.BLOCK: control.block,
    ops.BREAK: control.leave,
    ops.CONTINUE: control.leave,
    ops.LEAVE: control.leave,
    ops.RETURN: control.give_back,
}

"""Random expressions of a wanted type, as text.

Every expression is typed: literals stand beside a typed operand or inside a cast. An expression
asked to be uniform is made of literals, scalar arguments, positions of the cube, lengths and
uniform variables only. Bits of floats are never looked at, since a NaN has many.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from cubepy.ir import BOOL, F32, F64, FLOATS, I32, INDEX, INTEGERS, SCALARS, U8, U64, Scalar
from cubepy.testing.generator.functions import (
    EXACT_FORMS,
    FROM_MINIFLOAT,
    INTEGER_FORMS,
    LIBRARY_FORMS,
    TO_MINIFLOAT,
    Form,
    reinterpreted,
)
from cubepy.testing.generator.model import Feature
from cubepy.testing.generator.scope import Context, Helper, Memory, MemoryKind, Phase, Scope

__all__ = ["Expressions"]

# Reads in the subscripts of reads.
MAX_READING = 2
Maker = Callable[[Scalar, int], str]

_INDEX = ("cb.ABSOLUTE_POS", "cb.UNIT_POS", "cb.UNIT_POS_X", "cb.UNIT_POS_Y", "cb.ABSOLUTE_POS_X")
_UNIFORM_INDEX = ("cb.CUBE_POS", "cb.CUBE_POS_X", "cb.CUBE_COUNT", "cb.CUBE_COUNT_X")
# Subscripts near a position: steps, rows, mirrors, wrapped and clamped ones.
_NEAR = (
    "{}", "{}", "{} + 1", "{} - 1", "{} - 2", "{} * 2", "{} + 3", "-1 - {}", "{} // {by}",
    "{} % {by}", "{} // {by} * {by}", "{} * {by} + 1", "{} ^ 1", "{} & ~3", "{} >> 1",
    "{length} - 1 - {}", "({} + {by}) % {length}", "min({} + 1, {length} - 1)", "max({} - {by}, 0)",
    "cb.u64({}) + {large}", "max(cb.u64({}), {large})", "cb.u64({}) | {large}",
    "{} + {other}", "{} - {other}", "{} * {other} + {by}", "{other} * {by} + {}",
)  # fmt: skip
_NUMBERS = tuple(type for type in SCALARS.values() if type is not BOOL)
_INTEGERS = tuple(type for type in _NUMBERS if type in INTEGERS)


class Expressions:
    """Makes expressions from what a scope has in reach at a point of control flow."""

    def __init__(self, scope: Scope, context: Context, *, uniform: bool = False) -> None:
        self.scope = scope
        self.context = context
        self.uniform = uniform
        self.reading = 0

    @property
    def random(self) -> random.Random:
        return self.scope.random

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def value(self, type: Scalar, depth: int = 2) -> str:
        """An expression of a type."""
        if depth <= 0 or self.scope.chance(0.2):
            return self.leaf(type)
        return self.random.choice(self._makers(type))(type, depth - 1)

    def condition(self, depth: int = 2) -> str:
        """An expression of type bool that parts units, or trips, more often than not."""
        if self.scope.chance(0.6):
            return self.parting()
        return self.random.choice((self.compare, self.compare, self.logic, self.chain))(BOOL, depth)

    def parting(self) -> str:
        """A residue compared with a number: true for some and false for others."""
        known = [
            variable.name
            for variable in self.scope.find(uniform=self.uniform)
            if variable.type in INTEGERS
        ]
        moving = [name for name in known if name[0] in "ixyjn"]
        base = self.pick(*(moving if moving and self.scope.chance(0.5) else known or ["cb.i32(1)"]))
        read = self.element(I32) if self.scope.chance(0.3) else ""
        divisor = self.random.choice((2, 2, 3, 4, 5, 7))
        sign, number = self.pick("<", "==", "!=", ">=", "<="), self.random.randrange(divisor)
        if self.scope.chance(0.08):
            return self._beyond(read or base)
        return f"({read or base} % {divisor} {sign} {number})"

    def _beyond(self, base: str) -> str:
        """A comparison with a number that no signed type holds, which most values are far from."""
        sign, other = self.pick("<", ">", ">=", "<="), self.pick(base, f"cb.u64({base})")
        return f"({other} {sign} {self._large()})"

    def _large(self) -> str:
        """A number of 2**63 or more, or little less."""
        self.scope.features.add(Feature.LARGE)
        number = self.random.choice((1 << 63, (1 << 63) + 5, (1 << 64) - 1, (1 << 64) - 3))
        return f"cb.u64({number})"

    def _makers(self, type: Scalar) -> tuple[Maker, ...]:
        if type is BOOL:
            return (self.compare, self.compare, self.chain, self.logic, self.logic, self.flags,
                    self.test, self.conditional, self.cast)  # fmt: skip
        common = (self.arithmetic, self.arithmetic, self.extreme, self.conditional, self.select,
                  self.cast, self.unary, self.called)  # fmt: skip
        if type in FLOATS:
            return (*common, self.arithmetic, self.float_function, self.float_function)
        return (*common, self.division, self.bits, self.shift, self.integer_function, self.power)

    # ── leaves ──

    def leaf(self, type: Scalar) -> str:
        """A variable, an element, a position, or a literal in a cast."""
        known = self.scope.find(type=type, uniform=self.uniform)
        if known and self.scope.chance(0.6):
            return self.random.choice(known).name
        if self.scope.chance(0.6):
            read = self.element(type)
            if read:
                return read
        other = self.scope.find(uniform=self.uniform)
        if other and self.scope.chance(0.7):
            source = self.random.choice(other)
            return (
                source.name
                if source.type is type
                else f"{self.scope.spelling(type)}({source.name})"
            )
        if type is INDEX and self.context.results is None and self.scope.chance(0.6):
            memories = self.scope.find_memories(MemoryKind.READ, uniform=self.uniform)
            lengths = [f"len({memory.name})" for memory in memories]
            uniform = (*_UNIFORM_INDEX, *lengths)
            return self.pick(*(uniform if self.uniform else (*_INDEX, *uniform)))
        return self.literal_of(type)

    def literal(self, type: Scalar) -> str:
        """A literal, or a small number known while compiling, that fits the type."""
        if type is BOOL:
            return self.pick("True", "False")
        if self.scope.comptimes and self.scope.chance(0.3):
            return self.pick(*self.scope.comptimes)
        if type in FLOATS:
            return self.pick(
                "0.0", "1.0", "0.5", "1.5", "2.0", "3.25", "0.1", "-1.0", "-0.0", "100.0"
            )
        if type is U64 and self.scope.chance(0.15):
            return self._large()
        choices = [0, 1, 2, 3, 5, 7, 10, 31, -1, -2, -7, type.bits - 1, 100,
                   type.maximum, type.minimum]  # fmt: skip
        return str(self.random.choice([n for n in choices if type.minimum <= n <= type.maximum]))

    def literal_of(self, type: Scalar) -> str:
        """A literal with its type."""
        return f"{self.scope.spelling(type)}({self.literal(type)})"

    def element(self, type: Scalar) -> str:
        """An element of a memory that may be read here, or ""."""
        kinds = [MemoryKind.READ]
        if not self.uniform:
            kinds += [MemoryKind.OWN, MemoryKind.CUBE, MemoryKind.PRIVATE]
        known = [
            memory
            for kind in kinds
            for memory in self.scope.find_memories(kind, type, uniform=self.uniform)
        ]
        if not known or self.reading == MAX_READING:
            return ""
        memory = self.random.choice(known)
        self.reading += 1
        text = f"{memory.name}[{self.subscript(memory)}]"
        self.reading -= 1
        return text

    def subscript(self, memory: Memory) -> str:
        """Where a unit may read a memory here."""
        if memory.kind is MemoryKind.OWN:
            return self.own(memory)
        if memory.kind is MemoryKind.CUBE:
            if self.context.phase is Phase.WRITE_OWN:
                return self.own(memory)
            inside = [f"{self.somewhere()} % {extent}" for extent in memory.extents]
            return memory.offset + ", ".join(inside)
        if memory.kind is MemoryKind.PRIVATE:
            return ", ".join(f"{self.somewhere()} % {extent}" for extent in memory.extents)
        return self.anywhere(memory)

    def own(self, memory: Memory) -> str:
        """One of the unit's own elements; which one may depend on the unit."""
        if memory.count > 1 and self.scope.chance(0.3):
            return memory.own.replace("{k}", f"{self.somewhere()} % {memory.count}")
        return memory.own.replace("{k}", str(self.random.randrange(memory.count)))

    def somewhere(self) -> str:
        """An integer expression in brackets, to be brought into a range."""
        return f"({self.value(INDEX, 1)})"

    def anywhere(self, memory: Memory) -> str:
        """Subscripts of an array that is only read: near the unit's position, or wild."""
        near = not self.uniform and self.context.results is None
        axes = {0: "i", 1: "i", 2: "yx", 3: "zyx"}[len(memory.extents)]
        return ", ".join(
            self._along(memory, number, axis, near=near and self.scope.chance(0.7))
            for number, axis in enumerate(axes)
        )

    def _along(self, memory: Memory, number: int, axis: str, *, near: bool) -> str:
        if not near:
            text = self.wild(self.random.choice((INDEX, I32) if self.uniform else _INTEGERS))
            # One known while compiling to lie outside of a shape that is known too is an error.
            return f"cb.CUBE_POS * 0 + cb.index({text})" if memory.shaped else text
        length = memory.extents[number] if memory.extents else f"len({memory.name})"
        known = [one.name for one in self.scope.find(type=INDEX) if one.runtime] or ["i"]
        by = self.random.randint(2, 5)
        form, large = self.pick(*_NEAR), ""
        if "{large}" in form:
            large = self._large()
        return form.format(axis, length=length, other=self.pick(*known), by=by, large=large)

    def wild(self, type: Scalar) -> str:
        """Any subscript, but none known while compiling to be negative: that is an error."""
        known = [one.name for one in self.scope.find(uniform=self.uniform) if one.runtime]
        if not type.is_signed or not known:
            return self.value(type, 1) if not type.is_signed else "2"
        return f"{self.value(type, 1)} {self.pick('+', '-', '^')} cb.{type}({self.pick(*known)})"

    # ── numbers ──

    def operands(self, type: Scalar, depth: int) -> tuple[str, str]:
        """Two operands, of which at most one is a literal."""
        left, right = self.value(type, depth), self.value(type, depth)
        if self.scope.chance(0.3):
            right = f"({self.literal(type)})"
        elif self.scope.chance(0.1):
            left = f"({self.literal(type)})"
        return left, right

    def arithmetic(self, type: Scalar, depth: int) -> str:
        left, right = self.operands(type, depth)
        signs = ("+", "-", "*", "+", "-", "/") if type in FLOATS else ("+", "-", "*")
        return f"({left} {self.pick(*signs)} {right})"

    def division(self, type: Scalar, depth: int) -> str:
        left, right = self.operands(type, depth)
        return f"({left} {self.pick('//', '%')} {right})"

    def bits(self, type: Scalar, depth: int) -> str:
        left, right = self.operands(type, depth)
        return f"({left} {self.pick('&', '|', '^')} {right})"

    def shift(self, type: Scalar, depth: int) -> str:
        count = self.value(self.random.choice(_INTEGERS), depth)
        if self.scope.chance(0.6):
            count = str(self.random.choice((0, 1, 2, 3, 7, type.bits - 1, type.bits)))
        return f"({self.value(type, depth)} {self.pick('<<', '>>')} {count})"

    def integer_function(self, type: Scalar, depth: int) -> str:
        if type is U8 and self.scope.chance(0.4):
            return self._minifloat(type, TO_MINIFLOAT, depth)
        return self.form(type, self.random.choice(INTEGER_FORMS), depth)

    def _minifloat(self, type: Scalar, forms: tuple[Form, ...], depth: int) -> str:
        self.scope.features.add(Feature.MINIFLOAT)
        return self.form(type, self.random.choice(forms), depth)

    def form(self, type: Scalar, form: Form, depth: int) -> str:
        """A call with operands of the types it takes."""
        operands = [self.value(of or type, depth) for of in form.operands]
        return form.text.replace("{type}", self.scope.spelling(type)).format(*operands)

    def called(self, type: Scalar, depth: int) -> str:
        """A helper's only result."""
        fitting = [one for one in self.scope.helpers if one.results == (type,)]
        if not fitting or self.uniform:  # nobody shows that a call is uniform
            return self.arithmetic(type, depth)
        return self.call(self.random.choice(fitting), depth)

    def call(self, helper: Helper, depth: int) -> str:
        """A call of a helper."""
        self.scope.features |= {Feature.HELPER, *helper.features}
        first = [name for name in (helper.function, helper.array) if name]
        operands = [self.value(of, depth) for of in helper.parameters]
        return f"{helper.name}({', '.join([*first, *operands])})"

    def power(self, type: Scalar, depth: int) -> str:
        return f"({self.value(type, depth)} ** {self.random.randrange(4)})"

    def extreme(self, type: Scalar, depth: int) -> str:
        left, right = self.operands(type, depth)
        return f"{self.pick('min', 'max')}({left}, {right})"

    def unary(self, type: Scalar, depth: int) -> str:
        forms = ("(-{})", "abs({})", "(~{})", "cb.sign({})")
        form = self.pick(*(forms if type in INTEGERS else ("(-{})", "abs({})", "cb.sign({})")))
        return form.format(self.value(type, depth))

    def float_function(self, type: Scalar, depth: int) -> str:
        # large once expanded, so there are few of them
        if self.scope.chance(0.4 if type.bits == 16 else 0.2) and not self.context.unrolled:
            self.scope.features.add(Feature.LIBRARY)
            if type.bits == 16:
                self.scope.features.add(Feature.HALF_MATHEMATICS)
            return self.form(type, self.random.choice(LIBRARY_FORMS), depth)
        if type is F32 and self.scope.chance(0.08):
            return self._minifloat(type, FROM_MINIFLOAT, depth)
        return self.form(type, self.random.choice(EXACT_FORMS), depth)

    def conditional(self, type: Scalar, depth: int) -> str:
        taken, other = self.value(type, depth), self.value(type, depth)
        return f"({taken} if {self.value(BOOL, depth)} else {other})"

    def select(self, type: Scalar, depth: int) -> str:
        left, right = self.operands(type, depth)
        return f"cb.select({self.value(BOOL, depth)}, {left}, {right})"

    def cast(self, type: Scalar, depth: int) -> str:
        bits = reinterpreted(type)
        if bits and self.scope.chance(0.15):
            source = self.random.choice(bits)
            return f"cb.bitcast({self.scope.spelling(type)}, {self.value(source, depth)})"
        source = self.scope.type() if self.scope.chance(0.8) else self.random.choice(_NUMBERS)
        return f"{self.scope.spelling(type)}({self.value(source, depth)})"

    # ── truth ──

    def compare(self, type: Scalar, depth: int) -> str:
        sign = self.pick("<", "<=", ">", ">=", "==", "!=")
        of = self.scope.type(numbers=True)
        if of in INTEGERS and self.scope.chance(0.2):
            other = self.random.choice(_INTEGERS)
            return f"({self.value(of, depth)} {sign} {self.value(other, depth)})"
        left, right = self.operands(of, depth)
        return f"({left} {sign} {right})"

    def chain(self, type: Scalar, depth: int) -> str:
        of = self.random.choice((I32, INDEX, F32))
        low, high = self.literal(of), self.value(of, depth)
        return (
            f"({low} {self.pick('<', '<=')} {self.value(of, depth)} {self.pick('<', '<=')} {high})"
        )

    def logic(self, type: Scalar, depth: int) -> str:
        if self.scope.chance(0.2):
            return f"(not {self.value(BOOL, depth)})"
        return f"({self.value(BOOL, depth)} {self.pick('and', 'or')} {self.value(BOOL, depth)})"

    def flags(self, type: Scalar, depth: int) -> str:
        return f"({self.value(BOOL, depth)} {self.pick('&', '|', '^')} {self.value(BOOL, depth)})"

    def test(self, type: Scalar, depth: int) -> str:
        of = self.random.choice((F32, F64))
        return f"cb.{self.pick('isnan', 'isinf', 'isfinite')}({self.value(of, depth)})"

"""Random control flow: all units in step compute what each computes alone in plain Python.

Programs are nested tuples; `Alone` runs one of them for one unit with Python's own integers and
exceptions, `Emitter` makes IR of it for the machine.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cubepy.ir import (
    I32,
    INDEX,
    BufferType,
    Builder,
    Function,
    Kernel,
    Op,
    Region,
    StrideClass,
    ops,
    param,
    verify,
)
from tests.unit.interp.launching import launch

VARIABLES = ("a", "b", "c")
Tree = Any
ARITHMETIC = {"add": ops.ADD, "sub": ops.SUB, "mul": ops.MUL, "bit_xor": ops.BIT_XOR}
COMPARISON = {"lt": ops.LT, "eq": ops.EQ, "ge": ops.GE}
UNITS = 12

values = st.recursive(
    st.sampled_from(VARIABLES) | st.integers(-3, 7),
    lambda inner: st.tuples(st.sampled_from(sorted(ARITHMETIC)), inner, inner),
    max_leaves=3,
)
conditions = st.tuples(st.sampled_from(sorted(COMPARISON)), values, values)
exits = st.sampled_from([("break",), ("continue",), ("return",), ("leave",), ("call",)])
assignments = st.tuples(st.just("set"), st.sampled_from(VARIABLES), values)


def compound(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    body = st.lists(inner, max_size=4)
    return st.one_of(
        st.tuples(st.just("if"), conditions, body, body),
        st.tuples(st.just("if"), conditions, st.lists(exits, min_size=1, max_size=1), body),
        st.tuples(st.just("for"), values, values, st.sampled_from([1, 2, -1]), body),
        st.tuples(st.just("while"), conditions, body),
        st.tuples(st.just("block"), body),
    )


programs = st.lists(
    st.recursive(assignments | exits, compound, max_leaves=12), min_size=2, max_size=5
)


class Leaves(Exception):
    """A unit leaves: to the end of what is named."""


def wrap(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


class Alone:
    """One unit, and how deep in loops and blocks it is."""

    def __init__(self, unit: int) -> None:
        self.variables = {"a": unit, "b": 3 - unit, "c": 1}

    def value(self, tree: Tree) -> int:
        if isinstance(tree, str):
            return self.variables[tree]
        if isinstance(tree, int):
            return tree
        name, left, right = tree[0], self.value(tree[1]), self.value(tree[2])
        results = {"add": left + right, "sub": left - right, "mul": left * right}
        return wrap(results[name] if name in results else left ^ right)

    def holds(self, tree: Tree) -> bool:
        left, right = self.value(tree[1]), self.value(tree[2])
        return {"lt": left < right, "eq": left == right, "ge": left >= right}[tree[0]]

    def run(self, body: list[Tree], around: tuple[str, ...]) -> None:
        for statement in body:
            self.statement(statement, around)

    def statement(self, tree: Tree, around: tuple[str, ...]) -> None:
        match tree:
            case ("set", name, value):
                self.variables[name] = self.value(value)
            case ("if", condition, yes, no):
                self.run(yes if self.holds(condition) else no, around)
            case ("for", start, stop, step, body):
                for number in range(self.value(start) % 4, self.value(stop) % 6, step):
                    self.variables["c"] = wrap(self.variables["c"] + number)
                    if not self.trip(body, around):
                        break
            case ("while", condition, body):
                fuel = 4
                while self.holds(condition) and fuel > 0:
                    fuel -= 1
                    if not self.trip(body, around):
                        break
            case ("block", body):
                self.block(body, around)
            case ("call",):
                a, b = self.variables["a"], self.variables["b"]
                self.variables["a"] = b if a < b else wrap(a - b)
            case (name,) if possible(name, around):
                raise Leaves(name)

    def block(self, body: list[Tree], around: tuple[str, ...]) -> None:
        try:
            self.run(body, (*around, "block"))
        except Leaves as left:
            if str(left) != "leave":
                raise

    def trip(self, body: list[Tree], around: tuple[str, ...]) -> bool:
        try:
            self.run(body, (*around, "loop"))
        except Leaves as left:
            if str(left) in ("return", "leave"):
                raise
            return str(left) == "continue"
        return True


def possible(name: str, around: tuple[str, ...]) -> bool:
    """Exits that have nothing to leave are no statements at all."""
    if name == "return":
        return True
    return ("block" if name == "leave" else "loop") in around


class Emitter:
    """The same program as IR."""

    def __init__(self) -> None:
        self.build = Builder()
        self.slots: dict[str, Op] = {}
        self.out = param("out", BufferType(I32, (StrideClass.ONE, StrideClass.ONE)))
        self.unit = self.out

    def value(self, tree: Tree) -> Op:
        if isinstance(tree, str):
            return self.build.emit(ops.LOAD_LOCAL, self.slots[tree])
        if isinstance(tree, int):
            return self.build.const(I32, tree)
        return self.build.emit(ARITHMETIC[tree[0]], self.value(tree[1]), self.value(tree[2]))

    def condition(self, tree: Tree) -> Op:
        return self.build.emit(COMPARISON[tree[0]], self.value(tree[1]), self.value(tree[2]))

    def set(self, name: str, value: Op) -> None:
        self.build.emit(ops.STORE_LOCAL, self.slots[name], value)

    def region(self, body: list[Tree], around: tuple[str, ...], *params: Op) -> Region:
        with self.build.region(*params) as opened:
            if params:
                self.set("c", self.build.emit(ops.ADD, self.value("c"), params[0]))
            for statement in body:
                if opened.ended:
                    break
                self.statement(statement, around)
        return opened.close()

    def statement(self, tree: Tree, around: tuple[str, ...]) -> None:
        match tree:
            case ("set", name, value):
                self.set(name, self.value(value))
            case ("if", condition, yes, no):
                flag = self.condition(condition)
                arms = self.region(yes, around), self.region(no, around)
                self.build.emit(ops.IF, flag, regions=arms)
            case ("for", start, stop, step, body):
                four, six = self.build.const(I32, 4), self.build.const(I32, 6)
                first = self.build.emit(ops.FLOOR_MOD, self.value(start), four)
                last = self.build.emit(ops.FLOOR_MOD, self.value(stop), six)
                inner = self.region(body, (*around, "loop"), param("k", I32))
                self.build.emit(ops.FOR, first, last, self.build.const(I32, step), regions=(inner,))
            case ("while", condition, body):
                self.loop(condition, body, around)
            case ("block", body):
                self.build.emit(ops.BLOCK, regions=(self.region(body, (*around, "block")),))
            case ("call",):
                attrs = {"callee": "pick", "results": "i32"}
                operands = self.value("a"), self.value("b")
                self.set("a", self.build.emit(ops.CALL, *operands, attrs=attrs))
            case (name,):
                if name == "return":
                    self.finish()
                if possible(name, around):
                    self.build.emit(ops.BY_NAME[name])

    def loop(self, condition: Tree, body: list[Tree], around: tuple[str, ...]) -> None:
        fuel = self.build.emit(ops.LOCAL, attrs={"element": I32})
        self.build.emit(ops.STORE_LOCAL, fuel, self.build.const(I32, 4))
        with self.build.region() as test:
            holds = self.condition(condition)
            left = self.build.emit(ops.LOAD_LOCAL, fuel)
            more = self.build.emit(ops.GT, left, self.build.const(I32, 0))
            self.build.emit(ops.YIELD, self.build.emit(ops.BIT_AND, holds, more))
        with self.build.region() as opened:
            spent = self.build.emit(
                ops.SUB, self.build.emit(ops.LOAD_LOCAL, fuel), self.build.const(I32, 1)
            )
            self.build.emit(ops.STORE_LOCAL, fuel, spent)
            for statement in body:
                if opened.ended:
                    break
                self.statement(statement, (*around, "loop"))
        self.build.emit(ops.WHILE, regions=(test.close(), opened.close()))

    def pick(self) -> Function:
        """`pick(a, b)`: b if a < b, else a - b; by an early return."""
        a, b = param("a", I32), param("b", I32)
        with self.build.region() as body:
            with self.build.region() as arm:
                self.build.emit(ops.RETURN, b)
            flag = self.build.emit(ops.LT, a, b)
            self.build.emit(ops.IF, flag, regions=(arm.close(), Region()))
            self.build.emit(ops.RETURN, self.build.emit(ops.SUB, a, b))
        return Function(name="pick", params=(a, b), result=I32, body=body.close())

    def finish(self) -> None:
        """Show all variables."""
        for place, name in enumerate(VARIABLES):
            where = self.build.const(INDEX, place)
            attrs = {"check": "unchecked"}
            self.build.emit(ops.STORE, self.out, self.unit, where, self.value(name), attrs=attrs)

    def kernel(self, program: list[Tree], units: int) -> Kernel:
        pick = self.pick()
        with self.build.region() as body:
            self.unit = self.build.emit(ops.ABSOLUTE_POS)
            for name in VARIABLES:
                self.slots[name] = self.build.emit(ops.LOCAL, attrs={"element": I32}, name=name)
            number = self.build.emit(ops.CAST, self.unit, attrs={"to": I32})
            self.set("a", number)
            self.set("b", self.build.emit(ops.SUB, self.build.const(I32, 3), number))
            self.set("c", self.build.const(I32, 1))
            for statement in program:
                if body.ended:
                    break
                self.statement(statement, ())
            if not body.ended:
                self.finish()
        return Kernel(
            name="random",
            params=(self.out,),
            body=body.close(),
            functions=(pick,),
            cube_dim=(units, 1, 1),
        )


def alone(program: list[Tree], unit: int) -> list[int]:
    runner = Alone(unit)
    with contextlib.suppress(Leaves):  # a return; nothing else is left to leave
        runner.run(program, ())
    return [runner.variables[name] for name in VARIABLES]


@settings(max_examples=60)
@given(programs)
def test_units_in_step_compute_what_each_computes_alone(program: list[Tree]) -> None:
    expected = [alone(program, unit) for unit in range(UNITS)]
    for units in (UNITS, 3, 1):
        kernel = Emitter().kernel(program, units)
        verify(kernel)
        out = np.zeros((UNITS, len(VARIABLES)), dtype=np.int32)
        launch(kernel, out, cubes=UNITS // units)
        assert out.tolist() == expected

"""IR as Python code in the lines of the kernel's own file, for one unit and what it met.

Every op becomes an assignment to a hidden name, with the place of the op, so that a debugger shows
the user's line; names of the kernel are assigned beside, for people to look at. What the unit read
or heard comes out of a recording. Loops and branches are Python's own.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from cubepy import frontend
from cubepy.errors import CubeError, VerifyError
from cubepy.frontend import Note
from cubepy.interp import goes_beyond_values
from cubepy.ir import (
    VOID,
    Function,
    Kernel,
    Op,
    PrivateType,
    Region,
    Scalar,
    SharedType,
    SlotType,
    Trait,
    ops,
)
from cubepy.location import Loc
from cubepy.records import dataclass, field
from cubepy.replay.recording import SILENT, Event, Recording
from cubepy.replay.seen_memory import SeenMemory

__all__ = ["Replay", "replay_of"]

_NAME = str.isidentifier


@dataclass(slots=True, kw_only=True)
class Replay:
    """`run()` is the unit. `stored` are its stores so far; `left` the events not yet met."""

    function: Callable[[], None]
    stored: list[Event]
    left: list[Event]

    def run(self) -> None:
        """Run the unit, as far as the launch came."""
        with suppress(RecordEnds):
            self.function()


class RecordEnds(Exception):
    """The launch went no further than this."""


def replay_of(
    recording: Recording,
    arguments: Mapping[str, Any],
    names: Mapping[str, Any] | None = None,
    notes: Sequence[Note] = (),
) -> Replay:
    """The program of the recorded unit; `arguments` are what the kernel's own names show, `names`
    those that it sees around it, `notes` what its lowering says of variables that are no one value.
    """
    return _Program(recording, arguments, names or {}, notes).replay()


@dataclass(slots=True, kw_only=True)
class _Body:
    """A function being written: its file, hidden names of ops, and those of slots and memories by
    their name; a name that several memories have stands for none.
    """

    file: str
    names: dict[Op, str] = field(default_factory=dict)
    slots: dict[str, str] = field(default_factory=dict)
    memories: dict[str, str] = field(default_factory=dict)

    def add_memory(self, op: Op) -> None:
        """One more, whose hidden name is known."""
        self.memories[op.name] = "_unseen" if op.name in self.memories else self.names[op]


class _Program:
    def __init__(
        self,
        recording: Recording,
        arguments: Mapping[str, Any],
        names: Mapping[str, Any],
        notes: Sequence[Note],
    ) -> None:
        self.recording = recording
        self.arguments = arguments
        self.notes = {note.mark: note for note in notes}
        self.hidden = {part for note in notes for part in note.parts if note.owns(part)}
        # What a debugger finds as globals, by file: the names of its module, hidden ones over them.
        self.spaces: dict[str, dict[str, Any]] = {
            recording.kernel.loc.file: recording.positions.seen_in(names)
        }
        self.left = list(reversed(recording.events))
        self.stored: list[Event] = []
        self.known: dict[str, Any] = {
            "__name__": "kernel", "_next": self._next, "_load": self._load, "_store": self._store,
            "_atomic": self._atomic, "_barrier": self._barrier, "_ends": RecordEnds,
            "_unseen": frontend.Unseen(),
        }  # fmt: skip
        self.memories: list[SeenMemory] = []
        self.number = 0
        self._blocks: list[str] = []

    def replay(self) -> Replay:
        kernel = self.recording.kernel
        for function in kernel.functions:
            self._define(function, self._name("function"), function.name)
        name = self._define(kernel, self._name("kernel"), kernel.name)
        for space in self.spaces.values():
            space.update(self.known)
        return Replay(function=self.known[name], stored=self.stored, left=self.left)

    # ── what the code calls ──

    def _next(self, op: Op) -> Any:
        """What came of an op in the launch; the end of the record is the end of the unit."""
        if not self.left:
            raise RecordEnds
        event = self.left.pop()
        if event.op is not op:
            raise VerifyError(f"the replay does {op!r} where the launch did {event.op!r}")
        return event.value

    def _load(self, op: Op, memory: Any, *subscripts: Any) -> Any:
        value = self._next(op)
        if isinstance(memory, SeenMemory):
            memory.note(tuple(map(int, subscripts)), value)
        return value

    def _store(self, op: Op, memory: Any, *operands: Any) -> None:
        event = Event(op, operands[-1], tuple(map(int, operands[:-1])))
        self._next(op)
        self.stored.append(event)
        if isinstance(memory, SeenMemory):
            memory.note(event.place, event.value)

    def _atomic(self, op: Op, memory: Any, *operands: Any) -> Any:
        value = self._next(op)
        if isinstance(memory, SeenMemory):
            memory.forget(tuple(map(int, operands[: len(memory.shape)])))
        return value

    def _barrier(self) -> None:
        for memory in self.memories:
            memory.meet_barrier()

    # ── functions ──

    def _name(self, kind: str) -> str:
        self.number += 1
        return f"_{kind}{self.number}"

    def _define(self, owner: Kernel | Function, name: str, shown: str) -> str:
        """Compile one function into the file it was written in."""
        body = _Body(file=owner.loc.file)
        arguments: list[str] = []
        statements: list[ast.stmt] = []
        line = max(1, owner.loc.line)
        for param in owner.params:
            body.names[param] = self._name("p")
            if not isinstance(param.type, Scalar):
                body.add_memory(param)
            if isinstance(owner, Function):
                # Called by its own name, so that it is there where a debugger enters.
                own = _NAME(param.name) and param.name not in self.hidden
                arguments.append(param.name if own else body.names[param])
                statements.append(self._assign(body.names[param], arguments[-1], line))
            else:
                given = self.arguments.get(param.name)
                if isinstance(param.type, Scalar):
                    given = np.asarray(given).astype(param.type.numpy)[()]
                self.known[body.names[param]] = given
                if _NAME(param.name):
                    statements.append(self._assign(param.name, body.names[param], line))
        statements += self._region(owner.body, body)
        function = ast.FunctionDef(
            name=shown if _NAME(shown) else name,
            args=ast.arguments(
                posonlyargs=[], args=[ast.arg(arg=each) for each in arguments], kwonlyargs=[],
                kw_defaults=[], defaults=[],
            ),
            body=[*statements, ast.Return(value=None)],
            decorator_list=[],
        )  # fmt: skip
        if hasattr(function, "type_params"):
            function.type_params = []
        tree = ast.Module(body=[function], type_ignores=[])
        for node in ast.walk(tree):
            if isinstance(node, ast.stmt | ast.expr | ast.arg) and not hasattr(node, "lineno"):
                node.lineno = node.end_lineno = line
                node.col_offset = node.end_col_offset = 0
        code = compile(ast.fix_missing_locations(tree), body.file, "exec")
        made = next(each for each in code.co_consts if hasattr(each, "co_code"))
        self.known[name] = FunctionType(made, self._space_of(body.file))
        if isinstance(owner, Function):
            self.known[f"callee {owner.name}"] = name
        return name

    def _space_of(self, file: str) -> dict[str, Any]:
        """Globals of functions of a file: what its module has, if there is one."""
        if file not in self.spaces:
            modules = (each for each in [*sys.modules.values()] if _file(each) == file)
            found = vars(next(modules, None) or ModuleType(""))
            self.spaces[file] = self.recording.positions.seen_in(found)
        return self.spaces[file]

    # ── statements ──

    def _region(self, region: Region, body: _Body) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for op in region.ops:
            made += self._op(op, body)
        return made

    def _line(self, loc: Loc, body: _Body) -> int:
        """The line of the function's own file that a place belongs to."""
        at: Loc | None = loc
        while at is not None and at.file != body.file:
            at = at.inlined_at
        return max(1, (at or loc).line)

    def _op(self, op: Op, body: _Body) -> list[ast.stmt]:
        line = self._line(op.loc, body)
        control = _CONTROL.get(op.opdef)
        if control is not None:
            made: list[ast.stmt] = _at(control(self, op, body), line)
            return made
        if op.opdef is ops.LOCAL:
            if op.name in self.notes:
                return _at([self._noted(self.notes[op.name], body)], line)
            body.names[op] = body.slots[op.name] = self._name("v")
            assert isinstance(op.type, SlotType)
            self.known[f"{body.names[op]}0"] = op.type.element.numpy.type(0)
            return [self._assign(body.names[op], f"{body.names[op]}0", line)]
        if op.opdef in SILENT:
            return self._silent(op, body, line)
        return _at(list(self._value(op, body, line)), line)

    def _noted(self, note: Note, body: _Body) -> ast.stmt:
        """A variable gets what its parts make."""
        show = self._name("show")
        self.known[show] = lambda *parts: note.show(iter(parts))
        known = {**body.memories, **body.slots}
        parts = [known.get(each, "_unseen") for each in note.parts]
        return self._bind(note.name, self._call(show, parts))

    def _silent(self, op: Op, body: _Body, line: int) -> list[ast.stmt]:
        """Memory of its own has a name; the rest is a line to stop at."""
        if op.opdef in (ops.SHARED, ops.LOCAL_ARRAY):
            assert isinstance(op.type, SharedType | PrivateType)
            memory = SeenMemory(op.name or "memory", op.type)
            self.memories.append(memory)
            body.names[op] = self._name("m")
            self.known[body.names[op]] = memory
            body.add_memory(op)
            return [self._assign(op.name or "_memory", body.names[op], line)]
        if op.opdef is ops.SYNC_CUBE:
            return _at([ast.Expr(value=self._call("_barrier", []))], line)
        return _at([ast.Pass()], line)

    def _value(self, op: Op, body: _Body, line: int) -> Iterator[ast.stmt]:
        operands = [body.names[operand] for operand in op.operands]
        if op.opdef is ops.STORE_LOCAL:
            slot = op.operands[0]
            yield self._assign(operands[0], operands[1], line)
            if _NAME(slot.name) and slot.name not in self.hidden:
                yield self._assign(slot.name, operands[1], line)
            return
        if op.opdef is ops.STORE:
            call = self._call("_store", [self._constant(op), *operands])
            yield ast.Expr(value=call)
            return
        name = body.names[op] = self._name("t")
        if op.opdef is ops.LOAD_LOCAL:
            yield self._assign(name, operands[0], line)
            return
        if op.opdef is ops.CALL:
            callee = self.known[f"callee {op.attrs['callee']}"]
            yield self._bind(name, self._call(callee, operands))
        elif op.opdef is ops.TUPLE_GET:
            number = op.attrs["index"]
            assert isinstance(number, int)
            index = ast.Constant(value=number)
            yield self._bind(name, ast.Subscript(_load(operands[0]), index, ast.Load()))
        elif op.opdef is ops.CONST or not goes_beyond_values(op):
            self.known[f"{name}_do"] = _evaluator(op)
            yield self._bind(name, self._call(f"{name}_do", operands))
        elif op.opdef is ops.LOAD or op.opdef.has(Trait.ATOMIC):
            asked = "_load" if op.opdef is ops.LOAD else "_atomic"
            yield self._bind(name, self._call(asked, [self._constant(op), *operands]))
        else:
            yield self._bind(name, self._call("_next", [self._constant(op)]))
        if op.type is not VOID and _NAME(op.name):
            yield self._assign(op.name, name, line)

    def _constant(self, op: Op) -> str:
        name = self._name("op")
        self.known[name] = op
        return name

    def _call(self, function: str, arguments: Sequence[str]) -> ast.expr:
        return ast.Call(func=_load(function), args=[_load(each) for each in arguments], keywords=[])

    def _bind(self, name: str, value: ast.expr) -> ast.stmt:
        return ast.Assign(targets=[ast.Name(name, ast.Store())], value=value)

    def _assign(self, name: str, value: str, line: int) -> ast.stmt:
        statement = self._bind(name, _load(value))
        _at([statement], line)
        return statement

    # ── control flow ──

    def branch(self, op: Op, body: _Body) -> list[ast.stmt]:
        """`if`."""
        then, other = (self._region(region, body) for region in op.regions)
        test = _load(body.names[op.operands[0]])
        return [ast.If(test=test, body=then or [ast.Pass()], orelse=other)]

    def counted(self, op: Op, body: _Body) -> list[ast.stmt]:
        """`for`: Python's range, in numbers of the variable's type."""
        variable = op.regions[0].params[0]
        assert isinstance(variable.type, Scalar)
        name = body.names[variable] = self._name("t")
        trips = self._name("range")
        self.known[trips] = partial(_trips, variable.type.numpy.type)
        inside = self._region(op.regions[0], body)
        if _NAME(variable.name):
            inside.insert(0, self._assign(variable.name, name, self._line(op.loc, body)))
        bounds = self._call(trips, [body.names[each] for each in op.operands])
        target = ast.Name(name, ast.Store())
        return [ast.For(target=target, iter=bounds, body=inside or [ast.Pass()], orelse=[])]

    def conditional(self, op: Op, body: _Body) -> list[ast.stmt]:
        """`while`: the condition's ops, a way out, the body."""
        test = self._region(op.regions[0], body)
        condition = body.names[op.regions[0].ops[-1].operands[0]]
        leave = ast.If(test=ast.UnaryOp(ast.Not(), _load(condition)), body=[ast.Break()], orelse=[])
        inside = [
            *test,
            *_at([leave], self._line(op.loc, body)),
            *self._region(op.regions[1], body),
        ]
        return [ast.While(test=ast.Constant(value=True), body=inside, orelse=[])]

    def block(self, op: Op, body: _Body) -> list[ast.stmt]:
        """`block`: what leaves it raises a signal of its own."""
        name = self._name("leave")
        self.known[name] = type(name, (Exception,), {})
        self._blocks.append(name)
        inside = self._region(op.regions[0], body)
        self._blocks.pop()
        handler = ast.ExceptHandler(type=_load(name), name=None, body=[ast.Pass()])
        return [ast.Try(body=inside or [ast.Pass()], handlers=[handler], orelse=[], finalbody=[])]

    def leave(self, op: Op, body: _Body) -> list[ast.stmt]:
        """`leave`."""
        return [ast.Raise(exc=_load(self._blocks[-1]), cause=None)]

    def give_back(self, op: Op, body: _Body) -> list[ast.stmt]:
        """`return`."""
        values: list[ast.expr] = [_load(body.names[each]) for each in op.operands]
        value = ast.Tuple(values, ast.Load()) if len(values) > 1 else values[0] if values else None
        return [ast.Return(value=value)]


def _file(module: object) -> object:
    return getattr(module, "__file__", None)


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _at(statements: list[Any], line: int) -> list[Any]:
    """The statements in a line, unless they have one; what is inside them keeps its own."""
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.stmt | ast.expr | ast.excepthandler) and not hasattr(
                node, "lineno"
            ):
                node.lineno = node.end_lineno = line
                node.col_offset = node.end_col_offset = 0
    return statements


def _evaluator(op: Op) -> Callable[..., Any]:
    """What the op table says of an op, on scalars."""
    evaluate = op.opdef.evaluate
    if evaluate is None:
        raise CubeError(f"a replay cannot do {op!r}")

    def do(*operands: Any) -> Any:
        with np.errstate(all="ignore"):
            arrays = [np.asarray(operand) for operand in operands]
            return evaluate(*arrays, type=op.type, attrs=op.attrs)[()]

    return do


def _trips(kind: Callable[[int], Any], start: Any, stop: Any, step: Any) -> Iterator[Any]:
    return map(kind, range(int(start), int(stop), int(step)) if step else ())


_CONTROL: Mapping[Any, Callable[[_Program, Op, _Body], list[ast.stmt]]] = {
    ops.IF: _Program.branch,
    ops.FOR: _Program.counted,
    ops.WHILE: _Program.conditional,
    ops.BLOCK: _Program.block,
    ops.LEAVE: _Program.leave,
    ops.RETURN: _Program.give_back,
    ops.BREAK: lambda program, op, body: [ast.Break()],
    ops.CONTINUE: lambda program, op, body: [ast.Continue()],
    ops.YIELD: lambda program, op, body: [],
}

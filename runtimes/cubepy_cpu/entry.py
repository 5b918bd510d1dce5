"""Calls of launchers in machine code: the class they are instances of, and what each call knows.

A native kind is a subclass of a launcher class with two words more: the address of `cubepy_call`,
which CPython jumps to without asking the class, and that of a plan. The plan lists the calls that
were learnt; this module fills it, and keeps alive whatever it points to.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from cubepy.ir import BOOL, F32, F64, Scalar
from cubepy.runtime import (
    Buffer,
    Expected,
    ExpectedArray,
    ExpectedCall,
    ExpectedNumber,
    ExpectedVariable,
    Grid,
    Packer,
    grid_words,
)
from cubepy.target import Abi, WordKind
from cubepy_cpu import probe, threads, worker_code
from cubepy_cpu.functions import context, functions, machine_functions, reserve_arena
from cubepy_cpu.loaded_code import Code
from cubepy_cpu.structures import Class, Command, Parameter, Plan, Record, Sink, Source, Variable

__all__ = ["Entry", "Kind", "Table", "kind_of", "replay", "table_of"]

# Calls that one callable knows; the oldest is forgotten for another.
KEPT = 8

_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x0001, 0x0100, 0x0400
_SOURCES: dict[type, int] = {
    float: Source.DOUBLE,
    np.float64: Source.DOUBLE,
    np.float32: Source.SINGLE,
    int: Source.LONG,
    np.int64: Source.WORD,
    np.int32: Source.HALF_WORD,
    bool: Source.BOOL,
}
_CLASSES = {
    "ZERO": Class.ZERO,
    "ONE": Class.ONE,
    "MINUS_ONE": Class.MINUS_ONE,
    "OTHER": Class.OTHER,
}
_INT64_MAX = (1 << 63) - 1


@functools.cache
def kind_of(base: type) -> Kind | None:
    """The native kind of a launcher class, or None where Python's objects are not known."""
    return None if probe.why_not() else Kind(base)


@functools.cache
def table_of(base: type) -> Table | None:
    """The native kind of a class that looks things up, likewise."""
    return None if probe.why_not() else Table(base)


class _Native:
    """A subclass of `base` whose instances start in the machine code named `function`."""

    def __init__(self, base: type, function: str) -> None:
        self._call = machine_functions(worker_code.has_futex(), True)[f"cubepy_{function}"]
        self._general = base.__call__
        self._offset = base.__basicsize__
        self.kind = _subclass(base, self._offset)

    def attach_plan(self, instance: object, plan: Plan) -> None:
        """Let calls of an instance start in machine code, with this plan, which is to be kept."""
        words = (ctypes.c_int64 * 2).from_address(id(instance) + self._offset)
        words[:] = [self._call, ctypes.addressof(plan)]


class Kind(_Native):
    """A subclass of a launcher class."""

    def __init__(self, base: type) -> None:
        super().__init__(base, "call")

    def attach(self, instance: object, parameters: Sequence[inspect.Parameter]) -> Entry:
        """Make an instance of `kind` callable, and give what it can be taught with."""
        entry = Entry(self._general, parameters)
        self.attach_plan(instance, entry.plan)
        return entry


class Table(_Native):
    """A subclass of a class that looks up what it has for a size or a shape."""

    def __init__(self, base: type) -> None:
        super().__init__(base, "lookup")

    def attach(self, instance: object, known: dict[Any, Any]) -> object:
        """Let an instance answer from a dict; to be kept as long as the instance."""
        plan = Plan(context=ctypes.addressof(context), general=id(self._general), first=id(known))
        self.attach_plan(instance, plan)
        return plan, known


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("function", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.c_void_p),
    )


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


# Of CPython's headers.
_TP_CALL, _TP_MEMBERS = 50, 72
_SSIZE, _READ_ONLY = 19, 1
_HAVE_VECTORCALL = 1 << 11


def _subclass(base: type, offset: int) -> type:
    """A class whose instances have their vectorcall function at `offset`, and a word behind it."""
    python = ctypes.pythonapi
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _SSIZE, offset, _READ_ONLY, None))
    call = ctypes.cast(python.PyVectorcall_Call, ctypes.c_void_p).value
    slots = (_Slot * 3)(_Slot(_TP_CALL, call), _Slot(_TP_MEMBERS, ctypes.addressof(members)))
    name = f"{base.__module__}.{base.__qualname__}".encode()
    spec = _Spec(name, offset + 16, 0, _HAVE_VECTORCALL, ctypes.addressof(slots))
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(_Spec), ctypes.py_object)(
        ("PyType_FromSpecWithBases", python)
    )
    made: type = make(ctypes.byref(spec), (base,))
    _immortal.append((name, members))  # before Python 3.12 classes point into their description
    return made


_immortal: list[Any] = []


class Entry:
    """What machine code knows of one callable: the owner of its plan."""

    def __init__(self, general: Any, parameters: Sequence[inspect.Parameter]) -> None:
        self._general = general
        self._parameters = parameters
        names = [0 if each.kind is each.POSITIONAL_ONLY else id(each.name) for each in parameters]
        self._names = (ctypes.c_void_p * len(names))(*names)
        self._plan = Plan(
            context=ctypes.addressof(context),
            general=id(general),
            names=ctypes.addressof(self._names),
            name_count=len(names),
            positional=sum(each.kind is not each.KEYWORD_ONLY for each in parameters),
        )
        self._known: list[_Known] = []
        self._leaving: list[_Known] = []

    @property
    def plan(self) -> Plan:
        """What machine code reads."""
        return self._plan

    def learn(self, call: ExpectedCall) -> bool:
        """Take calls like this one in machine code from now on; whether that can be done."""
        code = call.kernel.handle
        if not isinstance(code, Code):  # loaded by a device of another runtime
            return False
        if code.reports or code.tasks(call.grid) == 0 or not _servable(call):
            return False
        reserve_arena(code.arena_bytes)
        known, kept = _Known(call), self._known[: KEPT - 1]
        # A launch that has let go of Python's lock still writes to its record.
        self._leaving = [
            gone for gone in (*self._leaving, *self._known[KEPT - 1 :]) if gone.record.users
        ]
        self._known = [known, *kept]
        plan = self._plan
        plan.block_bytes = max(each.record.block_bytes for each in self._known)
        plan.array_count = max(1, *(each.record.array_count for each in self._known))
        for earlier, later in itertools.pairwise((*self._known, None)):
            assert earlier is not None
            earlier.record.next = 0 if later is None else later.address
        plan.first = known.address
        return True


class BlockLaunch:
    """Runs a kernel on a filled block and waits: what calls of it do that are not like others."""

    __slots__ = ("_command", "_plan")

    def __init__(self, command: Command, plan: Plan) -> None:
        self._command = command
        self._plan = plan

    def __call__(self, block: bytes) -> None:
        command = self._command
        threads.run(command.entry, block, command.tasks, command.arena_bytes, command.hint)


@functools.cache
def _block_kind() -> _Native | None:
    return None if probe.why_not() else _Native(BlockLaunch, "block")


def block_launch(
    entry: int, tasks: int, arena_bytes: int, work_hint: int, block_bytes: int
) -> Callable[[bytes], None]:
    """What runs a kernel on blocks of this size, again and again."""
    native = _block_kind()
    short = tasks == 1 and 0 < work_hint < worker_code.PRICE_AWAKE
    if native is None and short and not arena_bytes:
        return functools.partial(functions().alone, entry)
    command = Command(entry, None, tasks, arena_bytes, work_hint)
    plan = Plan(
        context=ctypes.addressof(context),
        general=id(_RUN_BLOCK),
        first=ctypes.addressof(command),
        block_bytes=block_bytes,
    )
    if native is None or not tasks:
        return BlockLaunch(command, plan)
    if short:
        reserve_arena(arena_bytes)
    launch: BlockLaunch = native.kind(command, plan)
    native.attach_plan(launch, plan)
    return launch


_RUN_BLOCK = BlockLaunch.__call__  # machine code has a pointer to it


def replay(launches: Sequence[tuple[Code, Grid, bytes]]) -> Callable[[], None] | None:
    """A function that does these launches in one call; None if Python has to be between them."""
    if probe.why_not() or any(code.reports for code, _, _ in launches):
        return None
    some = [(code, code.tasks(grid), code.work(grid), words) for code, grid, words in launches]
    some = [each for each in some if each[1]]
    blocks = [(ctypes.c_char * len(words)).from_buffer_copy(words) for *_, words in some]
    commands = (Command * len(some))(
        *(
            Command(code.entry, ctypes.addressof(block), tasks, code.arena_bytes, hint)
            for (code, tasks, hint, _), block in zip(some, blocks, strict=True)
        )
    )
    reserve_arena(max((code.arena_bytes for code, *_ in some), default=0))
    count, start = len(some), ctypes.addressof(commands)

    def run(kept: object = (commands, blocks)) -> None:
        threads.replay(start, count)

    return run


def _servable(call: ExpectedCall) -> bool:
    """Whether every argument is of a sort that machine code reads."""
    return all(_is_readable(argument) for argument in call.arguments) and all(
        _slot_of(variable) >= 0 or type(variable.holder) is dict for variable in call.variables
    )


def _is_readable(argument: Expected) -> bool:
    match argument:
        case ExpectedArray(dtype=dtype):
            return dtype.itemsize in (1, 2, 4, 8)
        case ExpectedNumber(kind=kind, element=element):
            source = _SOURCES.get(kind)
            if source is None or (element is BOOL) != (source == Source.BOOL):
                return False
            real = source in (Source.DOUBLE, Source.SINGLE)
            return element in (F32, F64) or (not element.is_float and not real)
        case _:
            return True


class _Known:
    """A record, and the owner of what it points to."""

    def __init__(self, call: ExpectedCall) -> None:
        kernel, code = call.kernel, call.kernel.handle
        abi = kernel.artifact.abi
        self._call = call
        self._block = _template(abi, call)
        parameters = [_parameter(abi, argument) for argument in call.arguments]
        variables = [_variable(variable) for variable in call.variables]
        arrays = [each for each in call.arguments if isinstance(each, ExpectedArray)]
        classes = [_classes(argument) for argument in call.arguments]
        for parameter, each in zip(parameters, classes, strict=True):
            parameter.classes = ctypes.addressof(each) if each else 0
        self._classes = classes
        self._parameters = (Parameter * len(parameters))(*parameters)
        self._variables = (Variable * len(variables))(*variables)
        self._overlaps = _pairs(len(arrays), call.overlaps)
        tasks = code.tasks(call.grid)
        self.record = Record(
            epoch=-1 if call.epoch is None else call.epoch,
            count=call.count,
            parameters=ctypes.addressof(self._parameters),
            parameter_count=len(parameters),
            variables=ctypes.addressof(self._variables),
            variable_count=len(variables),
            array_count=len(arrays),
            overlaps=ctypes.addressof(self._overlaps),
            block=ctypes.addressof(self._block),
            block_bytes=ctypes.sizeof(self._block),
            entry=code.entry,
            tasks=tasks,
            arena_bytes=code.arena_bytes,
            hint=code.work(call.grid),
        )

    @property
    def address(self) -> int:
        """Where the record is."""
        return ctypes.addressof(self.record)


def _template(abi: Abi, call: ExpectedCall) -> ctypes.Array[ctypes.c_char]:
    """The block of a launch with all words of arguments 0."""
    words = Packer(abi).block((*(0,) * (len(abi.words) - 7), *grid_words(call.grid)))
    return (ctypes.c_char * len(words)).from_buffer_copy(words)


def _parameter(abi: Abi, argument: Expected) -> Parameter:
    match argument:
        case ExpectedArray(dtype=dtype, device=device):
            return Parameter(
                source=Source.ARRAY if device is None else Source.BUFFER,
                position=argument.position,
                word=abi.offset(WordKind.POINTER, argument.parameter),
                type=id(np.ndarray if device is None else Buffer),
                value=id(dtype),
                device=id(device),
                ndim=argument.ndim,
                flags=_flags(argument),
                shift=dtype.itemsize.bit_length() - 1,
            )
        case ExpectedNumber(kind=kind, element=element):
            sink = _sink(element)
            integer = sink == Sink.INTEGER
            return Parameter(
                source=_SOURCES[kind],
                position=argument.position,
                word=abi.offset(WordKind.SCALAR, argument.parameter),
                type=id(kind),
                sink=sink,
                low=element.minimum if integer else 0,
                high=min(element.maximum, _INT64_MAX) if integer else 0,
            )
        case _:
            value = argument.value
            return Parameter(
                source=Source.IDENTITY,
                position=argument.position,
                type=id(type(value)),
                value=id(value),
            )


def _flags(array: ExpectedArray) -> int:
    dense = _CONTIGUOUS if array.classes is None else 0
    return _ALIGNED | dense | (_WRITEABLE if array.writeable else 0)


def _classes(argument: Expected) -> ctypes.Array[ctypes.c_uint8] | None:
    if not isinstance(argument, ExpectedArray) or argument.classes is None:
        return None
    return (ctypes.c_uint8 * argument.ndim)(*(_CLASSES[kind.name] for kind in argument.classes))


def _sink(element: Scalar) -> int:
    if element is BOOL:
        return Sink.BOOL
    if element.is_float:
        return Sink.DOUBLE if element is F64 else Sink.SINGLE
    return Sink.INTEGER


def _variable(variable: ExpectedVariable) -> Variable:
    slot = _slot_of(variable)
    none = variable.absent or (variable.value is None and type(variable.holder) is FunctionType)
    return Variable(
        holder=id(variable.holder) + max(slot, 0),
        name=id(variable.name) if slot < 0 else 0,
        value=0 if none else id(variable.value),
    )


def _slot_of(variable: ExpectedVariable) -> int:
    """Where an object has a pointer to a variable's value, counted from where cells have it; less
    than 0: nowhere.
    """
    if variable.name is None:
        return 0
    if type(variable.holder) is FunctionType:
        return probe.function_offsets()[variable.name] - probe.FIELDS["CELL_VALUE"]
    if isinstance(variable.holder, type):  # not the dict of one: its line of bases
        return probe.line_offset() - probe.FIELDS["CELL_VALUE"]
    return -1


def _pairs(count: int, overlaps: frozenset[tuple[int, int]]) -> ctypes.Array[ctypes.c_uint8]:
    """A byte for each pair of arrays, in the order that machine code looks at them."""
    pairs = [(early, late) for late in range(count) for early in range(late)]
    return (ctypes.c_uint8 * max(1, len(pairs)))(*(pair in overlaps for pair in pairs))

"""The memory that machine code and Python share: laid out once, by ctypes, for both.

Python fills these; the templates of machine code read them at the offsets that `offsets` gives.
Nothing here owns an object of Python: who fills in a pointer keeps what it points to. Kinds are
plain numbers, as machine code has them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

__all__ = [
    "Class",
    "Command",
    "Context",
    "Parameter",
    "Plan",
    "Record",
    "Source",
    "Variable",
    "offsets",
]

_WORD, _POINTER = ctypes.c_int64, ctypes.c_void_p


class Context(ctypes.Structure):
    """What all launches of the process share; there is one.

    `pool`: the workers' memory, 0 while there is none. `forks` counts those behind us. Functions of
    Python: `make_pool`, and `complain` that raises what became of a launch torn by a fork.
    """

    _fields_ = (
        ("pool", _POINTER),
        ("make_pool", _POINTER),
        ("forks", _WORD),
        ("complain", _POINTER),
        ("switches", _POINTER),  # `cubepy.runtime.Switches`
        ("none", _POINTER),
        ("none_references", _WORD),  # what returning None adds to its count: 0 from Python 3.12 on
        ("true", _POINTER),
        ("array_type", _POINTER),
        ("int_type", _POINTER),
        ("tuple_type", _POINTER),
        ("bytes_type", _POINTER),
        ("arena", _POINTER),  # for launches that hold Python's lock
    )


class Source:
    """How an argument is read."""

    ARRAY = 0
    BUFFER = 1
    IDENTITY = 2  # that very object
    DOUBLE = 3  # a float of 64 bits behind the header: `float`, `np.float64`
    SINGLE = 4
    LONG = 5  # Python's integer
    WORD = 6  # an integer of 64 bits behind the header
    HALF_WORD = 7  # 32 bits, signed
    BOOL = 8


class Sink:
    """What becomes of a number."""

    DOUBLE = 0
    SINGLE = 1
    INTEGER = 2  # between `low` and `high`
    BOOL = 3


class Class:
    """Classes of strides, counted in elements."""

    ZERO = 0
    ONE = 1
    MINUS_ONE = 2
    OTHER = 3


class Parameter(ctypes.Structure):
    """One argument of a call: what it must be, and the word of the block where it goes."""

    _fields_ = (
        ("source", _WORD),
        ("position", _WORD),
        ("word", _WORD),
        ("type", _POINTER),
        ("value", _POINTER),  # the dtype of an array, or the object itself
        ("device", _POINTER),
        ("ndim", _WORD),
        ("flags", _WORD),
        ("classes", _POINTER),  # a byte an axis, of `Class`; null for an array without gaps
        ("shift", _WORD),  # log2 of the bytes of an element
        ("sink", _WORD),
        ("low", _WORD),
        ("high", _WORD),
    )


class Variable(ctypes.Structure):
    """A captured variable: in a namespace by `name`, or in a cell if that is null."""

    _fields_ = (("holder", _POINTER), ("name", _POINTER), ("value", _POINTER))


class Record(ctypes.Structure):
    """A call that machine code knows, and what it launches.

    `hint` is roughly how many nanoseconds the work takes one thread, `measured` how many it took
    when last looked at; `users` counts the calls that are inside and do not hold Python's lock.
    """

    _fields_ = (
        ("next", _POINTER),
        ("epoch", _WORD),  # -1: any
        ("count", _WORD),
        ("parameters", _POINTER),
        ("parameter_count", _WORD),
        ("variables", _POINTER),
        ("variable_count", _WORD),
        ("array_count", _WORD),
        ("overlaps", _POINTER),  # a byte a pair: (1, 0), (2, 0), (2, 1), (3, 0), …
        ("block", _POINTER),  # the words as they are without arguments
        ("block_bytes", _WORD),
        ("entry", _POINTER),
        ("tasks", _WORD),
        ("arena_bytes", _WORD),
        ("hint", _WORD),
        ("measured", _WORD),
        ("calls", _WORD),
        ("users", _WORD),
    )


class Plan(ctypes.Structure):
    """What an instance of a native kind knows: its records, and the function for other calls.

    Of a table `first` is the dict, of a launch with blocks the command.
    """

    _fields_ = (
        ("context", _POINTER),
        ("general", _POINTER),
        ("first", _POINTER),
        ("block_bytes", _WORD),  # the largest of all records
        ("array_count", _WORD),
        ("names", _POINTER),  # of the parameters, null for those that have none in a call
        ("name_count", _WORD),
        ("positional", _WORD),  # so many arguments may come without a name
    )


class Command(ctypes.Structure):
    """One launch of a replay: the block is filled."""

    _fields_ = (
        ("entry", _POINTER),
        ("block", _POINTER),
        ("tasks", _WORD),
        ("arena_bytes", _WORD),
        ("hint", _WORD),
    )


def offsets() -> Mapping[str, int]:
    """Byte offsets as `RECORD_ENTRY`, sizes as `RECORD_BYTES`, and the kinds of arguments."""
    found: dict[str, int] = {}
    for structure in (Context, Parameter, Variable, Record, Plan, Command):
        name = structure.__name__.upper()
        found[f"{name}_BYTES"] = ctypes.sizeof(structure)
        for field, *_ in structure._fields_:
            found[f"{name}_{field.upper()}"] = getattr(structure, field).offset
    for kinds in (Source, Sink, Class):
        for kind, number in vars(kinds).items():
            if kind.isupper():
                found[f"{kinds.__name__.upper()}_{kind}"] = number
    return found

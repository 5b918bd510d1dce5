"""`super().name` in methods that kernels call: what the next class has that has it."""

from __future__ import annotations

import ast
import builtins
from typing import Any

from cubepy.errors import CubeNameError, CubeSyntaxError
from cubepy.frontend.calls import Call, lowers_builtin
from cubepy.frontend.comptime import from_python, known_attribute
from cubepy.frontend.descriptions import describe, snippet
from cubepy.frontend.dispatch import lower_expression
from cubepy.frontend.expressions import reads_inherited
from cubepy.frontend.frame import Frame
from cubepy.frontend.python_reads import watch_python
from cubepy.frontend.source import closure_values, parameters_of
from cubepy.frontend.struct_values import of_class
from cubepy.frontend.values import Group, Known, Value
from cubepy.frontend.variables import read

__all__: list[str] = []


@lowers_builtin(builtins.super, always=True)
def lower_super(frame: Frame, call: Call) -> Value:
    """`super()` stands only before a dot."""
    raise frame.error(
        CubeSyntaxError, "super() without the name of a method behind it", call.node,
        "write super().name(…)",
    )  # fmt: skip


@reads_inherited
def inherited(frame: Frame, called: ast.Call, name: str, at: ast.AST) -> Value:
    """`super().name` and `super(Class, owner).name`."""
    start, owner = _start(frame, called)
    maker = owner.maker if isinstance(owner, Group) else getattr(owner, "value", None)
    cls = maker if isinstance(maker, type) else type(maker)
    line = cls.__mro__
    frame.session.watch.line(cls)
    for base in line[line.index(start) + 1 :] if start in line else ():
        frame.session.watch.attribute(base, name)
        if name not in vars(base):
            continue
        found = vars(base)[name]
        if isinstance(owner, Group):
            of_struct = of_class(frame, owner, name, found, at)
            if of_struct is not None:
                return of_struct
        elif isinstance(found, property):
            frame.session.repeatable = False
            watch_python(frame, (found, maker), at)
        if not hasattr(type(found), "__get__"):
            return from_python(frame, known_attribute(frame, base, name, at), at)
        bound: Any = getattr(super(start, maker), name)
        return from_python(frame, bound, at)
    raise frame.error(
        CubeNameError, f"no class above {start.__name__} has {name!r}", at,
        "call a method of the class itself: self.name(…)",
    )  # fmt: skip


def _start(frame: Frame, called: ast.Call) -> tuple[type, Value]:
    """The class whose bases are asked, and the object that they are asked for."""
    if len(called.args) == 2 and not called.keywords:
        of, owner = (lower_expression(frame, given) for given in called.args)
        if isinstance(of, Known) and isinstance(of.value, type):
            return of.value, owner
        raise frame.error(
            CubeSyntaxError, f"super of {describe(of)}", called, "write super(Class, self)"
        )
    function = frame.source.function
    cls = closure_values(function).get("__class__")
    names = parameters_of(frame.source.node.args)
    if called.args or cls is None or not names or frame.node is not frame.source.node:
        raise frame.error(
            CubeSyntaxError, f"{snippet(called)} stands in no method", called,
            "write super(Class, self)",
        )  # fmt: skip
    return cls, read(frame, frame.analysis.parameters[names[0]], called)

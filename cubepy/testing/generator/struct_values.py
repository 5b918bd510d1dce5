"""Random statements about locals that hold a struct.

The fields of a local are variables that change with the whole: another struct, the result of a
method, one with a field replaced.
"""

from __future__ import annotations

from collections.abc import Iterator

from cubepy.ir import BOOL
from cubepy.testing.generator.assignments import Assignments
from cubepy.testing.generator.expressions import Expressions
from cubepy.testing.generator.model import Feature, Node
from cubepy.testing.generator.scope import Composite, Context, Helper, Scope, Struct, Variable

__all__ = ["enter_struct", "struct_statement"]


def enter_struct(scope: Scope, name: str, struct: Struct, *, fixed: bool = False) -> None:
    """The fields are variables by their paths; those of a parameter are known to be run-time."""
    scope.composites.append(Composite(name=name, type=struct))
    scope.variables += [
        Variable(name=f"{name}.{path}", type=type, assignable=False, part=True, runtime=fixed)
        for path, type in struct.fields
    ]


def struct_statement(assignments: Assignments, context: Context) -> tuple[Node, ...]:
    """A new local of a struct, one changed, or something asked of one."""
    scope = assignments.scope
    scope.features.add(Feature.STRUCT)
    here = assignments.here(context)
    locals_ = list(_locals(scope))
    if not locals_ or scope.chance(0.25):
        struct = scope.random.choice(scope.structs)
        text = _made(struct, here)
        name = scope.fresh("t")
        enter_struct(scope, name, struct)
        return (Node(text=f"{name} = {text}", pinned=True),)
    one, struct = scope.random.choice(locals_)
    if scope.chance(0.45):
        return _asked(assignments, one, struct, here)
    if not one.name.startswith("t"):
        return assignments.assign(context)
    return (Node(text=f"{one.name} = {_changed(struct, here)}"),)


def _locals(scope: Scope) -> Iterator[tuple[Composite, Struct]]:
    for one in scope.composites:
        if isinstance(one.type, Struct):
            yield one, one.type


def _made(struct: Struct, here: Expressions) -> str:
    return struct.pattern.format(*(here.value(type, 1) for _, type in struct.fields))


def _changed(struct: Struct, here: Expressions) -> str:
    """What a local is assigned: something of the same class."""
    same = [other.name for other, of in _locals(here.scope) if of is struct]
    kind = here.random.choice((0, 1, 2, 3, 3, 3))
    if kind == 0:
        return f"{here.pick(*same)} if {here.condition()} else {_made(struct, here)}"
    if kind == 1:
        field, type = here.random.choice(struct.own)
        return f"dataclasses.replace({here.pick(*same)}, {field}={here.value(type)})"
    if kind == 2:
        return _made(struct, here)
    return _called(here, here.pick(*same), struct.methods[0])


def _asked(
    assignments: Assignments, one: Composite, struct: Struct, here: Expressions
) -> tuple[Node, ...]:
    """A number that a method gives, or whether two structs are equal."""
    same = [other.name for other, of in _locals(here.scope) if of is struct]
    if here.scope.chance(0.3):
        text = f"{one.name} {here.pick('==', '!=')} {here.pick(*same)}"
        return (Node(text=f"{assignments.new(BOOL)} = {text}"),)
    method = struct.methods[1]
    text = _called(here, one.name, method)
    return (Node(text=f"{assignments.new(method.results[0])} = {text}"),)


def _called(here: Expressions, name: str, method: Helper) -> str:
    here.scope.features |= {Feature.METHOD, *method.features}
    if not method.parameters:
        return name + method.name
    return f"{name}{method.name}({', '.join(here.value(of, 1) for of in method.parameters)})"

"""Reading and assigning the variables of a function.

A variable assigned only in the region that declares it is bound to its present value; one assigned
under run-time control flow lives in a `local` slot. Which it is may turn out on the way: then the
plan is told, and the function is lowered once more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from cubepy.errors import CubeNameError, CubeTypeError
from cubepy.frontend.coercion import convert, literal, no_integer_type
from cubepy.frontend.descriptions import describe
from cubepy.frontend.fitting import opened
from cubepy.frontend.frame import Binding, Frame, exact
from cubepy.frontend.keys import comptime_key
from cubepy.frontend.names import Variable
from cubepy.frontend.notes import note
from cubepy.frontend.promotion import converts_without_loss, default_type, literal_fits, promote
from cubepy.frontend.retyping import note_store, retype, widen
from cubepy.frontend.values import (
    NONE,
    POISON,
    Group,
    Known,
    Poison,
    Value,
    is_number,
    same_kind,
    with_items,
)
from cubepy.ir import Op, Scalar, SlotType, ops, scalar_type

__all__ = ["assign", "declare_slot", "is_assigned", "poison_targets", "read"]


def is_assigned(frame: Frame, variable: Variable) -> bool:
    """Whether a variable has a value on every path to this point."""
    return frame.assigned is None or variable in frame.assigned


def read(frame: Frame, variable: Variable, at: ast.AST) -> Value:
    """The value of a variable; an error unless it is assigned on every path."""
    binding = frame.bindings.get(variable)
    if binding is None or not is_assigned(frame, variable):
        raise _unassigned(frame, variable, at)
    return _read_binding(frame, variable, binding, at)


def _read_binding(frame: Frame, variable: Variable, binding: Binding, at: ast.AST) -> Value:
    if binding.group is not None:
        parts = tuple(
            _read_binding(frame, frame.analysis.part(variable, number), part, at)
            for number, part in enumerate(binding.parts)
        )
        return with_items(binding.group, parts)
    if binding.slot is None:
        assert binding.value is not None
        return binding.value
    value = frame.emit(ops.LOAD_LOCAL, binding.slot, at=at, name=variable.name)
    if binding.soft:
        frame.soft[value] = variable
    return value


def _unassigned(frame: Frame, variable: Variable, at: ast.AST) -> Exception:
    gap = frame.gaps.get(variable)
    if gap is None:
        return frame.error(
            CubeNameError,
            f"{variable.name!r} is read before it is assigned",
            at,
            f"assign {variable.name} first",
        )
    text, loc = gap
    return frame.error(
        CubeNameError,
        f"{variable.name!r} is not assigned on every path",
        at,
        f"assign {variable.name} before, so that every path has a value",
        [(text, loc)],
    )


def assign(
    frame: Frame,
    variable: Variable,
    value: Value,
    at: ast.AST,
    *,
    type: Scalar | None = None,
) -> None:
    """Assign to a variable, whose annotated type is `type` if it has one."""
    if isinstance(value, Op) and value.opdef is ops.CONST and value in frame.soft:
        value = Known(value.attrs["value"])  # another name for a literal is like the literal
    frame.gaps.pop(variable, None)
    binding = frame.bindings.get(variable)
    if isinstance(value, Poison):
        frame.bindings[variable] = Binding(frame.loc(at), value=POISON)
    elif binding is not None and isinstance(binding.value, Poison):
        pass  # reported already
    elif _is_straight(frame, variable):
        _bind(frame, variable, binding, value, at, type=type)
    else:
        if binding is None or (binding.value is not None and frame.plan.changed):
            binding = _slot_binding(frame, variable, value, at, type)
        _store(frame, variable, binding, value, at)
    _note(frame, variable, at)
    if frame.assigned is not None:
        frame.assigned |= {variable}


def _note(frame: Frame, variable: Variable, at: ast.AST) -> None:
    """Let a debugger show it, where no slot of its name does."""
    binding = frame.bindings[variable]
    if frame.session.notes is not None and binding.slot is None:
        note(frame, variable.name, _read_binding(frame, variable, binding, at), at)


def _is_straight(frame: Frame, variable: Variable) -> bool:
    """Whether this assignment stands where the variable is declared, and all others do."""
    if variable.in_loop or variable in frame.plan.slots:
        return False
    if frame.builder.current is frame.regions.get(variable.home):
        return True
    frame.plan.slots.add(variable)
    frame.plan.changed = True
    return False


# ── bound to a value ─────────────────────────────────────────────────────────────────────────────


def _bind(
    frame: Frame,
    variable: Variable,
    earlier: Binding | None,
    value: Value,
    at: ast.AST,
    *,
    type: Scalar | None,
) -> None:
    binding = Binding(frame.loc(at), value=value)
    scalar = isinstance(value, Op) and isinstance(value.type, Scalar)
    if scalar or (_is_weak(value) and is_number(value)):
        if earlier is not None and earlier.type is not None:
            binding = earlier
        elif isinstance(value, Known) and type is None:
            binding.soft = True
        binding.type = binding.type or type or _first_type(frame, variable, value, at)
        if binding.soft and isinstance(value, Known) and literal_fits(value.value, binding.type):
            op = _own_constant(frame, variable, binding, value, at)
        else:
            op = _converted(frame, variable, binding, value, at)
        if binding.soft and op not in frame.soft:
            frame.soft[op] = variable
        binding.value = op
    frame.bindings[variable] = binding


def _is_weak(value: Value) -> bool:
    return isinstance(value, Known) and not value.kept


def _own_constant(
    frame: Frame, variable: Variable, binding: Binding, value: Known, at: ast.AST
) -> Op:
    """A constant shared with no other variable, so that it says whose type a use needs changed."""
    type = binding.type
    assert type is not None
    binding.literals.append(value.value)
    attrs = {"type": type, "value": exact(type, value.value)}
    return frame.append_to(frame.builder.current, ops.CONST, type, attrs, at, name=variable.name)


def _first_type(frame: Frame, variable: Variable, value: Value, at: ast.AST) -> Scalar:
    """The type of a variable as its first assignment and the plan say."""
    planned = frame.plan.types.get(variable)
    if planned is not None:
        return planned
    if isinstance(value, Op):
        return scalar_type(value)
    assert isinstance(value, Known)
    type = default_type(value.value)
    if type is None:
        raise no_integer_type(frame, value.value, at)
    return type


def _converted(frame: Frame, variable: Variable, binding: Binding, value: Value, at: ast.AST) -> Op:
    """A value as the variable's type, for an assignment."""
    type = binding.type
    assert type is not None
    if isinstance(value, Known) and is_number(value):
        return _converted_literal(frame, variable, binding, value, at)
    if not isinstance(value, Op) or not isinstance(value.type, Scalar):
        raise _kind_error(frame, variable, binding, value, at)
    source = value.type
    if converts_without_loss(source, type):
        widen(frame, value, type)
        return convert(frame, value, type, at)
    if value in frame.soft and not binding.soft and retype(frame, value, type):
        return convert(frame, value, type, at)
    if binding.soft and _retype_variable(frame, variable, binding, source):
        return convert(frame, value, type, at)
    raise frame.error(
        CubeTypeError,
        f"{variable.name!r} is {type} and cannot become {source}",
        at,
        f"convert: {type}(…), or use another name",
        [(f"{variable.name!r} is {type} from here", binding.loc)],
    )


def _converted_literal(
    frame: Frame, variable: Variable, binding: Binding, value: Known, at: ast.AST
) -> Op:
    number, type = value.value, binding.type
    assert type is not None
    if literal_fits(number, type):
        binding.literals.append(number)
        return literal(frame, number, type, at)
    own = default_type(number)
    if binding.soft and own is not None and _retype_variable(frame, variable, binding, own):
        binding.literals.append(number)
        return frame.const(type, 0 if not type.is_float else 0.0, at)  # this attempt is over
    return literal(frame, number, type, at)


def _retype_variable(frame: Frame, variable: Variable, binding: Binding, wanted: Scalar) -> bool:
    """Let a variable begun by a literal take a type that holds both what it has and `wanted`."""
    assert binding.type is not None
    joined = promote(binding.type, wanted)
    if joined is None or joined == binding.type:
        joined = wanted
    probe = ops_probe(frame, variable)
    return retype(frame, probe, joined)


def ops_probe(frame: Frame, variable: Variable) -> Op:
    """An op that stands for the variable where its type is to be changed."""
    probe = Op(opdef=ops.LOAD_LOCAL)
    frame.soft[probe] = variable
    return probe


def _kind_error(
    frame: Frame, variable: Variable, binding: Binding, value: Value, at: ast.AST
) -> Exception:
    was = binding.type or describe(binding.group or NONE)
    return frame.error(
        CubeTypeError,
        f"{variable.name!r} is {was} and cannot become {describe(value)}",
        at,
        "use another name",
        [(f"{variable.name!r} is assigned here", binding.loc)],
    )


# ── in a slot ────────────────────────────────────────────────────────────────────────────────────


def declare_slot(frame: Frame, variable: Variable, type: Scalar, at: ast.AST) -> Op:
    """A slot in the region that declares a variable, before the statement being lowered there."""
    region = frame.regions[variable.home]
    return frame.append_to(
        region, ops.LOCAL, SlotType(type), {"element": type}, at, name=variable.name
    )


def _slot_binding(
    frame: Frame, variable: Variable, value: Value, at: ast.AST, type: Scalar | None
) -> Binding:
    return _new_slots(frame, variable, value, at, type)


def _new_slots(
    frame: Frame, variable: Variable, value: Value, at: ast.AST, type: Scalar | None
) -> Binding:
    binding = frame.bindings[variable] = Binding(frame.loc(at))
    value = opened(frame, value, at)
    if isinstance(value, Group):
        parts = tuple(
            _new_slots(frame, frame.analysis.part(variable, number), item, at, None)
            for number, item in enumerate(value.items)
        )
        binding.parts, binding.group = parts, value
        return binding
    if isinstance(value, Op) and isinstance(value.type, Scalar):
        binding.type = type or _first_type(frame, variable, value, at)
    elif is_number(value):
        binding.soft = type is None
        binding.type = type or _first_type(frame, variable, value, at)
    else:
        binding.value = value  # an array, a function, text: it must be the same on every path
        return binding
    binding.slot = declare_slot(frame, variable, binding.type, at)
    return binding


def _store(frame: Frame, variable: Variable, binding: Binding, value: Value, at: ast.AST) -> None:
    if binding.group is not None:
        value = opened(frame, value, at)
        if not isinstance(value, Group) or not same_kind(binding.group, value):
            raise _kind_error(frame, variable, binding, value, at)
        for number, (part, item) in enumerate(zip(binding.parts, value.items, strict=True)):
            _store(frame, frame.analysis.part(variable, number), part, item, at)
        return
    if binding.slot is not None:
        op = _converted(frame, variable, binding, value, at)
        frame.emit(ops.STORE_LOCAL, binding.slot, op, at=at)
        if not isinstance(value, Known):  # literals are of any float type
            note_store(frame, binding.slot, op)
        return
    if not _same(binding.value, value):
        raise frame.error(
            CubeTypeError,
            f"{variable.name!r} is {describe(value)} here, which a variable assigned under "
            "run-time control flow cannot be",
            at,
            "choose while compiling (a Comptime parameter), or use two names",
            [(f"{variable.name!r} is assigned here as well", binding.loc)],
        )


def _same(earlier: Value | None, value: Value) -> bool:
    if isinstance(earlier, Known) and isinstance(value, Known):
        return comptime_key(earlier.value) == comptime_key(value.value)
    return earlier is value


def poison_targets(frame: Frame, statement: ast.AST) -> None:
    """After an error: whatever the statement would have assigned is not complained about again."""
    simple = isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign)
    for node in _targets(statement):
        variable = frame.analysis.variables.get(node)
        if variable is None:
            continue
        if simple or variable not in frame.bindings or not is_assigned(frame, variable):
            frame.bindings[variable] = Binding(frame.loc(node), value=POISON)
        if frame.assigned is not None:
            frame.assigned |= {variable}


def _targets(statement: ast.AST) -> Iterable[ast.AST]:
    for node in ast.walk(statement):
        stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        if stored or isinstance(node, ast.FunctionDef):
            yield node

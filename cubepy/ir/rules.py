"""Type rules of ops whose result depends on more than "all operands the same": memory, control
flow, calls.
"""

from __future__ import annotations

from string import Formatter

from cubepy.ir.opdef import Attrs, TypeRuleError, memory_element, require
from cubepy.ir.types import (
    BOOL,
    FLOATS,
    I32,
    INDEX,
    INTEGERS,
    U64,
    VOID,
    BufferType,
    MemoryType,
    PrivateType,
    Scalar,
    SharedType,
    SlotType,
    TupleType,
    Type,
)

__all__: list[str] = []


def _scalar_attr(attrs: Attrs, name: str) -> Scalar:
    value = attrs[name]
    if not isinstance(value, Scalar):
        raise TypeRuleError(f"attribute {name} must be a type")
    return value


def _shape_attr(attrs: Attrs) -> tuple[int, ...]:
    shape = attrs["shape"]
    if not isinstance(shape, tuple) or not shape or any(extent < 1 for extent in shape):
        raise TypeRuleError("attribute shape must be a tuple of positive numbers")
    return shape


def any_type(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """Parameters: never built through the rule."""
    raise TypeRuleError("a parameter is made by its owner")


def const(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """`const {type, value}`: an int within the type's range, a float, or a bool."""
    type = _scalar_attr(attrs, "type")
    value = attrs["value"]
    if type is BOOL:
        require(isinstance(value, bool), f"bool constant {value!r}")
    elif type.is_float:
        require(isinstance(value, float), f"float constant {value!r}")
    else:
        require(
            isinstance(value, int) and type.minimum <= value <= type.maximum,
            f"constant {value!r} does not fit {type}",
        )
    return type


def power(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """Integer base, any integer exponent; the base's type."""
    base, exponent = operands
    require(base in INTEGERS and exponent in INTEGERS, "expects integers")
    return base


def shift(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """Integer value, any integer count; the value's type."""
    value, count = operands
    require(value in INTEGERS and count in INTEGERS, f"expects integers, got {value} and {count}")
    return value


def scale(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """A float and an i32 exponent; the float's type."""
    value, exponent = operands
    require(
        value in FLOATS and exponent is I32, f"expects a float and i32, got {value}, {exponent}"
    )
    return value


def bitcast(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """Same width; bool has no bits of its own."""
    result, source = _scalar_attr(attrs, "to"), operands[0]
    require(
        isinstance(source, Scalar) and source is not BOOL and result is not BOOL, "expects numbers"
    )
    assert isinstance(source, Scalar)
    require(
        source.bits == result.bits, f"{source} has {source.bits} bits, {result} has {result.bits}"
    )
    return result


def shared(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """`shared {element, shape}`."""
    return SharedType(_scalar_attr(attrs, "element"), _shape_attr(attrs))


def private(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """`local_array {element, shape}`."""
    return PrivateType(_scalar_attr(attrs, "element"), _shape_attr(attrs))


def slot(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """`local {element}`."""
    return SlotType(_scalar_attr(attrs, "element"))


def length(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """`{axis}` within the rank; `index`."""
    memory, axis = operands[0], attrs["axis"]
    require(isinstance(memory, MemoryType), f"expects memory, got {memory}")
    assert isinstance(memory, MemoryType)
    require(isinstance(axis, int) and 0 <= axis < memory.rank, f"axis {axis} of rank {memory.rank}")
    return INDEX


def _indices(memory: Type, indices: tuple[Type, ...]) -> Scalar:
    if not isinstance(memory, BufferType | SharedType | PrivateType):
        raise TypeRuleError(f"expects memory, got {memory}")
    require(len(indices) == memory.rank, f"expects {memory.rank} subscripts, got {len(indices)}")
    require(all(index == INDEX for index in indices), "subscripts must be index")
    return memory.element


def load(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """Memory and one `index` an axis; the element type."""
    return _indices(operands[0], operands[1:])


def store(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """Memory, one `index` an axis, a value of the element type."""
    element = _indices(operands[0], operands[1:-1])
    require(operands[-1] == element, f"stores {operands[-1]} into {element}")
    return VOID


def atomic(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """As a store, with the element type as result; not for private memory, not for bool."""
    require(not isinstance(operands[0], PrivateType), "private memory has no atomics")
    element = _indices(operands[0], operands[1:-1])
    require(
        operands[-1] == element and element is not BOOL, f"atomic of {operands[-1]} on {element}"
    )
    return element


def compare_exchange(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """Memory, indices, expected, value."""
    require(operands[-2] == operands[-1], "expected and new value differ in type")
    return atomic((*operands[:-2], operands[-1]), attrs)


def atomic_load(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """As a load; not of private memory, not of bool."""
    require(not isinstance(operands[0], PrivateType), "private memory has no atomics")
    element = _indices(operands[0], operands[1:])
    require(element is not BOOL, f"atomic on {element}")
    return element


def atomic_store(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """As an atomic, without a result."""
    atomic(operands, attrs)
    return VOID


def load_local(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """A slot; its element type."""
    require(isinstance(operands[0], SlotType), f"expects a slot, got {operands[0]}")
    return memory_element(operands[0])


def store_local(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """A slot and a value of its element type."""
    require(load_local(operands, attrs) == operands[1], f"assigns {operands[1]} to {operands[0]}")
    return VOID


def lane(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """Any scalar and an integer lane number."""
    require(operands[1] in INTEGERS, f"lane number must be an integer, got {operands[1]}")
    require(isinstance(operands[0], Scalar), f"expects a scalar, got {operands[0]}")
    return operands[0]


def ballot(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """A bool; u64."""
    require(operands == (BOOL,), f"expects a bool, got {operands}")
    return U64


def assertion(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """`{text}`: a bool, then the values that the text speaks of."""
    require(operands[0] is BOOL, f"expects a bool, got {operands[0]}")
    return printed(operands[1:], attrs)


def bounds_check(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """`{name, axis}`, and `axes` where there are more than one: two of `index`."""
    require(operands == (INDEX, INDEX), f"expects two of index, got {operands}")
    require(isinstance(attrs["name"], str) and isinstance(attrs["axis"], int), "name and axis")
    require(isinstance(attrs.get("axes", 1), int), "a number of axes")
    return VOID


def printed(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """`{text}`: a scalar for each hole of the text."""
    text = attrs["text"]
    require(isinstance(text, str), "attribute text must be text")
    require(all(isinstance(operand, Scalar) for operand in operands), "expects scalars")
    holes = sum(hole is not None for _, hole, _, _ in Formatter().parse(str(text)))
    require(holes == len(operands), f"{len(operands)} values for {holes} holes")
    return VOID


def for_loop(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """Three integers of one type."""
    require(
        operands[0] in INTEGERS and all(operand == operands[0] for operand in operands),
        f"expects three integers of one type, got {', '.join(map(str, operands))}",
    )
    return VOID


def returns(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """Any scalars; the verifier compares them with the function's result."""
    require(all(isinstance(operand, Scalar) for operand in operands), "returns scalars")
    return VOID


def call(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """The attribute `results`: type names joined by commas, as the function says; the verifier
    compares.
    """
    names = attrs["results"]
    require(isinstance(names, str), "attribute results must be text")
    return call_result(str(names))


def call_result(names: str) -> Type:
    """VOID for "", a scalar for one name, a tuple for several."""
    from_names = tuple(_scalar_named(name) for name in names.split(",") if name)
    if not from_names:
        return VOID
    return from_names[0] if len(from_names) == 1 else TupleType(from_names)


def _scalar_named(name: str) -> Scalar:
    for scalar in (BOOL, INDEX, *INTEGERS, *FLOATS):
        if scalar.name == name:
            return scalar
    raise TypeRuleError(f"no type {name}")


def tuple_get(operands: tuple[Type, ...], attrs: Attrs) -> Type:
    """Element `index` of a tuple."""
    source, index = operands[0], attrs["index"]
    if not isinstance(source, TupleType) or not isinstance(index, int):
        raise TypeRuleError(f"expects a tuple, got {source}")
    require(0 <= index < len(source.elements), f"element {index} of {source}")
    return source.elements[index]

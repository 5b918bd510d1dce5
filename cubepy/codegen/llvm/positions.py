"""Positions of the units of a gang, in the shapes that the layout promises.

All are made at the start of a gang from where it begins, so each is ready wherever the kernel asks
for it. Vector divisions by cube sizes run on 32-bit lane offsets: quotient and remainder of the
gang's first unit are taken once, in scalars.
"""

from __future__ import annotations

from collections.abc import Iterable

from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.values import Value, spread
from cubepy.ir import INDEX, Op
from cubepy.ir.analyses import UNIFORM, VARYING, Shape, part
from cubepy.target import Schedule, WordKind

__all__ = ["emit_positions"]


def emit_positions(gang: Gang, used: Iterable[Op]) -> None:
    """Make the value of every position op in `used`."""
    made: dict[str, Value] = {}
    for op in used:
        name = op.opdef.name
        if name not in made:
            made[name] = _position(gang, name)
            wanted = gang.layout.seed_shape(op)
            assert made[name].shape == wanted, f"{name}: {made[name].shape}, promised {wanted}"
        gang.values[op] = made[name]
        if op.name:
            gang.module.notes.value(op, made[name].shape)


def _position(gang: Gang, name: str) -> Value:
    axis = name.rpartition("_")[2]
    if name.startswith("extent_"):
        return _uniform(gang, gang.module.word(WordKind.EXTENT, axis="xyz".index(axis)))
    if name.startswith("cube_count"):
        return _uniform(gang, cube_count(gang, axis))
    if name == "plane_dim":
        return _uniform(gang, str(gang.layout.plane_dim))
    made = _TABLES[gang.layout.schedule](gang, name)
    return _of_one_unit(gang, made) if gang.layout.alone else made


def _of_one_unit(gang: Gang, value: Value) -> Value:
    """The position of a gang's only unit as a scalar."""
    (name,) = value.names
    if value.shape.level == 2:
        name = gang.w.value(f"extractelement {gang.vec.integer(64)} {name}, i64 0")
    return _uniform(gang, name)


def _uniform(gang: Gang, name: str) -> Value:
    return gang.value(UNIFORM, (name,))


def cube_count(gang: Gang, axis: str) -> str:
    """Cubes along an axis, or all of them."""
    counts = [gang.module.word(WordKind.CUBE_COUNT, axis=number) for number in range(3)]
    if axis in "xyz":
        return counts["xyz".index(axis)]
    return _mul(gang, _mul(gang, counts[0], counts[1]), counts[2])


def _mul(gang: Gang, a: str, b: str | int) -> str:
    return gang.w.value(f"mul i64 {a}, {b}")


def _add(gang: Gang, a: str, b: str | int) -> str:
    return gang.w.value(f"add i64 {a}, {b}")


def _div(gang: Gang, a: str, b: str | int) -> str:
    return gang.w.value(f"udiv i64 {a}, {b}")


def _rem(gang: Gang, a: str, b: str | int) -> str:
    return gang.w.value(f"urem i64 {a}, {b}")


def _first_units(gang: Gang, base: str) -> tuple[str, ...]:
    """The position of each part's first lane, the same in each row."""
    layout = gang.layout
    return layout.rows * tuple(
        base if number == 0 else _add(gang, base, number * layout.lanes)
        for number in range(layout.columns)
    )


def _across(gang: Gang, name: str) -> Value:
    """The position across the rows of a gang: one number a part, if some gang has several."""
    layout, first = gang.layout, gang.place[name[-1]]
    if not layout.banded or name[-1] != layout.across:
        return _uniform(gang, first)
    rows = [first, *(_add(gang, first, row) for row in range(1, layout.rows))]
    return gang.value(part(0), tuple(row for row in rows for _ in range(layout.columns)))


def _split(
    gang: Gang, base: str, size: int, shape: Shape, *, quotient: bool, modulus: int = 0
) -> Value:
    """(base + lane) // size (then % modulus) or % size, in the promised shape."""

    def scalar(first: str) -> str:
        if not quotient:
            return _rem(gang, first, size)
        divided = _div(gang, first, size)
        return _rem(gang, divided, modulus) if modulus else divided

    if shape == UNIFORM:
        return gang.value(shape, (scalar(base),))
    if shape.level == 1:
        return gang.value(shape, tuple(scalar(first) for first in _first_units(gang, base)))
    return gang.value(VARYING, _vector_split(gang, base, size, quotient=quotient, modulus=modulus))


def _vector_split(
    gang: Gang, base: str, size: int, *, quotient: bool, modulus: int
) -> tuple[str, ...]:
    """Lane by lane: the remainder of the gang's first unit plus the lane stays small, so i32
    does.
    """
    lanes, type32, type64 = gang.layout.lanes, gang.vec.integer(32), gang.vec.integer(64)
    rest = gang.w.value(f"trunc i64 {_rem(gang, base, size)} to i32")
    spread = gang.vec.everywhere("i32", rest)
    wide = gang.vec.everywhere("i64", _div(gang, base, size))
    result = []
    for number in range(gang.parts):
        ramp = "<" + ", ".join(f"i32 {number * lanes + lane}" for lane in range(lanes)) + ">"
        offset = gang.w.value(f"add {type32} {spread}, {ramp}")
        divisor = gang.vec.int_const(32, size)
        opcode = "udiv" if quotient else "urem"
        small = gang.w.value(f"{opcode} {type32} {offset}, {divisor}")
        big = gang.w.value(f"zext {type32} {small} to {type64}")
        if quotient:
            big = gang.w.value(f"add {type64} {big}, {wide}")
            if modulus:
                big = gang.w.value(f"urem {type64} {big}, {gang.vec.int_const(64, modulus)}")
        result.append(big)
    return tuple(result)


def _linear(gang: Gang, x: Value, others: str) -> Value:
    """X plus a scalar that the whole gang shares."""
    if x.shape.level == 2:
        wide = gang.vec.everywhere("i64", others)
        return gang.value(
            x.shape, tuple(gang.vec.instruction("add", INDEX, n, wide) for n in x.names)
        )
    return gang.value(x.shape, tuple(_add(gang, name, others) for name in x.names))


# ── rows: lanes run along x of the launch ───────────────────────────────────────────────────────


def _in_row(gang: Gang, name: str) -> Value:
    layout, place = gang.layout, gang.place
    dim_x, dim_y, dim_z = layout.cube_dim
    x, y, z = place["x"], place["y"], place["z"]
    match name:
        case "absolute_pos_x":
            return gang.value(part(1), _first_units(gang, x))
        case "absolute_pos_y" | "absolute_pos_z":
            return _across(gang, name)
        case "absolute_pos":
            row = _mul(gang, cube_count(gang, "x"), dim_x)
            rows = _mul(gang, cube_count(gang, "y"), dim_y)
            before = _mul(gang, row, _add(gang, y, _mul(gang, z, rows)))
            return gang.value(part(1), _first_units(gang, _add(gang, x, before)))
        case "unit_pos_x":
            return _unit_x(gang, layout.seed_shape_named(name))
        case "unit_pos_y" | "unit_pos_z":
            return _uniform(gang, _rem(gang, place[name[-1]], dim_y if name[-1] == "y" else dim_z))
        case "cube_pos_x":
            return _cube_x(gang, layout.seed_shape_named(name))
        case "cube_pos_y" | "cube_pos_z":
            return _uniform(gang, _div(gang, place[name[-1]], dim_y if name[-1] == "y" else dim_z))
        case "unit_pos":
            return _linear(gang, _unit_x(gang, layout.seed_shape_named(name)), _unit_rest(gang))
        case "cube_pos":
            cubes = cube_count(gang, "y")
            outer = _add(gang, _div(gang, y, dim_y), _mul(gang, _div(gang, z, dim_z), cubes))
            shape = layout.seed_shape_named(name)
            return _linear(gang, _cube_x(gang, shape), _mul(gang, outer, cube_count(gang, "x")))
        case _:
            return _lane_in_plane(gang, name)


def _unit_rest(gang: Gang) -> str:
    """What y and z add to the linear position in the cube."""
    dim_x, dim_y, dim_z = gang.layout.cube_dim
    y = _rem(gang, gang.place["y"], dim_y)
    z = _rem(gang, gang.place["z"], dim_z)
    return _mul(gang, _add(gang, y, _mul(gang, z, dim_y)), dim_x)


def _unit_x(gang: Gang, shape: Shape) -> Value:
    dim_x = gang.layout.cube_dim[0]
    if dim_x == 1:
        return gang.value(UNIFORM, ("0",))
    return _split(gang, gang.place["x"], dim_x, shape, quotient=False)


def _cube_x(gang: Gang, shape: Shape) -> Value:
    dim_x, x = gang.layout.cube_dim[0], gang.place["x"]
    if dim_x == 1 and shape == part(1):
        return gang.value(shape, _first_units(gang, x))
    return _split(gang, x, dim_x, shape, quotient=True)


def _lane_in_plane(gang: Gang, name: str) -> Value:
    """PLANE_POS and UNIT_POS_PLANE where gangs cross cubes: from the linear position, as
    vectors.
    """
    vectors = []
    linear = _linear(gang, _varying_unit_x(gang), _unit_rest(gang))
    for vector in linear.names:
        opcode = "udiv" if name == "plane_pos" else "urem"
        divisor = gang.vec.int_const(64, gang.layout.plane_dim)
        vectors.append(gang.w.value(f"{opcode} {gang.vec.integer(64)} {vector}, {divisor}"))
    return gang.value(VARYING, tuple(vectors))


def _varying_unit_x(gang: Gang) -> Value:
    dim_x = gang.layout.cube_dim[0]
    return gang.value(
        VARYING, _vector_split(gang, gang.place["x"], dim_x, quotient=False, modulus=0)
    )


# ── columns: lanes run along y of the launch, and units know no more than their place in it ─────


def _in_column(gang: Gang, name: str) -> Value:
    axis = name[-1]
    if axis == gang.layout.along:
        return gang.value(part(1), _first_units(gang, gang.place[axis]))
    return _across(gang, name)


# ── cubes: lanes run over the units of one cube in linear order ─────────────────────────────────


def _in_cube(gang: Gang, name: str) -> Value:
    layout, place = gang.layout, gang.place
    match name:
        case "unit_pos":
            return gang.value(part(1), _first_units(gang, place["u"]))
        case "cube_pos":
            return _uniform(gang, place["cube"])
        case "cube_pos_x" | "cube_pos_y" | "cube_pos_z":
            return _uniform(gang, place["c" + name[-1]])
        case "unit_pos_x" | "unit_pos_y" | "unit_pos_z":
            return _unit_axis(gang, name[-1])
        case "absolute_pos_x" | "absolute_pos_y" | "absolute_pos_z":
            axis = name[-1]
            size = layout.cube_dim["xyz".index(axis)]
            return _linear(gang, _unit_axis(gang, axis), _mul(gang, place["c" + axis], size))
        case "absolute_pos":
            return _absolute(gang)
        case _:
            shape = layout.seed_shape_named(name)
            return _split(gang, place["u"], layout.plane_dim, shape, quotient=name == "plane_pos")


def _unit_axis(gang: Gang, axis: str) -> Value:
    layout, u = gang.layout, gang.place["u"]
    dim_x, dim_y, dim_z = layout.cube_dim
    shape = layout.seed_shape_named(f"unit_pos_{axis}")
    if shape == UNIFORM:
        return gang.value(UNIFORM, ("0",))
    if axis == "x":
        if dim_y * dim_z == 1:
            return gang.value(part(1), _first_units(gang, u))
        return _split(gang, u, dim_x, shape, quotient=False)
    if axis == "y":
        return _split(gang, u, dim_x, shape, quotient=True, modulus=dim_y)
    return _split(gang, u, dim_x * dim_y, shape, quotient=True)


def _absolute(gang: Gang) -> Value:
    """X + y * row + z * row * rows over the launch."""
    layout, place = gang.layout, gang.place
    dim_x, dim_y, dim_z = layout.cube_dim
    row = _mul(gang, cube_count(gang, "x"), dim_x)
    rows = _mul(gang, cube_count(gang, "y"), dim_y)
    first_y = _mul(gang, place["cy"], dim_y)
    first_z = _mul(gang, place["cz"], dim_z)
    corner = _add(
        gang,
        _mul(gang, place["cx"], dim_x),
        _mul(gang, row, _add(gang, first_y, _mul(gang, first_z, rows))),
    )
    shape = layout.seed_shape_named("absolute_pos")
    if shape == UNIFORM:
        return _uniform(gang, corner)
    x, y, z = (_unit_axis(gang, axis) for axis in "xyz")
    if shape.level == 1 and dim_y * dim_z == 1:
        return _linear(gang, x, corner)
    if shape.level == 1:
        steps = [_scaled_parts(gang, y, row), _scaled_parts(gang, z, _mul(gang, row, rows))]
        names = [_add(gang, corner, name) for name in x.names]
        for step in steps:
            names = [_add(gang, a, b) for a, b in zip(names, step, strict=True)]
        return gang.value(shape, tuple(names))
    return _absolute_vectors(gang, x, y, z, row, rows, corner)


def _scaled_parts(gang: Gang, value: Value, factor: str) -> list[str]:
    names = value.names * gang.parts if value.shape.level == 0 else value.names
    return [_mul(gang, name, factor) for name in names]


def _absolute_vectors(
    gang: Gang, x: Value, y: Value, z: Value, row: str, rows: str, corner: str
) -> Value:
    from_values = [_as_vectors(gang, value) for value in (x, y, z)]
    row_vector = _as_vectors(gang, gang.value(UNIFORM, (row,)))
    area = _as_vectors(gang, gang.value(UNIFORM, (_mul(gang, row, rows),)))
    base = _as_vectors(gang, gang.value(UNIFORM, (corner,)))
    result = []
    for number in range(gang.parts):
        down = gang.vec.instruction("mul", INDEX, from_values[1][number], row_vector[number])
        deep = gang.vec.instruction("mul", INDEX, from_values[2][number], area[number])
        total = gang.vec.instruction("add", INDEX, from_values[0][number], base[number])
        total = gang.vec.instruction("add", INDEX, total, down)
        result.append(gang.vec.instruction("add", INDEX, total, deep))
    return gang.value(VARYING, tuple(result))


def _as_vectors(gang: Gang, value: Value) -> tuple[str, ...]:
    return spread(gang.vec, INDEX, value, gang.parts)


_TABLES = {
    Schedule.ROWS: _in_row,
    Schedule.COLUMNS: _in_column,
    Schedule.CUBES: _in_cube,
}

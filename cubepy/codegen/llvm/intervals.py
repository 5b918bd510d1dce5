"""Bounds of each position over the units of a row piece or a cube, for the guard of `guards.py`."""

from __future__ import annotations

from collections.abc import Mapping

from cubepy.codegen.llvm.gang import Module
from cubepy.codegen.llvm.guards import Interval
from cubepy.target import Schedule, WordKind

__all__ = ["cube_intervals", "launch_intervals"]


def launch_intervals(
    module: Module, along: Interval, across: Interval, z: str
) -> Mapping[str, Interval]:
    """Bounds of each position over units `along` the rows number `across` of a launch."""
    layout = module.layout
    if layout.schedule is Schedule.ROWS and not layout.banded:
        return _row_intervals(module, *along, across[0], z)
    result = {
        f"absolute_pos_{layout.along}": along,
        f"absolute_pos_{layout.across}": across,
        "absolute_pos_z": (z, z),
    }
    for number, axis in enumerate("xyz"):
        for name, kind in (("extent", WordKind.EXTENT), ("cube_count", WordKind.CUBE_COUNT)):
            result[f"{name}_{axis}"] = (module.word(kind, axis=number),) * 2
    return result


def _row_intervals(module: Module, low: str, high: str, y: str, z: str) -> Mapping[str, Interval]:
    """Bounds of each position over units low..high of a row."""
    w, (dim_x, dim_y, dim_z) = module.w, module.layout.cube_dim
    units = dim_x * dim_y * dim_z
    counts = [module.word(WordKind.CUBE_COUNT, axis=axis) for axis in range(3)]
    extents = [module.word(WordKind.EXTENT, axis=axis) for axis in range(3)]
    row = w.value(f"mul i64 {counts[0]}, {dim_x}")
    rows = w.value(f"mul i64 {counts[1]}, {dim_y}")
    down = w.value(f"add i64 {y}, {w.value(f'mul i64 {z}, {rows}')}")
    before = w.value(f"mul i64 {row}, {down}")
    cubes = w.value(f"mul i64 {w.value(f'mul i64 {counts[0]}, {counts[1]}')}, {counts[2]}")
    last_cube = w.value(f"sub i64 {cubes}, 1")
    cube_y, cube_z = w.value(f"udiv i64 {y}, {dim_y}"), w.value(f"udiv i64 {z}, {dim_z}")
    unit_y, unit_z = w.value(f"urem i64 {y}, {dim_y}"), w.value(f"urem i64 {z}, {dim_z}")
    return {
        "absolute_pos": (w.value(f"add i64 {low}, {before}"), w.value(f"add i64 {high}, {before}")),
        "absolute_pos_x": (low, high),
        "absolute_pos_y": (y, y),
        "absolute_pos_z": (z, z),
        "unit_pos": ("0", str(units - 1)),
        "unit_pos_x": ("0", str(dim_x - 1)),
        "unit_pos_y": (unit_y, unit_y),
        "unit_pos_z": (unit_z, unit_z),
        "cube_pos": ("0", last_cube),
        "cube_pos_x": (w.value(f"sdiv i64 {low}, {dim_x}"), w.value(f"sdiv i64 {high}, {dim_x}")),
        "cube_pos_y": (cube_y, cube_y),
        "cube_pos_z": (cube_z, cube_z),
        "cube_count": (cubes, cubes),
        "unit_pos_plane": ("0", str(module.layout.plane_dim - 1)),
        "plane_pos": ("0", str((units - 1) // module.layout.plane_dim)),
        "plane_dim": (str(module.layout.plane_dim),) * 2,
        **{f"cube_count_{axis}": (count, count) for axis, count in zip("xyz", counts, strict=True)},
        **{f"extent_{axis}": (extent, extent) for axis, extent in zip("xyz", extents, strict=True)},
    }


def cube_intervals(module: Module, place: Mapping[str, Interval]) -> Mapping[str, Interval]:
    """Bounds of each position over the cubes whose number and place lie between two."""
    w, dims = module.w, module.layout.cube_dim
    units = dims[0] * dims[1] * dims[2]
    counts = [module.word(WordKind.CUBE_COUNT, axis=axis) for axis in range(3)]
    extents = [module.word(WordKind.EXTENT, axis=axis) for axis in range(3)]
    result: dict[str, Interval] = {
        "unit_pos": ("0", str(units - 1)),
        "cube_pos": place["cube"],
        "unit_pos_plane": ("0", str(module.layout.plane_dim - 1)),
        "plane_pos": ("0", str((units - 1) // module.layout.plane_dim)),
        "plane_dim": (str(module.layout.plane_dim),) * 2,
    }
    firsts, lasts = [], []
    for axis, dim, count, extent in zip("xyz", dims, counts, extents, strict=True):
        low, high = place["c" + axis]
        first = w.value(f"mul i64 {low}, {dim}")
        last = w.value(f"add i64 {w.value(f'mul i64 {high}, {dim}')}, {dim - 1}")
        firsts.append(first)
        lasts.append(last)
        result[f"unit_pos_{axis}"] = ("0", str(dim - 1))
        result[f"cube_pos_{axis}"] = (low, high)
        result[f"absolute_pos_{axis}"] = (first, last)
        result[f"cube_count_{axis}"] = (count, count)
        result[f"extent_{axis}"] = (extent, extent)
    row = w.value(f"mul i64 {counts[0]}, {dims[0]}")
    area = w.value(f"mul i64 {row}, {w.value(f'mul i64 {counts[1]}, {dims[1]}')}")
    ends = []
    for x, y, z in (firsts, lasts):
        down = w.value(f"add i64 {x}, {w.value(f'mul i64 {y}, {row}')}")
        ends.append(w.value(f"add i64 {down}, {w.value(f'mul i64 {z}, {area}')}"))
    result["absolute_pos"] = (ends[0], ends[1])
    cubes = w.value(f"mul i64 {w.value(f'mul i64 {counts[0]}, {counts[1]}')}, {counts[2]}")
    result["cube_count"] = (cubes, cubes)
    return result

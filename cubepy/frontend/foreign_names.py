"""Names of other languages and libraries for what kernels have under names of their own.

Used in messages only: who comes from CUDA, OpenCL, Numba, Triton, Taichi or NumPy is told ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

__all__ = ["instead_of_call", "our_name"]

_BY_AXIS = "cb.{0}_X, cb.{0}_Y, cb.{0}_Z"
_UNIT, _CUBE = _BY_AXIS.format("UNIT_POS"), _BY_AXIS.format("CUBE_POS")
_DIM, _COUNT = _BY_AXIS.format("CUBE_DIM"), _BY_AXIS.format("CUBE_COUNT")
_PLACE = "cb.ABSOLUTE_POS, or by axis cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_Z"
_LOCAL = "cb.local_array(T, shape, fill=0) for a small array of each unit"
_SHARED = "cb.shared(T, shape), for example cb.shared(f32, 4)"
_LOOP = "a kernel computes one element: write a loop"

_NAMES: Mapping[str, str] = {
    "threadIdx": _UNIT,
    "thread_position_in_grid": _PLACE,
    "blockIdx": _CUBE,
    "blockDim": _DIM,
    "gridDim": _COUNT,
    "grid": _PLACE,
    "gridsize": "cb.CUBE_COUNT * cb.CUBE_DIM",
    "global_id": _PLACE,
    "get_global_id": _PLACE,
    "get_local_id": _UNIT,
    "get_group_id": _CUBE,
    "get_local_size": _DIM,
    "get_num_groups": _COUNT,
    "program_id": _CUBE,
    "num_programs": _COUNT,
    "tid": _PLACE,
    "thread_id": _PLACE,
    "laneid": "cb.UNIT_POS_PLANE",
    "warpsize": "cb.PLANE_DIM",
    "syncthreads": "cb.sync_cube()",
    "barrier": "cb.sync_cube()",
    "debug_barrier": "cb.sync_cube()",
    "workgroupBarrier": "cb.sync_cube()",
    "syncwarp": "cb.sync_plane()",
    "prange": "range; or one unit for each place: k.over(n)",
    "ndrange": "range; or one unit for each place: k.over(shape)",
    "static_range": "cb.unroll(range(…))",
    "atomic": "cb.atomic_add(array, index, value), cb.atomic_max, cb.atomic_exchange …",
    "atomicAdd": "cb.atomic_add(array, index, value)",
    "atomic_inc": "cb.atomic_add(array, index, 1)",
    "atomicSub": "cb.atomic_sub(array, index, value)",
    "atomicMin": "cb.atomic_min(array, index, value)",
    "atomicMax": "cb.atomic_max(array, index, value)",
    "atomicAnd": "cb.atomic_and_(array, index, value)",
    "atomicOr": "cb.atomic_or_(array, index, value)",
    "atomicXor": "cb.atomic_xor(array, index, value)",
    "atomicExch": "cb.atomic_exchange(array, index, value)",
    "atomicCAS": "cb.atomic_compare_exchange(array, index, expected, value)",
    "shfl_sync": "cb.plane_shuffle(value, lane)",
    "shfl_up_sync": "cb.plane_shuffle_up(value, delta)",
    "shfl_down_sync": "cb.plane_shuffle_down(value, delta)",
    "shfl_xor_sync": "cb.plane_shuffle_xor(value, mask)",
    "ballot_sync": "cb.plane_ballot(condition)",
    "all_sync": "cb.plane_all(condition)",
    "any_sync": "cb.plane_any(condition)",
    "SharedArray": "cb.shared(T, shape)",
    "where": "cb.select(condition, a, b)",
    "mad": "cb.fma(a, b, c)",
    "float16": "cb.f16",
    "bfloat16": "cb.bf16",
    "float32": "cb.f32",
    "float64": "cb.f64",
    **{f"int{bits}": f"cb.i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"cb.u{bits}" for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("zeros", "ones", "empty", "full", "array"), _LOCAL),
    **dict.fromkeys(("shared.array", "shared.zeros", "shared.empty"), _SHARED),
}

_CALLS: Mapping[str, str] = {
    **{f"{kind}{like}": f"use {_LOCAL}"
       for kind in ("zeros", "ones", "empty", "full") for like in ("", "_like")},
    **dict.fromkeys(("array", "asarray", "copy"), f"use {_LOCAL}"),
    **dict.fromkeys(("mean", "std", "var", "prod", "any", "all", "argmin", "argmax"), _LOOP),
    **dict.fromkeys(("cumsum", "dot", "matmul", "einsum", "inner", "convolve", "sort"), _LOOP),
    "sum": f"{_LOOP}: for j in range(len(x)): total += x[j]",
    "amin": "for two numbers min(a, b); of an array, write a loop",
    "amax": "for two numbers max(a, b); of an array, write a loop",
    "power": "write a ** b",
    "maximum": "write max(a, b)",
    "minimum": "write min(a, b)",
    "mod": "write a % b",
}  # fmt: skip


def our_name(path: Sequence[str]) -> str:
    """A help line for a dotted name that does not exist here; empty if nothing is known of it."""
    pairs = [f"{owner}.{name}" for owner, name in pairwise(path)]
    names = map(_folded, (*pairs, *path))
    found = next((_FOLDED[name] for name in names if name in _FOLDED), "")
    return f"here it is {found}" if found else ""


def _folded(name: str) -> str:
    """The same for names that differ in case and underscores."""
    return name.replace("_", "").lower()


_FOLDED = {_folded(name): ours for name, ours in _NAMES.items()}


def instead_of_call(name: str) -> str:
    """A help line for a call of a function of another library; empty if nothing is known of it."""
    parts = name.split(".")
    known = next((_CALLS[part] for part in reversed(parts) if part in _CALLS), "")
    return known or our_name(parts)

"""Limits that drivers do not tell of: how long loops run, how deep branches may be nested."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cubepy_wgpu.trial import tried

__all__ = ["LIMITS_TEXTS", "limits_found"]

# Trips that a loop of the probe should make; GPUs need a thousandth of a second for them.
_TRIPS = 200_000
_LOOP = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn probe(@builtin(local_invocation_index) unit: u32) {
    let wanted = out[unit];
    var made = 0u;
    while (made != wanted) {
        made++;
    }
    out[unit] = made;
}
"""
# Branches inside of branches, of which unit n should enter n: as many as wgpu's own compiler reads.
_LEVELS = 120
_BRANCHES = "".join(f"if (wanted > {level}u) {{ out[unit] += 1u;\n" for level in range(_LEVELS))
_NESTED = f"""
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size({_LEVELS})
fn probe(@builtin(local_invocation_index) unit: u32) {{
    let wanted = out[unit];
    out[unit] = 0u;
    {_BRANCHES}
    {"}" * _LEVELS}
}}
"""
LIMITS_TEXTS = _LOOP + _NESTED


def limits_found(device: Any) -> Mapping[str, int]:
    """After how many trips the driver ends loops, and beyond how many branches it ignores
    conditions; 0 where it does not.
    """
    made = int(tried(device, _LOOP, 1, np.full(64, _TRIPS, np.uint32)).min())
    wanted = np.arange(_LEVELS, dtype=np.uint32)
    wrong = np.flatnonzero(tried(device, _NESTED, 1, wanted) != wanted)
    return {
        "most_trips": 0 if made == _TRIPS else made,
        "most_nesting": int(wrong[0]) if wrong.size else 0,
    }

"""The OpenCL C we generate beside hand-written OpenCL C, on Intel's device for processors.

Neither side contracts. The hand-written side has the best of its work-group sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cubepy as cb
from benchmarks.figures import Figure
from benchmarks.gpu.comparison import Comparison, on_buffers
from benchmarks.peers.opencl import fastest, open_device
from benchmarks.rows import ROWS

__all__ = ["figures"]

# A row that reinterprets NumPy memory as bf16, which buffers do not do.
_NOT_ON_BUFFERS = {"bf16_dots"}
_CHECKS = {"unchecked": 1.05, "checked": 1.15}


def figures(names: Sequence[str]) -> Iterator[Figure]:
    """Means and worst rows, for each kind of check."""
    comparison = Comparison("OpenCL", _CHECKS)
    anchor, device = open_device(), cb.device("opencl")
    for row in ROWS:
        if row.source and row.name not in _NOT_ON_BUFFERS and (not names or row.name in names):
            ours = {check: on_buffers(device, row, row.kernel, check) for check in _CHECKS}
            theirs = fastest(anchor, row)
            assert theirs is not None
            comparison.measure(row.name, ours, theirs)
    comparison.show()
    mean = comparison.mean("unchecked")
    yield Figure(name="OpenCL, unchecked, geometric mean", value=mean, unit="×", limit=1.0)
    for check, limit in _CHECKS.items():
        worst, name = comparison.worst(check)
        yield Figure(name=f"OpenCL, {check}, worst: {name}", value=worst, unit="×", limit=limit)

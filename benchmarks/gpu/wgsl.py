"""The WGSL we generate beside hand-written WGSL, on the first wgpu device.

Drivers contract and reassociate what they are given by hand; so the limit is on our kernels that
permit the same, and the strict ones, which keep compilers from it, stand beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import cubepy as cb
from benchmarks.figures import Figure
from benchmarks.gpu.by_hand import Shader
from benchmarks.gpu.comparison import Call, Comparison, on_buffers
from benchmarks.gpu.shaders import SHADERS, Written
from benchmarks.rows import ROWS, Array, Row

__all__ = ["figures"]

_FREE, _STRICT = "contract + reassoc", "strict"


def _by_hand(device: Any, row: Row, written: Written, is_right: Any) -> Call:
    """A call that dispatches and waits; its answer is checked first."""
    shader = Shader(device.handle, written.source, row.arguments())

    def call() -> None:
        shader.launch(written.groups)
        shader.wait()

    call()
    if not is_right(shader.arrays()):
        raise AssertionError(f"{row.name}: the answer of the shader by hand is wrong")
    return call


def _nearly(row: Row) -> Any:
    """As for whoever rounds less often: nearly all elements are nearly the strict ones."""
    strict = row.result()

    def is_right(arrays: list[Array]) -> bool:
        return bool(np.isclose(arrays[-1], strict, rtol=1e-4, atol=1e-5).mean() >= 0.995)

    return is_right


def figures(names: Sequence[str]) -> Iterator[Figure]:
    """The worst row, and the means of both kinds."""
    device = cb.device("wgpu")
    comparison = Comparison(f"WGSL on {device.description}", (_FREE, _STRICT))
    for row in (row for row in ROWS if row.name in SHADERS and (not names or row.name in names)):
        free = cb.cube(fast_math={"contract", "reassoc"})(row.kernel.function)
        nearly = _nearly(row)
        ours = {
            _FREE: on_buffers(device, row, free, "unchecked", nearly),
            _STRICT: on_buffers(device, row, row.kernel, "unchecked"),
        }
        comparison.measure(row.name, ours, _by_hand(device, row, SHADERS[row.name], nearly))
    comparison.show()
    worst, name = comparison.worst(_FREE)
    strict = comparison.mean(_STRICT)
    yield Figure(
        name=f"WGSL, contract + reassoc, geometric mean (strict {strict:.2f})",
        value=comparison.mean(_FREE), unit="×", limit=1.1,
    )  # fmt: skip
    yield Figure(name=f"WGSL, contract + reassoc, worst: {name}", value=worst, unit="×", limit=1.1)

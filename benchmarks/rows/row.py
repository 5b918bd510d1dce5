"""What one row of the table is: the same work written for cubepy and in OpenCL C."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Array", "Call", "Row", "over_last", "random"]

Array = np.ndarray[Any, np.dtype[Any]]
Call = Callable[[], object]
# OpenCL contracts a*b + c unless it is told not to; cubepy does not unless it is asked to.
NO_CONTRACTION = "#pragma OPENCL FP_CONTRACT OFF\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A kernel on both sides, what to run it on, and how to tell that it was right.

    `arguments` are the OpenCL kernel's, in order, arrays flat or not; `ours` makes a call on the
    same arguments. `is_right` sees the arrays after one call.
    """

    name: str
    arguments: Callable[[], list[Any]]
    ours: Callable[[list[Any]], Call]
    is_right: Callable[[list[Array]], bool]
    source: str
    global_size: tuple[int, ...]
    local_sizes: tuple[tuple[int, ...] | None, ...] = (None,)
    moved_bytes: int | None = None
    flops: int | None = None

    @property
    def opencl(self) -> str:
        """The hand-written OpenCL C, held to the arithmetic that cubepy promises."""
        return NO_CONTRACTION + self.source


def random(seed: int) -> np.random.Generator:
    """The same numbers on both sides and in every run."""
    return np.random.default_rng(seed)


def over_last(kernel: Any) -> Any:
    """Launches with one unit for each element of the last argument."""

    def ours(arguments: list[Any]) -> Call:
        launch = kernel.over(arguments[-1].size)
        return lambda: launch(*arguments)

    return ours

"""What one row of the table is: the same work written for cubepy and in OpenCL C."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import cubepy as cb

__all__ = ["Array", "Call", "Row", "over_last", "random"]

Array = np.ndarray[Any, np.dtype[Any]]
Call = Callable[[], object]
# OpenCL contracts a*b + c unless it is told not to; cubepy does not unless it is asked to.
NO_CONTRACTION = "#pragma OPENCL FP_CONTRACT OFF\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A kernel on both sides, what to run it on, and how to tell that it was right.

    `arguments` are the OpenCL kernel's, in order, arrays flat or not; `launch` makes a call of a
    kernel on the same arguments, with a kind of check. `is_right` sees the arrays after one call.
    `trusts_checks`: the kernel leaves it to the checked mode that nothing outside is touched.
    """

    name: str
    arguments: Callable[[], list[Any]]
    kernel: Any
    launch: Callable[[Any, list[Any], str], Call]
    is_right: Callable[[list[Array]], bool]
    source: str
    global_size: tuple[int, ...]
    local_sizes: tuple[tuple[int, ...] | None, ...] = (None,)
    moved_bytes: int | None = None
    flops: int | None = None
    trusts_checks: bool = False

    def ours(self, arguments: list[Any], *, check: str = "auto", contract: bool = False) -> Call:
        """A call of our kernel on these arguments."""
        kernel = _contracted(self.kernel) if contract else self.kernel
        return self.launch(kernel, arguments, check)

    def result(self, **variant: Any) -> Array:
        """What our kernel makes of the last array, which is checked unless the row contracts."""
        arguments = self.arguments()
        self.ours(arguments, **variant)()
        arrays: list[Array] = [each for each in arguments if isinstance(each, np.ndarray)]
        if not variant.get("contract") and not self.is_right(arrays):
            raise AssertionError(f"{self.name}: our answer is wrong {variant}")
        return arrays[-1]

    def check_contracted(self, who: str, found: Array) -> None:
        """Whoever rounds less often than we do: nearly all elements must be nearly ours."""
        close = np.isclose(found, self.result(), rtol=1e-4, atol=1e-5)
        if close.mean() < 0.995:
            raise AssertionError(f"{self.name}: {close.mean():.2%} of the answer of {who} is right")

    @property
    def opencl(self) -> str:
        """The hand-written OpenCL C, held to the arithmetic that cubepy promises."""
        return NO_CONTRACTION + self.source


def random(seed: int) -> np.random.Generator:
    """The same numbers on both sides and in every run."""
    return np.random.default_rng(seed)


@functools.cache
def _contracted(kernel: Any) -> Any:
    """The same kernel, in which a product and a sum round once."""
    return cb.cube(contract=True)(kernel.function)


def over_last(kernel: Any, arguments: list[Any], check: str) -> Call:
    """One unit for each element of the last argument."""
    launch = kernel.over(arguments[-1].size, check=check)
    return lambda: launch(*arguments)

"""Division by one number many times: a product and two shifts in place of each division.

Multiplier and shifts are computed once, on the host; kernels are given them, or hold them as a
constant. The method is that of Granlund and Montgomery, "Division by Invariant Integers using
Multiplication" (PLDI 1994), figure 4.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import cubepy as cb
from cubepy.errors import ArgumentError
from cubepy.frontend import u32

__all__ = ["FastDivmod"]


@cb.struct
class FastDivmod:
    """A divisor of u32 numbers with what makes dividing by it fast; `of` makes one.

    ::

        @cb.cube
        def transpose(x: Array[f32], columns: cb.FastDivmod, out: Tensor[f32]):
            row, column = columns.divmod(u32(cb.ABSOLUTE_POS))
            out[column, row] = x[cb.ABSOLUTE_POS]

        transpose.over(x.size)(x, cb.FastDivmod.of(40), out)
    """

    divisor: u32
    multiplier: u32
    first_shift: u32
    second_shift: u32

    @classmethod
    def of(cls, divisor: int) -> FastDivmod:
        """For a divisor from 1 to 2**32 - 1."""
        if not isinstance(divisor, (int, np.integer)):
            raise ArgumentError(
                f"FastDivmod divides by a whole number, not by {divisor!r}\n"
                "  help: for example FastDivmod.of(7); for other divisors write // and %"
            )
        if not 0 < divisor < 2**32:
            raise ArgumentError(
                f"FastDivmod divides by 1 to 4294967295, not by {divisor}\n"
                "  help: for other divisors write // and %"
            )
        bits = (int(divisor) - 1).bit_length()
        multiplier = (((1 << bits) - divisor) << 32) // divisor + 1
        parts: Any = (divisor, multiplier, min(bits, 1), max(bits - 1, 0))
        return cls(*parts)

    def divide(self, number: Any) -> Any:
        """`number // divisor` for a u32."""
        value = cb.u32(number)
        high = cb.mul_hi(value, self.multiplier)
        return (high + ((value - high) >> self.first_shift)) >> self.second_shift

    def divmod(self, number: Any) -> Any:
        """The quotient and the rest of a u32."""
        quotient = self.divide(number)
        return quotient, cb.u32(number) - quotient * self.divisor

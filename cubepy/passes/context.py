"""What every pass is given beside the kernel: the target, the device library, the native ops, and
whom to tell what it decided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cubepy.ir import Function, OpDef, Scalar
from cubepy.records import dataclass
from cubepy.target import Remark, Target, no_remark

__all__ = ["Library", "PassContext", "no_library"]

# The definition of a library op for the type of its first operand, after the functions it calls.
Library = Callable[[OpDef, Scalar], Sequence[Function]]


def no_library(opdef: OpDef, type: Scalar) -> Sequence[Function]:
    """The library that defines nothing: for kernels without library ops."""
    raise KeyError(f"no definition of {opdef.name} for {type}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PassContext:
    """`native` names the library ops that the target evaluates by itself; `remark` takes what a
    pass decided, for people.
    """

    target: Target
    library: Library = no_library
    native: frozenset[str] = frozenset()
    remark: Remark = no_remark

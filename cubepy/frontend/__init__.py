"""Python to typed IR: `capture`, `specialize`, `lower`, and the language's own names.

Other packages import from here, never from the modules inside.
"""

from cubepy.frontend import (  # noqa: F401 (each registers what it lowers)
    calls,
    cooperation,
    expressions,
    functions,
    intrinsics,
    loops,
    memory,
    statements,
)
from cubepy.frontend.captures import Captures, read_captures, source_of
from cubepy.frontend.lang import Array, Comptime, Intrinsic, PlaneSize, Position, Tensor
from cubepy.frontend.lower import lower
from cubepy.frontend.signature import LaunchOptions, Specialization, specialize
from cubepy.frontend.source import KernelSource, capture

__all__ = [
    "Array",
    "Captures",
    "Comptime",
    "Intrinsic",
    "KernelSource",
    "LaunchOptions",
    "PlaneSize",
    "Position",
    "Specialization",
    "Tensor",
    "capture",
    "lower",
    "read_captures",
    "source_of",
    "specialize",
]

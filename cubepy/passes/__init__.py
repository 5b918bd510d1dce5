"""IR to IR: one verb per file; docs/ir.md tells what they do and the pipeline in which order.

A pass takes a kernel and a :class:`PassContext` and gives a kernel; its module's docstring shows
Before and After, which a test runs.
"""

from cubepy.passes.annotate_buffer_access import annotate_buffer_access
from cubepy.passes.context import Library, PassContext, no_library
from cubepy.passes.expand_library import expand_library
from cubepy.passes.fold_plane_dim import fold_plane_dim
from cubepy.passes.inline_functions import inline_functions
from cubepy.passes.nest_early_returns import nest_early_returns
from cubepy.passes.pipeline import PIPELINES, TARGET_LEVELS, Pass, run

__all__ = [
    "PIPELINES",
    "TARGET_LEVELS",
    "Library",
    "Pass",
    "PassContext",
    "annotate_buffer_access",
    "expand_library",
    "fold_plane_dim",
    "inline_functions",
    "nest_early_returns",
    "no_library",
    "run",
]

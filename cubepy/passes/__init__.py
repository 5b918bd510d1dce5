"""IR to IR: one verb per file; docs/ir.md tells what they do and the pipeline in which order.

A pass takes a kernel and a :class:`PassContext` and gives a kernel; its module's docstring shows
Before and After, which a test runs.
"""

from cubepy.passes.annotate_buffer_access import annotate_buffer_access
from cubepy.passes.check_cooperation import check_cooperation
from cubepy.passes.choose_intrinsics import choose_intrinsics
from cubepy.passes.context import Library, PassContext, no_library
from cubepy.passes.drop_bounds_checks import drop_bounds_checks
from cubepy.passes.eliminate_dead_code import eliminate_dead_code
from cubepy.passes.eliminate_dead_stores import eliminate_dead_stores
from cubepy.passes.expand_library import expand_library
from cubepy.passes.flatten_positions import flatten_positions
from cubepy.passes.fold_plane_dim import fold_plane_dim
from cubepy.passes.forward_locals import forward_locals
from cubepy.passes.hoist_loop_invariants import hoist_loop_invariants
from cubepy.passes.inline_cooperation import inline_cooperation
from cubepy.passes.inline_functions import inline_functions
from cubepy.passes.inline_memory import inline_memory
from cubepy.passes.nest_early_returns import nest_early_returns
from cubepy.passes.pipeline import PIPELINES, TARGET_LEVELS, Pass, level_of, run
from cubepy.passes.place_shared_memory import place_shared_memory
from cubepy.passes.promote_private_arrays import promote_private_arrays
from cubepy.passes.select_cheap_branches import select_cheap_branches
from cubepy.passes.separate_whole_cubes import separate_whole_cubes
from cubepy.passes.separate_whole_turns import separate_whole_turns
from cubepy.passes.share_subexpressions import share_subexpressions
from cubepy.passes.simplify import simplify
from cubepy.passes.split_locals import split_locals
from cubepy.passes.unroll_loops import unroll_loops
from cubepy.passes.write_out_short_loops import write_out_short_loops

__all__ = [
    "PIPELINES",
    "TARGET_LEVELS",
    "Library",
    "Pass",
    "PassContext",
    "annotate_buffer_access",
    "check_cooperation",
    "choose_intrinsics",
    "drop_bounds_checks",
    "eliminate_dead_code",
    "eliminate_dead_stores",
    "expand_library",
    "flatten_positions",
    "fold_plane_dim",
    "forward_locals",
    "hoist_loop_invariants",
    "inline_cooperation",
    "inline_functions",
    "inline_memory",
    "level_of",
    "nest_early_returns",
    "no_library",
    "place_shared_memory",
    "promote_private_arrays",
    "run",
    "select_cheap_branches",
    "separate_whole_cubes",
    "separate_whole_turns",
    "share_subexpressions",
    "simplify",
    "split_locals",
    "unroll_loops",
    "write_out_short_loops",
]

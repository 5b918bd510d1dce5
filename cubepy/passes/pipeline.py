"""Which passes run for which target, in order: the tuples below are meant to be read aloud.

With `check=True` (the test suite) `run` verifies after every pass and at the end at the target's
level. An error inside a pass names it and carries the kernel it was given as a note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cubepy.errors import SourceError
from cubepy.ir import LEVELS, Kernel, Op, print_kernel, verify
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
from cubepy.target import OPTIMIZATIONS, Remark, Target, no_remark

__all__ = ["PIPELINES", "TARGET_LEVELS", "Pass", "level_of", "run"]

Pass = Callable[[Kernel, PassContext], Kernel]
Observe = Callable[[str, Kernel], None]

# What languages share whose compilers read source text.
_FOR_SOURCE_TEXT: tuple[Pass, ...] = (
    forward_locals,
    eliminate_dead_stores,
    split_locals,
    simplify,
    unroll_loops,
    promote_private_arrays,
    share_subexpressions,
    select_cheap_branches,
    forward_locals,
    eliminate_dead_stores,
    simplify,
    drop_bounds_checks,
)
PIPELINES: Mapping[str, tuple[Pass, ...]] = {
    "reference": (
        check_cooperation,
        choose_intrinsics,
        expand_library,
        fold_plane_dim,
        annotate_buffer_access,
    ),
    "cpu": (
        check_cooperation,
        choose_intrinsics,
        expand_library,
        fold_plane_dim,
        nest_early_returns,
        inline_functions,
        nest_early_returns,
        forward_locals,
        eliminate_dead_stores,
        split_locals,
        simplify,
        unroll_loops,
        promote_private_arrays,
        share_subexpressions,
        select_cheap_branches,
        forward_locals,
        eliminate_dead_stores,
        simplify,
        hoist_loop_invariants,
        write_out_short_loops,
        simplify,
        drop_bounds_checks,
        share_subexpressions,
        eliminate_dead_code,
        place_shared_memory,
        annotate_buffer_access,
    ),
    "opencl": (
        check_cooperation,
        choose_intrinsics,
        expand_library,
        fold_plane_dim,
        flatten_positions,
        inline_cooperation,
        nest_early_returns,
        *_FOR_SOURCE_TEXT,
        separate_whole_turns,
        separate_whole_cubes,
        simplify,
        share_subexpressions,
        eliminate_dead_code,
        place_shared_memory,
        annotate_buffer_access,
    ),
    "wgsl": (
        check_cooperation,
        choose_intrinsics,
        expand_library,
        fold_plane_dim,
        flatten_positions,
        inline_cooperation,
        inline_memory,
        nest_early_returns,
        *_FOR_SOURCE_TEXT,
        share_subexpressions,
        eliminate_dead_code,
        place_shared_memory,
        annotate_buffer_access,
    ),
}
# What a target's emitter expects, apart from the library ops it has as its own.
TARGET_LEVELS: Mapping[str, str] = {
    "reference": "expanded",
    "cpu": "flat",
    "opencl": "expanded",
    "wgsl": "expanded",
}


def run(
    kernel: Kernel,
    target: Target,
    library: Library = no_library,
    *,
    native: frozenset[str] = frozenset(),
    observe: Observe | None = None,
    remark: Remark = no_remark,
    check: bool = False,
) -> Kernel:
    """The kernel after the passes of the target's language.

    `library` defines the ops of the device library, `native` names those that the target evaluates
    itself. `observe(name, kernel)` is called after every pass, first with "lowered"; `remark` with
    what passes decided.
    """
    context = PassContext(target=target, library=library, native=native, remark=remark)
    sound: set[Op] = set()  # what one pass leaves as it is need not be looked at after the next
    if observe is not None:
        observe("lowered", kernel)
    for step in PIPELINES[target.language]:
        if step.__name__ in OPTIMIZATIONS and not target.does(step.__name__):
            continue
        kernel = _step(step, kernel, context, sound if check else None)
        if observe is not None:
            observe(step.__name__, kernel)
    if check:
        verify(kernel, level_of(target, native), sound)
    return kernel


def _step(step: Pass, kernel: Kernel, context: PassContext, sound: set[Op] | None) -> Kernel:
    """The kernel after a pass, verified if there is a set of ops known to be `sound`."""
    try:
        made = step(kernel, context)
        if sound is not None and made is not kernel:
            verify(made, sound=sound)
    except SourceError:
        raise  # the user's mistake, with its place
    except Exception as error:
        error.add_note(f"in the pass {step.__name__}, which was given:\n{print_kernel(kernel)}")
        raise
    return made


def level_of(target: Target, native: frozenset[str] = frozenset()) -> frozenset[str]:
    """The names of the ops that an emitter of the target may meet; `native` as in `run`."""
    return LEVELS[TARGET_LEVELS[target.language]] | native

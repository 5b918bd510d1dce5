"""The optimisations of the CPU target by name, each of which a target's text can do without.

`cpu+without=strided` or `cpu+without=strided,tallies` is the same target with those switched off,
for finding the one that a wrong answer or a slow kernel is due to. Passes go by their own names.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["OPTIMIZATIONS"]

#: What each does where it is not switched off.
OPTIMIZATIONS: Mapping[str, str] = {
    "addresses": "addresses move on where their subscripts are made, outside of loops",
    "alone": "one unit at a time, in scalars, where lanes would only hinder each other",
    "bands": "gangs of several rows, where what a loop loads for one serves all",
    "columns": "lanes run along y where memory does",
    "divisions": "`i // n`, `i % n` along the lanes by one scalar division a vector",
    "facts": "a version of the code without masks and tests, behind a test of its guards",
    "narrow": "gathers behind one test of all lanes keep their 32-bit subscripts",
    "neighbours": "`x[4*i]`, `x[4*i + 1]` … as whole vectors and shuffles",
    "planes": "reductions of several planes share their steps",
    "ranges": "what a loop reads along its range is tested once, ahead of the loop",
    "several": "several vectors a gang, so that latency is hidden",
    "staging": "what all rows of a task read in a loop is copied side by side first",
    "straight": "`i // n`, `i % n` and clamps in subscripts as scalars, behind a test of each gang",
    "strided": "elements a few or a run-time number apart without gathers",
    "tallies": "buffers only counted in are counted in by each thread for itself",
    "together": "loops and arms without masks while all lanes go the same way",
    "whole": "one test for all lanes of an access in a loop",
    "drop_bounds_checks": "pass: accesses shown to lie inside are not tested",
    "eliminate_dead_stores": "pass",
    "forward_locals": "pass",
    "hoist_loop_invariants": "pass",
    "promote_private_arrays": "pass: private arrays whose subscripts are constants are variables",
    "select_cheap_branches": "pass: short branches become a choice of two values",
    "share_subexpressions": "pass",
    "simplify": "pass",
    "split_locals": "pass",
    "unroll_loops": "pass: loops over private arrays are written out",
    "write_out_short_loops": "pass: and so are short ones of known length",
}

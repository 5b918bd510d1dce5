"""Which helper functions only compute: a call may stand anywhere its arguments are known."""

from __future__ import annotations

from cubepy.ir import Function, Kernel, Op, Trait, ops, walk

__all__ = ["pure_functions"]

_OWN = frozenset({ops.LOCAL, ops.LOAD_LOCAL, ops.STORE_LOCAL})


def pure_functions(kernel: Kernel) -> frozenset[str]:
    """Names of the functions that neither read nor write memory nor wait for other units."""
    pure: set[str] = set()
    for function in kernel.functions:
        if _is_pure(function, pure):
            pure.add(function.name)
    return frozenset(pure)


def _is_pure(function: Function, pure: set[str]) -> bool:
    return all(_computes(op, pure) for op in walk(function.body))


def _computes(op: Op, pure: set[str]) -> bool:
    if op.opdef is ops.CALL:
        return str(op.attrs["callee"]) in pure
    harmless = op.opdef.has(Trait.PURE) or op.opdef.has(Trait.CONTROL) or op.opdef.has(Trait.EXIT)
    return harmless or op.opdef in _OWN

"""Warnings of comparisons that types alone decide: `x < 0` of a u32 never holds.

Functions that may be lowered for other types as well, where the same comparison makes sense, are
left alone.
"""

from __future__ import annotations

import ast

from cubepy.errors import Diagnostic, shown
from cubepy.frontend.descriptions import snippet
from cubepy.frontend.frame import Frame
from cubepy.frontend.watched import is_fixed
from cubepy.ir import U64, Scalar

__all__ = ["warn_of_limits"]


def warn_of_limits(
    frame: Frame, operand: ast.AST, type: Scalar, number: int, at: ast.AST, *, holds: bool
) -> None:
    """Warn of a comparison with a number that no value of the type makes come out differently."""
    if _is_generic(frame):
        return
    if holds and isinstance(at, ast.Compare) and len(at.ops) > 1:
        return  # `0 <= i < n` tests both ends, whatever the type
    text = snippet(at)
    text = "this comparison" if text == "…" else text
    reason = (
        f"{type} is never below zero"
        if number <= 0 and not type.is_signed
        else f"{type} goes from {shown(type.minimum)} to {shown(type.maximum)}"
    )
    frame.session.warn(
        Diagnostic(
            message=f"{text} is always {str(holds).lower()}, because {reason}",
            loc=frame.loc(at),
            help=_fix(operand, type),
        )
    )


def _fix(operand: ast.AST, type: Scalar) -> str:
    """What may have been meant."""
    signed = None if type.is_signed or type == U64 else "i64"
    if isinstance(operand, ast.BinOp) and isinstance(operand.op, ast.Sub) and not type.is_signed:
        left, right = snippet(operand.left), snippet(operand.right)
        return f"a difference wraps: compare {left} with {right}" + (
            f", or convert before: {signed}({left}) - {right}" if signed else ""
        )
    if signed is not None:
        return f"leave it out, or compute in {signed}: {signed}({snippet(operand)})"
    return "leave it out, or compare with a number that the type has"


def _is_generic(frame: Frame) -> bool:
    """Whether a function may be lowered for other types too, or is not the user's."""
    if frame.generics or is_fixed(frame.source.function.__module__):
        return True
    arguments = frame.node.args
    entries = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return any(entry.annotation is None for entry in entries if entry.arg != "self")

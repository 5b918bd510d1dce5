"""The door to the parser, which is opened when a text is first read: few programs ever do."""

from __future__ import annotations

from cubepy.ir.nodes import Kernel
from cubepy.late import late_import

__all__ = ["parse_kernel"]


def parse_kernel(text: str) -> Kernel:
    """The kernel that a text describes; raises ParseError with line, column, what was expected."""
    # Late, because lark takes longer to import than the rest of `cubepy.ir`.
    with late_import:
        from cubepy.ir import parser  # noqa: PLC0415

    return parser.parse_kernel(text)

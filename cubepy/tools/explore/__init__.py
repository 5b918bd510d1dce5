"""`cubepy explore FILE:KERNEL`: one page with a kernel beside everything it became."""

from cubepy.tools.explore.command import explore

__all__ = ["explore"]

"""`cubepy shrink SCRIPT`: a smaller script that still fails in the same way."""

from cubepy.tools.shrinking.command import shrink
from cubepy.tools.shrinking.reduction import shrunk

__all__ = ["shrink", "shrunk"]

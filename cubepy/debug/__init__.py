"""`cb.debug`: a kernel on several devices, and where they first say something different."""

from cubepy.debug.comparison import Comparison, Local, compare

__all__ = ["Comparison", "Local", "compare"]

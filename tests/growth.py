"""Whether more work takes longer by no more than it should, whatever else a machine does meanwhile.

Processor time of this process counts, of short and long work in turn, the best of each: what else
runs may slow some of them, and makes none quicker.
"""

import gc
import time
from collections.abc import Callable

__all__ = ["assert_grows_less"]

_TURNS = 6


def assert_grows_less(short: Callable[[], object], long: Callable[[], object], most: float) -> None:
    """Fail if `long` takes `most` times as long as `short`, or longer."""
    best = [float("inf"), float("inf")]
    for _ in range(_TURNS):
        best = [min(*pair) for pair in zip(best, map(_seconds, (short, long)), strict=True)]
        if best[1] < most * best[0]:
            return
    raise AssertionError(f"{best[1]:.3g} s are {best[1] / best[0]:.3g} times {best[0]:.3g} s")


def _seconds(work: Callable[[], object]) -> float:
    gc.collect()
    begun = time.process_time()
    work()
    return time.process_time() - begun

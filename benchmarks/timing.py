"""How everything here is timed, so that two figures may stand side by side.

Wall-clock time of whole calls, after calls that do not count. The best run is what the code can do.
"""

import time
from collections.abc import Callable, Mapping
from statistics import median

from numpy.random import default_rng


def measure(call: Callable[[], object], *, repeats: int = 15, warm_up: int = 3) -> float:
    """Milliseconds of the best run of `call`, which has finished its work when it returns."""
    for _ in range(warm_up):
        call()
    samples = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        samples.append((time.perf_counter() - start) * 1e3)
    return min(samples)


def in_turns(
    calls: Mapping[str, Callable[[], object]], *, turns: int, patience_s: float = 5.0
) -> dict[str, list[float]]:
    """Milliseconds of each call, turn by turn, so that all meet the same machine. A first turn does
    not count; a call that has used up its patience sits out the turns that are left.

    Each turn has an order of its own: threads of a peer may wait for more work in a loop, on the
    core that whoever comes next is timed on.
    """
    samples: dict[str, list[float]] = {name: [] for name in calls}
    spent = dict.fromkeys(calls, 0.0)
    names, orders = list(calls), default_rng(0)
    for turn in range(turns + 1):
        for name in (names[number] for number in orders.permutation(len(names))):
            if turn > 1 and spent[name] > patience_s:
                continue
            start = time.perf_counter()
            calls[name]()
            taken = time.perf_counter() - start
            spent[name] += taken
            if turn:
                samples[name].append(taken * 1e3)
    return samples


def ratio(ours: list[float], theirs: list[float]) -> float:
    """The median over the turns that both took part in."""
    return median(a / b for a, b in zip(ours, theirs, strict=False))

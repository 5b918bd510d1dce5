"""What the table is held to, as figures with limits: ours beside the best peer and the machine.

Rows and peers that were not measured have no figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import geometric_mean
from typing import Any

from benchmarks.figures import Figure

__all__ = ["targets"]

Result = dict[str, Any]

# Rows apart from the mean over all others: libraries' ground, and atomics that contend.
_PRODUCTS = ("product_1000", "product_1023", "product_1024", "product_2048", "product_turned")
_APART = (*_PRODUCTS, "histogram")
_FOR_MEMORY = ("saxpy", "brighten", "hashes", "stencil", "cubes_8x8", "cubes_16x4", "cubes_5x7",
               "swapped", "plane_sums")  # fmt: skip
_FOR_ARITHMETIC = ("sin", "power", "gelu", "tanh_gelu", "black_scholes", "roots", "mandelbrot",
                   "n_body", "naive_matmul", "tiled_matmul", *_PRODUCTS)  # fmt: skip
_BESIDE_INTEL = {"naive_matmul": 0.1, "tiled_matmul": 0.35, "histogram": 0.03}
_INTEL = "Intel OpenCL"
# Shares of the processor's multiply-adds.
_OF_PEAK = {name: 0.75 if name[-4:] in ("1000", "1023") else 0.85 for name in _PRODUCTS}


def targets(results: Sequence[Result]) -> Iterator[Figure]:
    """All that was measured, number of threads by number of threads."""
    for result in results:
        rows = {row["row"]: row for row in result["rows"]}
        name = f"{result['threads']} threads"
        yield from _beside_peers(name, rows)
        yield from _beside_the_machine(name, rows)
        yield from _with_tests(name, rows)
    yield from _by_threads(results)


def _beside_peers(name: str, rows: dict[str, Any]) -> Iterator[Figure]:
    best = {
        row: each["ours_over"][each["best_peer"]] for row, each in rows.items()
        if each["best_peer"]
    }  # fmt: skip
    kernels = {row: ratio for row, ratio in best.items() if row not in _APART}
    if kernels:
        mean = f"{name}: ours ÷ best peer, mean of {len(kernels)} rows"
        yield Figure(name=mean, value=geometric_mean(kernels.values()), unit="", limit=0.5)
        worst = max(kernels, key=lambda row: kernels[row])
        shown = f"{name}: worst of them, {worst} beside {rows[worst]['best_peer']}"
        yield Figure(name=shown, value=kernels[worst], unit="", limit=1.02)
    for row, limit in _BESIDE_INTEL.items():
        if row in rows and _INTEL in rows[row]["ours_over"]:
            ratio = rows[row]["ours_over"][_INTEL]
            yield Figure(name=f"{name}: {row} ÷ {_INTEL}", value=ratio, unit="", limit=limit)
    for row in _PRODUCTS:
        if row in best:
            shown = f"{name}: {row} ÷ {rows[row]['best_peer']}"
            yield Figure(name=shown, value=best[row], unit="", limit=1.05)


def _beside_the_machine(name: str, rows: dict[str, Any]) -> Iterator[Figure]:
    least = dict.fromkeys(_FOR_MEMORY, 0.9) | _OF_PEAK
    for row, limit in least.items():
        if row in rows:
            shown = f"{name}: {row}, share of what the machine allows"
            value = rows[row]["limit_over_ours"]
            yield Figure(name=shown, value=value, unit="", limit=limit, least=True)


def _with_tests(name: str, rows: dict[str, Any]) -> Iterator[Figure]:
    ratios = {
        row: each["ours_over"]["unchecked"] for row, each in rows.items()
        if "unchecked" in each["ours_over"]
    }  # fmt: skip
    for row, ratio in ratios.items():
        if ratio > 1.05 or ratio == max(ratios.values()):
            shown = f"{name}: {row}, checked ÷ unchecked"
            yield Figure(name=shown, value=ratio, unit="", limit=1.05)


def _by_threads(results: Sequence[Result]) -> Iterator[Figure]:
    """Rows that arithmetic limits, on one thread and on two."""
    taken = {
        result["threads"]: {row["row"]: row["best_ms"]["ours"] for row in result["rows"]}
        for result in results
    }
    if not {1, 2} <= taken.keys():
        return
    gains = {row: taken[1][row] / taken[2][row] for row in _FOR_ARITHMETIC if row in taken[2]}
    for row, gain in gains.items():
        shown = f"{row}: one thread ÷ two"
        yield Figure(name=shown, value=gain, unit="×", limit=1.9, least=True)

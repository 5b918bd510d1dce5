"""What the machine can do at most, measured beside the kernels: bytes and multiply-adds."""

from dataclasses import dataclass

import numpy as np

import cubepy as cb
from benchmarks.memory_bandwidth import measure_copy
from benchmarks.rows import Row
from benchmarks.timing import measure
from cubepy import Array, Comptime, f32, i32

__all__ = ["Limits", "measure_limits"]

_TRIPS, _SUMS = 25_000, 3
_COPIED = 64 << 20


@cb.cube(contract=True)
def multiply_adds(out: Array[f32], factor: f32, more: f32, trips: i32, SUMS: Comptime[int]) -> None:
    """As many independent sums as hide what one takes, in registers alone."""
    i = cb.ABSOLUTE_POS
    total = cb.local_array(f32, SUMS)
    for r in cb.unroll(range(SUMS)):
        total[r] = out[i] + r
    for _ in range(trips):
        for r in cb.unroll(range(SUMS)):
            total[r] = total[r] * factor + more
    for r in cb.unroll(range(SUMS)):
        out[i] += total[r]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bytes moved by a copy and operations of multiply-adds, both a millisecond."""

    bytes_a_ms: float
    flops_a_ms: float

    def least_ms(self, row: Row) -> float | None:
        """What a row takes at least, by its traffic and its arithmetic; None if neither is told."""
        terms = []
        if row.moved_bytes:
            terms.append(row.moved_bytes / self.bytes_a_ms)
        if row.flops:
            terms.append(row.flops / self.flops_a_ms)
        return max(terms, default=None)


def measure_limits(threads: int) -> Limits:
    """Measure both on so many threads."""
    copy_ms = measure_copy(copied_bytes=_COPIED, threads=threads)
    units = 4 * cb.device("cpu").target.features.plane_dim
    out = np.zeros(units * 512, np.float32)
    launch = multiply_adds.over(out.size)
    factor, more = np.float32(0.5), np.float32(1.0)
    best_ms = measure(lambda: launch(out, factor, more, np.int32(_TRIPS), SUMS=_SUMS), repeats=7)
    flops = 2 * out.size * _TRIPS * _SUMS
    return Limits(bytes_a_ms=2 * _COPIED / copy_ms, flops_a_ms=flops / best_ms)

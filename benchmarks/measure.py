"""All rows on one number of threads, in a process of its own: `python -m benchmarks.measure`.

The process is tied to as many cores before anything else is imported, so every peer has the same
ones. Our kernels and all peers run turn by turn; what comes out is JSON, for `report.py`.
"""

import json
import os
import platform
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

THREADS = int(sys.argv[1]) if __name__ == "__main__" else 0
if THREADS:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[_variable] = str(THREADS)

# After the settings that NumPy reads when it is imported.
import numpy as np  # noqa: E402

from benchmarks.limits import Limits, measure_limits  # noqa: E402
from benchmarks.peers import PEERS, OpenPeer, PeerUnavailable  # noqa: E402
from benchmarks.rows import ROWS, Call, Row  # noqa: E402
from benchmarks.timing import in_turns, ratio  # noqa: E402

__all__ = ["VARIANTS", "measure_row", "open_peers"]

#: Ours as launched by default, without bounds tests, and with products and sums that round once.
VARIANTS: dict[str, dict[str, Any]] = {
    "ours": {},
    "unchecked": {"check": "unchecked"},
    "contract": {"contract": True},
}


def open_peers(threads: int, wanted: list[str]) -> tuple[dict[str, OpenPeer], dict[str, str]]:
    """The peers that are here, and why the others are not."""
    found: dict[str, OpenPeer] = {}
    missing: dict[str, str] = {}
    for peer in PEERS:
        if wanted and peer.name not in wanted:
            continue
        try:
            found[peer.name] = peer.open(threads)
        except PeerUnavailable as error:
            missing[peer.name] = str(error)
    return found, missing


def _ours(row: Row) -> dict[str, Call]:
    """Our kernel in its variants, each with its answer checked."""
    calls = {}
    for name, variant in VARIANTS.items():
        if row.trusts_checks and variant.get("check") == "unchecked":
            continue
        if "contract" in variant:
            row.check_contracted(name, row.result(**variant))
        else:
            row.result(**variant)
        calls[name] = row.ours(row.arguments(), **variant)
    return calls


def _with_kept_arguments(row: Row) -> Row:
    """The same row, whose numbers are drawn once and copied for everybody."""
    drawn = row.arguments()

    def arguments() -> list[Any]:
        return [each.copy("K") if isinstance(each, np.ndarray) else each for each in drawn]

    return replace(row, arguments=arguments)


def measure_row(row: Row, peers: dict[str, OpenPeer], limits: Limits, turns: int) -> dict[str, Any]:
    """Best times, and ours over everybody's."""
    row = _with_kept_arguments(row)
    calls = _ours(row)
    failed: dict[str, str] = {}
    for name, peer in peers.items():
        try:
            call = peer.prepare(row)
        except Exception as error:  # noqa: BLE001 (theirs, of any kind, and it is reported)
            failed[name] = f"{type(error).__name__}: {error}".splitlines()[0]
            continue
        if call is not None:
            calls[name] = call
    samples = in_turns(calls, turns=turns)
    ratios = {name: ratio(samples["ours"], samples[name]) for name in calls if name != "ours"}
    others = {name: value for name, value in ratios.items() if name not in VARIANTS}
    best = max(others, key=lambda name: others[name], default=None)
    least = limits.least_ms(row)
    fastest = {name: min(values) for name, values in samples.items()}
    return {
        "row": row.name, "best_ms": fastest, "ours_over": ratios, "best_peer": best,
        "failed": failed, "limit_ms": least,
        "limit_over_ours": None if least is None else least / fastest["ours"],
    }  # fmt: skip


def main(threads: int, turns: int, peers: str, path: str, names: list[str]) -> None:
    """Measure, telling on stderr how far it is, and write the file."""
    opened, missing = open_peers(threads, [name for name in peers.split(",") if name])
    limits = measure_limits(threads)
    rows = [row for row in ROWS if not names or row.name in names]
    measured = []
    for number, row in enumerate(rows, 1):
        print(f"\r{threads} threads: {number}/{len(rows)} {row.name:20}", end="", file=sys.stderr)
        measured.append(measure_row(row, opened, limits, turns))
    print(file=sys.stderr)
    result = {
        "threads": threads, "machine": platform.processor() or platform.machine(),
        "versions": {name: peer.version for name, peer in opened.items()}, "missing": missing,
        "copy_gb_s": limits.bytes_a_ms / 1e6, "fma_gflop_s": limits.flops_a_ms / 1e6,
        "rows": measured,
    }  # fmt: skip
    Path(path).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(THREADS, int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:])

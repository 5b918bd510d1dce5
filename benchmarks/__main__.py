"""Our kernels beside everybody else's on this machine: `python -m benchmarks [ROW …]`.

Ours run in the default checked mode; nobody contracts; kernels write into memory that they have,
libraries find memory for their results, and both are counted as they are. Each number of threads
is a process of its own. Tables go to the terminal, with what all that is held to;
`results.json` and `results.svg` go to the folder given with `--out`. The exit status is 1 if a
target is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.figures import show
from benchmarks.memory_bandwidth import available_threads
from benchmarks.peers import PEERS
from benchmarks.report import plot, summary, table
from benchmarks.rows import ROWS
from benchmarks.targets import targets

# Settings that tie NumPy's BLAS to another processor or cache.
_FOREIGN = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def measured(threads: int, turns: int, peers: str, names: list[str]) -> dict[str, Any]:
    """The result of a process with so many threads."""
    environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        order = [str(threads), str(turns), peers, str(path), *names]
        command = [sys.executable, "-m", "benchmarks.measure", *order]
        subprocess.run(command, env=environment, check=True)
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


# Columns of a table in a file, where nobody can widen the window.
_WIDTH = 200


def main() -> int:
    """Measure, print and write; 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", choices=[[], *(r.name for r in ROWS)])
    most = available_threads()
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, most}))
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument(
        "--peers", default="", help=f"some of {', '.join(peer.name for peer in PEERS)}"
    )
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"))
    chosen = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=_WIDTH)
    results = []
    for threads in chosen.threads:
        result = measured(threads, chosen.turns, chosen.peers, chosen.rows)
        results.append(result)
        console.print(table(result))
        for line in summary(result):
            console.print(line, soft_wrap=True)
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (chosen.out / "results.svg").write_text(plot(results), encoding="utf-8")
    console.print(f"written: {chosen.out / 'results.json'}, {chosen.out / 'results.svg'}")
    return show([lambda: targets(results)])


if __name__ == "__main__":
    sys.exit(main())

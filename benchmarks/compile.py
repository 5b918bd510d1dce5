"""What compiling costs: `python -m benchmarks.compile`.

Everything is timed on the CPU target with the store on disk switched off and verification as users
have it, not after every pass as this checkout's own settings say; from the first call of a kernel
that nobody has seen to its result, in CPU time; a repeated figure is the median over kernels that
differ in a constant. The demo runs in a process of its own. The exit status is 1 if a
figure misses its limit.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np

import cubepy as cb
from benchmarks.figures import Figure, show

REPEATS = 5
SWITCHED_OFF = {"CUBEPY_CACHE": "false", "CUBEPY_VERIFY": "stages"}

SMALL = """
@cb.cube
def small(a: f32, x: Array[f32], y: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(y):
        y[i] = a * x[i] + y[i] + {number}
"""


def straight_line(number: int) -> str:
    """A thousand operations, none of which another one makes superfluous."""
    lines = [f"    v = (v * {1 + k % 7}.5 + {number}.25) * a - v" for k in range(250)]
    head = "@cb.cube\ndef straight(a: f32, x: Array[f32], y: Array[f32]) -> None:\n"
    return head + "    i = cb.ABSOLUTE_POS\n    v = x[i]\n" + "\n".join(lines) + "\n    y[i] = v\n"


def first_call_ms(text: str) -> float:
    """CPU time of the first call of the kernel that a text defines."""
    names: dict[str, Any] = {"cb": cb, "Array": cb.Array, "f32": cb.f32}
    known = set(names)
    cb.exec(text, names)
    (kernel,) = (value for name, value in names.items() if name not in known and name[0] != "_")
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    launch = kernel.over(64)
    start = time.process_time()
    launch(np.float32(1.0), x, y)
    return 1e3 * (time.process_time() - start)


def kernels() -> Iterator[Figure]:
    """Kernels in a process that has compiled before."""
    first_call_ms(SMALL.format(number=99))
    sources: tuple[tuple[str, Callable[[int], str], float], ...] = (
        ("a small kernel", lambda number: SMALL.format(number=number), 40),
        ("1,000 operations in a line", straight_line, 80),
    )
    for name, source, limit in sources:
        taken = median(first_call_ms(source(number)) for number in range(REPEATS))
        yield Figure(name=name, value=taken, unit="ms", limit=limit)


DEMO = """
import time
from benchmarks.compile import SMALL, first_call_ms
from examples import demo
from examples.showcase import load_digits, photograph
first_call_ms(SMALL.format(number=99))
for job in demo._jobs(photograph(), load_digits()):
    for launch in job.launches:
        start = time.process_time()
        launch()
        first = time.process_time() - start
        start = time.process_time()
        launch()
        print(1e3 * (first - time.process_time() + start), launch.kernel.function.__name__, sep=" ")
"""


def demo() -> Iterator[Figure]:
    """The kernel of the demo that takes longest."""
    done = subprocess.run(
        [sys.executable, "-c", DEMO], env={**os.environ, **SWITCHED_OFF},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    taken = [line.split(" ", 1) for line in done.stdout.splitlines()]
    most, name = max((float(milliseconds), name) for milliseconds, name in taken)
    yield Figure(name=f"the demo's slowest to compile, {name}", value=most, unit="ms", limit=400)


def main() -> int:
    """Measure in a process whose store is switched off, which is read when cubepy is imported."""
    if os.environ.get("CUBEPY_CACHE") == "false":
        return show((kernels, demo))
    again = [sys.executable, "-m", "benchmarks.compile"]
    return subprocess.run(again, env={**os.environ, **SWITCHED_OFF}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

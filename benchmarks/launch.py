"""What a launch costs, beside `np.add(a, b, out=c)` on 64 elements: `python -m benchmarks.launch`.

Every way to launch is timed turn by turn with NumPy's, in one process, in the default checked mode;
a ratio is the median of the turns' ratios, and times are the best. Starts are timed in
processes of their own, whose kernels an earlier one has compiled. The exit status is 1 if a figure
misses its limit.
"""

import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import numpy as np

import cubepy as cb
from benchmarks.figures import Figure, show
from cubepy import Array, f32
from cubepy.runtime import switches

ELEMENTS = 64
TURNS = 41
CALLS = 2000
LAUNCHERS = 8

Call = Callable[[], object]


@cb.cube
def add(a: Array[f32], b: Array[f32], c: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(c):
        c[i] = a[i] + b[i]


@cb.cube
def iterate(x: Array[f32], steps: cb.i32) -> None:
    i = cb.ABSOLUTE_POS
    v = x[i]
    for _ in range(steps):
        v = v * 0.5 + 1.0
    x[i] = v


def per_call(call: Call, calls: int = CALLS) -> float:
    """Microseconds."""
    begun = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begun) / calls * 1e6


def per_call_of(statement: Callable[[int], object], calls: int = CALLS) -> float:
    """Microseconds of one trip of a function that loops itself, so that its line is timed alone."""
    begun = time.perf_counter()
    statement(calls)
    return (time.perf_counter() - begun) / calls * 1e6


def turns(first: Callable[[int], object], second: Callable[[int], object]) -> tuple[float, float]:
    """The median ratio of first to second, and the best of the first in microseconds."""
    pairs = [(per_call_of(first), per_call_of(second)) for _ in range(TURNS)][TURNS // 4 :]
    return median(mine / theirs for mine, theirs in pairs), min(mine for mine, _ in pairs)


def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a, b, c = (np.ones(ELEMENTS, np.float32) for _ in range(3))
    return a, b, c


def launches() -> Iterator[Figure]:
    """The ways to launch beside NumPy's call."""
    a, b, c = arrays()
    hoisted = add.over(ELEMENTS)
    prepared = hoisted.prepare(a, b, c)
    hoisted(a, b, c)

    def theirs(calls: int) -> None:
        for _ in range(calls):
            np.add(a, b, out=c)

    def written_out(calls: int) -> None:
        for _ in range(calls):
            add.over(ELEMENTS)(a, b, c)

    def held(calls: int) -> None:
        for _ in range(calls):
            hoisted(a, b, c)

    def settled(calls: int) -> None:
        for _ in range(calls):
            prepared(a, b, c)

    for name, way, limit in (
        ("k.over(64)(a, b, c)", written_out, 0.5),
        ("f = k.over(64); f(a, b, c)", held, 0.25),
        ("k.over(64).prepare(…)(a, b, c)", settled, 0.25),
    ):
        ratio, microseconds = turns(way, theirs)
        described = f"{name}: {microseconds:.3f} µs"
        yield Figure(name=described, value=ratio, unit="× np.add", limit=limit)
    switches.closed += 1
    try:
        general = min(per_call_of(held, 200) for _ in range(5 * TURNS))
    finally:
        switches.closed -= 1
    yield Figure(name="the general path", value=general, unit="µs", limit=3.0)
    with cb.capture() as recording:
        for _ in range(CALLS):
            hoisted(a, b, c)
    replayed = min(per_call(recording.replay, 1) for _ in range(TURNS)) / CALLS
    yield Figure(name="a kernel of a replay", value=replayed, unit="µs", limit=0.1)


def throughput(call: Call, launchers: int, seconds: float) -> float:
    """Launches a second of so many threads together."""
    counts, begin = [0] * launchers, threading.Barrier(launchers + 1)
    until = [0.0]

    def work(number: int) -> None:
        begin.wait()
        while time.perf_counter() < until[0]:
            for _ in range(8):
                call()
            counts[number] += 8

    threads = [threading.Thread(target=work, args=(number,)) for number in range(launchers)]
    for thread in threads:
        thread.start()
    started = time.perf_counter()
    until[0] = started + seconds
    begin.wait()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - started)


def calls_of_a_millisecond() -> Call:
    """A launch that keeps all threads busy for about a millisecond."""
    x = np.ones(1 << 14, np.float32)
    launch = iterate.over(x.size)

    def call_of(steps: int) -> Call:
        return lambda: launch(x, steps)

    steps = 64
    while per_call(call_of(steps), 20) < 1000:
        steps = steps * 5 // 4
    return call_of(steps)


def small_calls() -> Call:
    a, b, c = arrays()
    launch = add.over(ELEMENTS)
    launch(a, b, c)

    def several() -> None:
        for _ in range(200):
            launch(a, b, c)

    return several


def launchers() -> Iterator[Figure]:
    """Eight threads that launch beside one that does."""
    ratio = median(kept(calls_of_a_millisecond()) for _ in range(9))
    unit = "× one thread"
    yield Figure(name="8 threads, launches of 1 ms", value=ratio, unit=unit, limit=0.95, least=True)
    # Python's threads take turns, which costs something whatever they do: NumPy's calls show it.
    ours, theirs = small_calls(), small_calls_of_numpy()
    pairs = [(kept(ours), kept(theirs)) for _ in range(9)]
    lost = median(theirs for _, theirs in pairs)
    name = f"8 threads, launches of 64 elements (np.add {lost:.2f})"
    ratio = median(ours for ours, _ in pairs)
    yield Figure(name=name, value=ratio, unit=unit, limit=0.95, least=True)


def kept(call: Call) -> float:
    """Launches of eight threads to those of one."""
    return throughput(call, LAUNCHERS, 0.4) / throughput(call, 1, 0.4)


def small_calls_of_numpy() -> Call:
    a, b, c = arrays()

    def several() -> None:
        for _ in range(200):
            np.add(a, b, out=c)

    return several


START = """
import time
begun = time.perf_counter()
import numpy as np
with_numpy = time.perf_counter()
import cubepy as cb
from cubepy import Array, f32
imported = time.perf_counter()
times = [with_numpy - begun, imported - with_numpy]
a, b, c = (np.ones(64, np.float32) for _ in range(3))
before = time.perf_counter()
{kernels}
print(*times)
"""
KERNEL = """
@cb.cube
def kernel{number}(a: Array[f32], b: Array[f32], c: Array[f32]):
    i = cb.ABSOLUTE_POS
    if i < len(c):
        c[i] = a[i] * {number}.5 + b[i]

kernel{number}.over(64)(a, b, c)
times.append(time.perf_counter() - before)
before = time.perf_counter()
"""


def starts() -> Iterator[Figure]:
    """A new process whose kernels are in the store on disk."""
    text = START.format(kernels="".join(KERNEL.format(number=n) for n in range(6)))
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(text)
        runs = [timed_start(script) for _ in range(12)][2:]
    numpy_ms, ours, first, *others = (1e3 * min(column) for column in zip(*runs, strict=True))
    yield Figure(name=f"import, above NumPy's {numpy_ms:.0f} ms", value=ours, unit="ms", limit=40)
    yield Figure(name="first warm kernel", value=first, unit="ms", limit=8)
    yield Figure(name="each further one", value=median(others), unit="ms", limit=2)


def timed_start(script: Path) -> Sequence[float]:
    # As for an installed package, whose modules are compiled, also where writing them is forbidden.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(script.parent / "compiled")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, str(script)], cwd=script.parent, env=environment,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [float(word) for word in done.stdout.split()]


def temporaries() -> Iterator[Figure]:
    """Memory of the device while buffers of random sizes come and go."""
    device, chance = cb.device("cpu"), np.random.default_rng(7)
    sizes = chance.integers(1, 1 << 20, (10_000, 3))
    held: list[cb.Buffer] = []
    levels = []
    for number, row in enumerate(sizes, start=1):
        held = [device.empty(int(size)) for size in row]
        if number in (1000, 10_000):
            stats = device.memory_stats()
            levels.append(stats.in_use + stats.idle)
    del held
    gc.collect()
    growth = 100 * (levels[1] / levels[0] - 1)
    yield Figure(name="memory, 1,000 to 10,000 temporaries", value=growth, unit="% more", limit=2)


PARTS = (launches, launchers, starts, temporaries)

if __name__ == "__main__":
    sys.exit(show(PARTS))

"""The worker pool: every task once, sharing, nesting, interruption, fork and exit."""

import contextlib
import ctypes
import itertools
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import ArgumentError, OutOfMemoryError
from cubepy.runtime import registry
from cubepy_cpu import arena, jit, probe, threads, worker_code
from cubepy_cpu.functions import Functions
from cubepy_cpu.host import host, processor_count
from cubepy_cpu.pool import Pool
from tests.unit.cpu import kernels
from tests.unit.cpu.kernels import arguments, entry

SHARE = 10**9  # a hint that sharing pays
SMALL = 1000  # a hint that it does not
UNKNOWN = 0


@pytest.fixture(params=["native", "futex", "condition"])
def code(request: pytest.FixtureRequest) -> object:
    futex, native = request.param != "condition", request.param == "native"
    if futex and not worker_code.has_futex():
        pytest.skip("no futex on this system")
    if native and probe.why_not():
        pytest.skip(probe.why_not())
    return Functions(futex=futex, native=native)


@pytest.fixture
def pool(code: Functions) -> Iterator[Pool]:
    with stopping(Pool(3, code)) as made:
        yield made


@contextlib.contextmanager
def stopping(pool: Pool) -> Iterator[Pool]:
    try:
        yield pool
    finally:
        pool.stop()


def count(pool: Pool, tasks: int, hint: int) -> np.ndarray:
    """How often each task ran, and two more places that must stay 0."""
    out = np.zeros(tasks + 2, np.int32)
    address, keep = arguments(out[1:])
    pool.run(entry(kernels.COUNT), address, tasks, 0, hint)
    del keep
    assert out[0] == 0
    assert out[-1] == 0
    return out[1:-1]


@pytest.mark.parametrize("hint", [SHARE, SMALL, UNKNOWN])
def test_every_task_runs_exactly_once(pool: Pool, hint: int) -> None:
    sizes = (1, 2, 3, 7, 63, 64, 65, 192, 193, 1000, 65_537, 3_000_000)
    for tasks in sizes:
        for _ in range(3):
            assert (count(pool, tasks, hint) == 1).all(), tasks


def test_random_launches_with_pauses_between(pool: Pool) -> None:
    """Workers are met spinning, falling asleep and asleep."""
    chance = random.Random(4)
    for _ in range(400):
        tasks = int(2 ** chance.uniform(0, 16))
        assert (count(pool, tasks, chance.choice((SHARE, SMALL, UNKNOWN))) == 1).all()
        time.sleep(chance.choice((0, 0, 0, 20e-6, 40e-6, 300e-6)))


def test_threads_work_at_the_same_time_and_wake_ups_are_not_lost(pool: Pool) -> None:
    """Three tasks that wait for one another need three threads."""
    chance = random.Random(5)
    for _ in range(150):
        out = np.zeros(2, np.int64)
        address, keep = arguments(out, 3)
        pool.run(entry(kernels.MEET), address, 3, 0, SHARE)
        del keep
        assert out.tolist() == [3, 0]
        time.sleep(chance.choice((0, 0, 20e-6, 35e-6, 500e-6)))


def test_long_work_is_shared_without_a_hint(pool: Pool) -> None:
    for _ in range(20):  # a busy machine may let the others begin too late
        log, chunks = logged(pool, 4000, UNKNOWN, 1_000_000)
        assert chunks > 10
        if len({row[2] for row in log}) > 1:
            return
    pytest.fail("one thread did it all, every time")


def logged(pool: Pool, tasks: int, hint: int, steps: int) -> tuple[list[list[int]], int]:
    out, counter = np.zeros((tasks, 3), np.int64), np.zeros(1, np.int64)
    address, keep = arguments(out, counter, steps)
    pool.run(entry(kernels.LOG), address, tasks, 64, hint)
    del keep
    return out[: counter[0]].tolist(), int(counter[0])


def test_each_thread_takes_tasks_in_increasing_order(pool: Pool) -> None:
    log, chunks = logged(pool, 5000, SHARE, 20_000)
    covered = sorted((begin, end) for begin, end, _ in log)
    assert covered[0][0] == 0
    assert covered[-1][1] == 5000
    assert all(before[1] == after[0] for before, after in itertools.pairwise(covered))
    for thread in {row[2] for row in log}:
        begins = [begin for begin, _, address in log if address == thread]
        assert begins == sorted(begins)
    assert chunks < 2000


def test_arenas_are_aligned_large_enough_and_unshared(pool: Pool) -> None:
    for size in (8, 1000, 100_000, 4_000_000, 64):
        out = np.zeros(3, np.int64)
        address, keep = arguments(out, size // 8)
        tasks = 64
        pool.run(entry(kernels.ARENA), address, tasks, size, SHARE)
        del keep
        foreign, chunks, skewed = out.tolist()
        assert (foreign, skewed) == (0, 0)
        assert 0 < chunks <= tasks


def test_arena_too_large_to_have_is_an_error_and_the_pool_goes_on(pool: Pool) -> None:
    address, keep = arguments(np.zeros(4, np.int32))
    with pytest.raises(OutOfMemoryError):
        pool.run(entry(kernels.COUNT), address, 4, 1 << 60, SHARE)
    del keep
    assert (count(pool, 1000, SHARE) == 1).all()
    assert pool.idle_slots == worker_code.SLOTS


def test_arena_of_a_thread_is_used_again() -> None:
    first = arena.take(1000)
    inner = arena.take(1000)
    assert inner.address != first.address
    arena.give_back(inner)
    arena.give_back(first)
    assert arena.take(1000) is first


def test_more_launches_at_once_than_slots(pool: Pool) -> None:
    wrong: list[object] = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(40):
            tasks = chance.choice((1, 5, 300, 20_000))
            if not (count(pool, tasks, chance.choice((SHARE, SMALL, UNKNOWN))) == 1).all():
                wrong.append(tasks)

    launchers = [threading.Thread(target=work, args=(seed,)) for seed in range(12)]
    for launcher in launchers:
        launcher.start()
    for launcher in launchers:
        launcher.join()
    assert wrong == []
    assert pool.idle_slots == worker_code.SLOTS


def test_arenas_of_launches_from_several_threads_are_apart(pool: Pool) -> None:
    totals = np.zeros((6, 3), np.int64)

    def work(out: np.ndarray) -> None:
        address, keep = arguments(out, 2000)
        for _ in range(20):
            pool.run(entry(kernels.ARENA), address, 50, 16_000, SHARE)
        del keep

    launchers = [threading.Thread(target=work, args=(row,)) for row in totals]
    for launcher in launchers:
        launcher.start()
    for launcher in launchers:
        launcher.join()
    assert totals[:, 0].tolist() == [0] * 6
    assert (totals[:, 1] > 0).all()


def workers_after(code: Functions, hint: int) -> int:
    with stopping(Pool(3, code)) as pool:
        assert (count(pool, 64, hint) == 1).all()
        return len(pool._workers)


@pytest.mark.parametrize("hint", [SMALL, UNKNOWN])
def test_small_launches_start_no_thread(code: Functions, hint: int) -> None:
    """Those that are held up in the middle do, and rightly so: not all of many are."""
    assert 0 in (workers_after(code, hint) for _ in range(20))


def test_launches_worth_sharing_start_threads(code: Functions) -> None:
    assert workers_after(code, SHARE) == 2


def test_stopped_pool_still_runs_launches_alone(code: Functions) -> None:
    pool = Pool(3, code)
    assert (count(pool, 1000, SHARE) == 1).all()
    workers = list(pool._workers)
    pool.stop()
    for worker in workers:
        worker.join(30)
    assert not any(worker.is_alive() for worker in workers)
    assert (count(pool, 100_000, SHARE) == 1).all()
    assert pool._workers == []


def test_pool_stopped_in_the_middle_of_a_launch_finishes_it(code: Functions) -> None:
    for _ in range(5):
        pool = Pool(3, code)
        out = np.zeros(3000, np.int32)
        address, keep = arguments(out, 20_000)
        stopper = threading.Timer(0.005, pool.stop)
        stopper.start()
        pool.run(entry(kernels.SLOW), address, out.size, 0, SHARE)
        stopper.join()
        del keep
        assert (out == 1).all()


def test_threads_that_cannot_be_had_are_done_without(
    code: Functions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    pool = Pool(3, code)
    assert (count(pool, 100_000, SHARE) == 1).all()
    assert pool._workers == []


@pytest.mark.skipif(host().architecture != "x86_64", reason="sets the state of x86-64 by hand")
def test_kernels_run_in_the_default_float_state_and_the_callers_comes_back(pool: Pool) -> None:
    data = jit.compile_object(kernels.CONTROL)
    prototype = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_uint32))
    denormal = entry(kernels.DENORMAL)
    get, put = (prototype(jit.load(data, name)) for name in ("get", "set"))
    before, after, odd = ctypes.c_uint32(), ctypes.c_uint32(), ctypes.c_uint32(0xFFC0)
    assert (count(pool, 3000, SHARE) == 1).all()  # starting threads computes with floats
    for hint in (SHARE, SMALL, UNKNOWN):
        out = np.full(3000, 2.0**-140, np.float32)
        address, keep = arguments(out)
        get(ctypes.byref(before))
        put(ctypes.byref(odd))  # flush denormals, round to zero
        try:
            pool.run(denormal, address, out.size, 0, hint)
            get(ctypes.byref(after))
        finally:
            put(ctypes.byref(before))
        del keep
        assert after.value == odd.value  # exception flags included
        assert (out.view(np.uint32) == (np.float32(2.0**-141)).view(np.uint32)).all()


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "2", [1]])
def test_wrong_numbers_of_threads_are_refused(wrong: object) -> None:
    with pytest.raises(ArgumentError, match="set_num_threads"):
        threads.set_num_threads(wrong)  # type: ignore[arg-type]


def test_number_of_threads_is_used() -> None:
    try:
        for number in (1, 4, 2):
            threads.set_num_threads(number)
            assert threads.num_threads() == number
            out = np.zeros(2, np.int64)
            address, keep = arguments(out, number)
            threads.run(entry(kernels.MEET), address, number, work_hint=SHARE)
            del keep
            assert out.tolist() == [number, 0]
    finally:
        threads.set_num_threads(None)
    assert threads.num_threads() == processor_count()


def run_script(script: str, *, timeout: float = 60) -> str:
    """Run Python code in a process of its own, whose errors fail the test; what it printed."""
    head = f"""
import atexit, ctypes, os, signal, sys, threading, time
import numpy as np
sys.path.insert(0, {str(Path(__file__).parent)!r})
import kernels
from kernels import arguments, entry
from cubepy_cpu import functions, threads
threads.set_num_threads(3)
functions.functions()
for kernel in (kernels.COUNT, kernels.SLOW, kernels.MEET):
    entry(kernel)
def count(tasks, hint=10**9):
    out = np.zeros(tasks, np.int32)
    address, keep = arguments(out)
    threads.run(entry(kernels.COUNT), address, tasks, work_hint=hint)
    return bool((out == 1).all())
def slow(tasks, steps):
    out = np.zeros(tasks, np.int32)
    address, keep = arguments(out, steps)
    return out, (lambda: threads.run(entry(kernels.SLOW), address, tasks)), keep
def signal_when_begun(out, number):
    # Sent to this process by a thread that has seen `out` being written.
    def watch():
        while not out[0]:
            time.sleep(0.001)
        os.kill(os.getpid(), number)
    threading.Thread(target=watch).start()
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", head + script],
        env=environment, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_ctrl_c_ends_a_long_launch_soon_and_nothing_runs_on() -> None:
    run_script("""
out, launch, keep = slow(1_000_000, 1_000_000)
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background job
try:
    signal_when_begun(out, signal.SIGINT)
    launch()
    raise SystemExit("not interrupted")
except KeyboardInterrupt:
    done = int(out.sum())
assert 0 < done < out.size // 10, done
time.sleep(0.05)
assert int(out.sum()) == done
for _ in range(20):
    assert count(10_000)
assert threads._state.pool.idle_slots == 8
""")


def test_launch_inside_a_launch_from_a_signal_handler() -> None:
    run_script("""
inner = []
def handler(*_):
    inner.append(count(50_000))
    inner.append(count(50_000, 1000))
    if len(inner) < 8:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
signal.signal(signal.SIGALRM, handler)
out, launch, keep = slow(2000, 500_000)
assert count(10_000)
signal_when_begun(out, signal.SIGALRM)
launches = 0
while not inner:
    launch()
    launches += 1
signal.setitimer(signal.ITIMER_REAL, 0)
assert (out == launches).all()
assert len(inner) >= 2 and all(inner), inner
""")


def test_launch_from_a_signal_handler_while_workers_are_being_started() -> None:
    """As if the signal came in the middle of Thread.start, where it waits for the thread."""
    run_script("""
inner, start = [], threading.Thread.start
def interrupted(self):
    start(self)
    if len(inner) < 2:
        inner.append(count(50_000))
threading.Thread.start = interrupted
for number in (3, 2):
    threads.set_num_threads(number)
    assert count(100_000)
    assert count(100_000)
assert inner == [True] * 2, inner
assert sum(each.name.startswith("cubepy-worker") for each in threading.enumerate()) == 1
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_child_of_a_fork_has_a_pool_of_its_own() -> None:
    run_script("""
def busy():
    while not stop:
        assert count(20_000)
assert count(10_000)
stop = False
thread = threading.Thread(target=busy)
thread.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        met = np.zeros(2, np.int64)
        address, keep = arguments(met, 3)
        threads.run(entry(kernels.MEET), address, 3, work_hint=10**9)
        os._exit(7 if count(100_000) and met.tolist() == [3, 0] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert count(100_000)
stop = True
thread.join()
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_fork_in_the_middle_of_a_launch_is_an_error_in_the_child_only() -> None:
    run_script("""
import cubepy as cb
from cubepy.errors import LaunchError
children = []
def handler(*_):
    if not children:
        children.append(os.fork())
signal.signal(signal.SIGALRM, handler)
out, launch, keep = slow(2000, 500_000)
assert count(10_000)
launches = 0
try:
    signal_when_begun(out, signal.SIGALRM)
    while not children:
        launch()
        launches += 1
    assert children[0] != 0
except LaunchError as error:
    os._exit(7 if children == [0] and "forked" in str(error) and count(10_000) else 1)
assert (out == launches).all()
assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 7
""")


@pytest.mark.parametrize(
    "script",
    [
        "assert count(10_000)",  # workers spinning
        "assert count(10_000)\ntime.sleep(0.05)",  # workers asleep
        "assert count(10, 1000)",  # no workers
        "atexit.register(lambda: os.write(1, b'%d' % count(100_000)))\nassert count(10_000)",
        "assert count(10_000)\natexit.register(lambda: os.write(1, b'%d' % count(100_000)))",
        "out, launch, keep = slow(10**6, 10**6)\n"
        "threading.Thread(target=launch, daemon=True).start()\ntime.sleep(0.2)",
        "def forever():\n    while True:\n        count(1000)\n"
        "for _ in range(3):\n    threading.Thread(target=forever, daemon=True).start()\n"
        "time.sleep(0.2)",
    ],
    ids=["spinning", "asleep", "none", "late", "after", "long launch", "endless launches"],
)
def test_interpreter_ends_at_once_and_quietly(script: str) -> None:
    begun = time.perf_counter()
    assert run_script(script) in {"", "1"}
    assert time.perf_counter() - begun < 20


def test_the_number_is_set_and_told_from_the_package() -> None:
    before = cb.num_threads()
    try:
        cb.set_num_threads(3)
        assert cb.num_threads() == threads.num_threads() == 3
        with pytest.raises(cb.errors.ArgumentError):
            cb.set_num_threads(0)
        assert cb.num_threads() == 3
    finally:
        cb.set_num_threads(None)
    assert cb.num_threads() == before


def test_other_runtimes_have_no_threads_to_set() -> None:
    reference = registry().runtime("reference")
    assert reference.num_threads == 1
    with pytest.raises(cb.errors.RuntimeUnavailable, match="reference use no threads"):
        reference.set_num_threads(2)

"""The CPU as a device, with artifacts written by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cubepy.errors import BackendError, OutOfBoundsError, OutOfMemoryError
from cubepy.ir import F32, INDEX, Access, Kernel, parse_kernel
from cubepy.location import Loc
from cubepy.runtime import ArrayBinding, Binding, Grid, ScalarBinding, device, pack
from cubepy.target import Artifact, Fault, FaultKind, Schedule, Target, WordKind, abi_of
from cubepy_cpu import CpuDevice, CpuRuntime, jit, num_threads
from cubepy_cpu.host import host

# Adds %a to out[task], 8 bytes an element, for the tasks of a launch.
TEXT = """
define void @entry(ptr %args, i64 %begin, i64 %end, ptr %arena) {
start:
  %a = load i64, ptr %args
  %out.at = getelementptr i64, ptr %args, i64 1
  %out = load ptr, ptr %out.at
  br label %loop
loop:
  %task = phi i64 [ %begin, %start ], [ %next, %loop ]
  %p = getelementptr i64, ptr %out, i64 %task
  %old = load i64, ptr %p
  %new = add i64 %old, %a
  store i64 %new, ptr %p
  %next = add i64 %task, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""

# Reports fault 2 (axis 1, subscript 70, extent 64), if a record is given.
FAULTY = """
define void @entry(ptr %args, i64 %begin, i64 %end, ptr %arena) {
  %record.at = getelementptr ptr, ptr %args, i64 REPORT
  %record = load ptr, ptr %record.at
  %axis = getelementptr i64, ptr %record, i64 1
  %subscript = getelementptr i64, ptr %record, i64 2
  %extent = getelementptr i64, ptr %record, i64 3
  store i64 2, ptr %record
  store i64 1, ptr %axis
  store i64 70, ptr %subscript
  store i64 64, ptr %extent
  ret void
}
"""


@pytest.fixture(scope="module")
def cpu() -> CpuDevice:
    return CpuDevice()


def kernel_of(cube_dim: tuple[int, int, int]) -> Kernel:
    return parse_kernel(
        f"kernel @k(%a: index, %out: global<index, [1], write, 1>) cube_dim{cube_dim} {{\n}}"
    )


def artifact(text: str = TEXT, **changes: Any) -> Artifact:
    cube_dim = changes.get("cube_dim", (4, 2, 1))
    made = Artifact(
        target=Target(language="cpu"),
        kernel_name="k",
        entry="entry",
        text=text,
        abi=abi_of(kernel_of(cube_dim)),
        cube_dim=cube_dim,
        access=(Access.READ, Access.WRITE),
    )
    return replace(made, **changes)


def launched(cpu: CpuDevice, made: Artifact, grid: Grid, room: int) -> np.ndarray[Any, Any]:
    out = np.zeros(room, np.int64)
    bindings: list[Binding] = [
        ScalarBinding(element=INDEX, value=3),
        ArrayBinding(memory=cpu.wrap(out), element=INDEX, offset=0, shape=(room,), strides=(1,)),
    ]
    cpu.launch(cpu.load(made), grid, bindings)
    return out


def grid(count: tuple[int, int, int], extent: tuple[int, int, int]) -> Grid:
    return Grid(cube_count=count, extent=extent)


def test_tasks_are_cubes(cpu: CpuDevice) -> None:
    out = launched(cpu, artifact(), grid((5, 3, 2), (20, 6, 2)), 40)
    assert out.tolist() == [3] * 30 + [0] * 10


@pytest.mark.parametrize("extent", [(1, 1, 1), (64, 1, 1), (65, 3, 1), (1000, 2, 5), (63, 7, 2)])
def test_tasks_are_pieces_of_rows(cpu: CpuDevice, extent: tuple[int, int, int]) -> None:
    made = artifact(schedule=Schedule.ROWS, task_units=64)
    pieces = sum(
        1 for _ in range(extent[2]) for _ in range(extent[1]) for _ in range(0, extent[0], 64)
    )
    out = launched(cpu, made, grid((1, 1, 1), extent), pieces + 3)
    assert out.tolist() == [3] * pieces + [0] * 3


def test_launch_without_cubes_does_nothing(cpu: CpuDevice) -> None:
    for made in (artifact(), artifact(schedule=Schedule.ROWS, task_units=64)):
        assert not launched(cpu, made, grid((0, 3, 2), (0, 6, 2)), 10).any()


def test_block_of_words_can_be_given(cpu: CpuDevice) -> None:
    out, sizes = np.zeros(8, np.int64), grid((8, 1, 1), (32, 2, 1))
    loaded = cpu.load(artifact())
    words = pack(
        loaded.artifact.abi,
        [
            ScalarBinding(element=INDEX, value=-1),
            ArrayBinding(memory=None, element=INDEX, offset=0, shape=(8,), strides=(1,)),
        ],
        sizes,
        [0, out.ctypes.data],
    )
    cpu.words_launch(loaded, sizes)(words.tobytes())
    assert out.tolist() == [-1] * 8


def test_fault_names_kernel_line_array_and_subscript(cpu: CpuDevice, tmp_path: Path) -> None:
    source = tmp_path / "kernels.py"
    source.write_text("def k(a, out):\n    out[0, 70] = a\n")
    loc = Loc(file=str(source), line=2, column=4, end_column=14)
    word = artifact().abi.offset(WordKind.REPORT)
    made = artifact(
        FAULTY.replace("REPORT", str(word)),
        faults=tuple(
            Fault(kind=FaultKind.BOUNDS, text=name, loc=loc, axes=2) for name in ("x", "out")
        ),
        target=Target.parse("cpu"),
    )
    with pytest.raises(
        OutOfBoundsError, match=r"k: subscript 70 of `out`.* along axis 1"
    ) as caught:
        launched(cpu, made, grid((1, 1, 1), (4, 2, 1)), 1)
    assert caught.value.loc == loc
    assert "kernels.py:2:5" in str(caught.value)
    assert "^^^^^^^^^^" in str(caught.value)


def test_memory_is_aligned_and_keeps_what_is_written(cpu: CpuDevice) -> None:
    for size in (1, 100, 4096, 10_000_000):
        assert cpu.alloc(size).address % 64 == 0
    for data in (np.arange(1000.0), np.array(7, np.int8), np.zeros((0, 3)), np.ones((3, 4), bool)):
        memory, back = cpu.alloc(max(1, data.nbytes)), np.empty_like(data)
        cpu.write(memory, data)
        cpu.read(memory, back)
        assert np.array_equal(back, data)
    buffer = cpu.array([[1.5, 2.5]])
    assert buffer.numpy().tolist() == [[1.5, 2.5]]


@pytest.mark.parametrize("size", [1 << 50, 1 << 62])
def test_memory_that_is_not_there_is_an_error(cpu: CpuDevice, size: int) -> None:
    with pytest.raises(OutOfMemoryError, match=str(size)):
        cpu.alloc(size)


def test_host_arrays_are_used_as_they_lie(cpu: CpuDevice) -> None:
    data = np.arange(10.0)[::-2]
    assert cpu.wrap(data).address == data.ctypes.data
    assert cpu.wrap(data).owner is data


def test_complaint_of_llvm_leads_to_the_line_of_the_kernel(cpu: CpuDevice, tmp_path: Path) -> None:
    source = tmp_path / "kernels.py"
    source.write_text("def k(a, out):\n    out[0] = a\n")
    loc = Loc(file=str(source), line=2, column=4, end_column=14)
    bad = TEXT.replace("add i64 %old, %a", "add i64 %old, %gone")
    line = next(number for number, text in enumerate(bad.splitlines(), 1) if "%gone" in text)
    with pytest.raises(BackendError, match="undefined value") as caught:
        cpu.load(artifact(bad, line_map={line: loc}))
    notes = "\n".join(caught.value.__notes__)
    assert "while compiling k" in notes
    assert "kernels.py:2:5" in notes


def test_code_for_another_machine_is_refused_but_can_be_read(cpu: CpuDevice) -> None:
    target = Target.parse("cpu:neoverse-n1" if host().architecture == "x86_64" else "cpu:x86-64-v2")
    made = artifact(target=target)
    with pytest.raises(BackendError, match="does not run"):
        cpu.load(made)
    listing = CpuRuntime().assembly(made)
    assert "entry:" in listing
    assert listing != CpuRuntime().assembly(artifact())


def test_loading_again_compiles_nothing(cpu: CpuDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    made = artifact(TEXT.replace("%more", "%goes_on"))
    first = cpu.load(made)
    monkeypatch.setattr(jit, "compile_object", lambda *_, **__: pytest.fail("compiled again"))
    assert cpu.load(made).handle.entry == first.handle.entry
    with pytest.raises(pytest.fail.Exception):
        cpu.load(replace(made, text=TEXT.replace("%more", "%another")))


def test_runtime_is_found_by_name() -> None:
    found = device("cpu")
    assert isinstance(found, CpuDevice)
    assert found.host_memory
    assert found.takes_words
    assert str(found.target) == "cpu"


def test_features_fit_together(cpu: CpuDevice) -> None:
    features = cpu.target.features
    assert features.plane_dim * 32 == features.vector_bits
    assert features.mask_registers == (features.vector_bits == 512)
    vector = f"<{features.plane_dim} x float>"
    text = (
        f"define void @f(ptr %p) {{\n  %v = load {vector}, ptr %p\n  %w = fadd {vector} %v, %v\n"
        f"  store {vector} %w, ptr %p\n  ret void\n}}"
    )
    lines = jit.assembly(text).splitlines()
    assert sum("addps" in line or "fadd" in line for line in lines) == 1
    assert F32.size * features.plane_dim * 8 == features.vector_bits


def test_runtime_sets_the_number_of_threads() -> None:
    runtime = CpuRuntime()
    try:
        runtime.set_num_threads(3)
        assert runtime.num_threads == num_threads() == 3
    finally:
        runtime.set_num_threads(None)

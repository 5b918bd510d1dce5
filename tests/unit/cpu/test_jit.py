"""LLVM text to machine code to addresses, and what must not become an address."""

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cubepy.errors import BackendError
from cubepy_cpu import jit, perf
from cubepy_cpu.elf import read_object
from cubepy_cpu.host import Machine, host

AARCH64 = Machine(triple="aarch64-unknown-linux-gnu")
RISCV = Machine(triple="riscv64-unknown-linux-gnu")


def adding(number: int, name: str = "add") -> str:
    """A function that adds `number`, through a table and an internal function."""
    return f"""
@table = internal constant [2 x i64] [i64 {number}, i64 {number}]
define internal i64 @inner(i64 %x, i64 %k) noinline {{
  %p = getelementptr i64, ptr @table, i64 %k
  %n = load i64, ptr %p
  %r = add i64 %x, %n
  ret i64 %r
}}
define i64 @"{name}"(i64 %x) {{
  %k = and i64 %x, 1
  %r = call i64 @inner(i64 %x, i64 %k)
  ret i64 %r
}}
"""


def called(address: int, value: int) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(value))


def test_code_runs() -> None:
    name = "cubepy::k::0a1b2c3d"
    address = jit.load(jit.compile_object(adding(5, name)), name)
    assert called(address, 37) == 42


def test_equal_names_in_different_objects_do_not_meet() -> None:
    objects = [jit.compile_object(adding(number)) for number in range(20)]
    addresses = [jit.load(data, "add") for data in objects]
    assert [called(address, 100) for address in addresses] == list(range(100, 120))
    assert [jit.load(data, "add") for data in objects] == addresses


def test_libc_and_libm_are_found() -> None:
    text = """
declare float @expf(float)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define float @use(ptr %p, i64 %n) {
  call void @llvm.memset.p0.i64(ptr %p, i8 7, i64 %n, i1 false)
  %r = call float @expf(float 1.0)
  ret float %r
}"""
    use = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_char_p, ctypes.c_int64)(
        jit.load(jit.compile_object(text), "use")
    )
    memory = ctypes.create_string_buffer(100)
    assert use(memory, 50) == pytest.approx(2.7182817)
    assert memory.raw[:51] == b"\7" * 50 + b"\0"


def test_unresolved_symbol_is_an_error_with_its_name() -> None:
    text = "declare void @nowhere()\ndefine void @f() {\n  call void @nowhere()\n  ret void\n}"
    with pytest.raises(BackendError, match="nowhere"):
        jit.load(jit.compile_object(text), "f")
    assert called(jit.load(jit.compile_object(adding(9)), "add"), 1) == 10


def test_symbols_of_other_kernels_do_not_count_as_defined() -> None:
    jit.load(jit.compile_object(adding(1, "of_another_kernel")), "of_another_kernel")
    text = (
        "declare i64 @of_another_kernel(i64)\ndefine i64 @f(i64 %x) {\n"
        "  %r = call i64 @of_another_kernel(i64 %x)\n  ret i64 %r\n}"
    )
    with pytest.raises(BackendError, match="of_another_kernel"):
        jit.load(jit.compile_object(text), "f")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rubbish", "expected top-level entity"),
        ("define i32 @f() {\n  ret i64 0\n}", "doesn't match function result type"),
        ("define void @f() {\n  br label %gone\n}", "undefined value"),
        (
            "define void @f(i1 %c) {\ns:\n  br i1 %c, label %a, label %b\na:\n  %x = add i32 1, 1\n"
            "  br label %b\nb:\n  %y = add i32 %x, 1\n  ret void\n}",
            "does not dominate",
        ),
    ],
)
def test_text_that_llvm_refuses_is_a_backend_error_and_leaves_the_compiler_usable(
    text: str, complaint: str
) -> None:
    for _ in range(3):
        with pytest.raises(BackendError, match=complaint) as caught:
            jit.compile_object(text)
        assert complaint in caught.value.output
    assert called(jit.load(jit.compile_object(adding(2)), "add"), 1) == 3


def test_missing_function_damage_and_other_machines_are_refused() -> None:
    data = jit.compile_object(adding(3))
    with pytest.raises(BackendError, match="does not define 'gone'"):
        jit.load(data, "gone")
    with pytest.raises(BackendError, match="does not define 'inner_'"):
        jit.load(data, "inner_")
    for length in (70, 200, len(data) // 2, len(data) - 100):
        with pytest.raises(BackendError, match="damaged"):
            jit.load(data[:length], "add")
    other = AARCH64 if host().architecture == "x86_64" else Machine(triple="x86_64-linux-gnu")
    with pytest.raises(BackendError, match="machine"):
        jit.load(jit.compile_object(adding(3), other), "add")


def test_other_machines_can_be_generated_for() -> None:
    assert "adrp" in jit.assembly(adding(1), AARCH64)
    text = (
        "define void @f(ptr %p) {\n  %v = load <8 x float>, ptr %p\n"
        "  %w = fadd <8 x float> %v, %v\n  store <8 x float> %w, ptr %p\n  ret void\n}"
    )
    v2, v3 = (Machine(triple="x86_64-unknown-linux-gnu", cpu=f"x86-64-v{n}") for n in (2, 3))
    assert "ymm" in jit.assembly(text, v3)
    assert "ymm" not in jit.assembly(text, v2)
    elf = read_object(jit.compile_object(adding(1), AARCH64))
    assert elf is not None
    assert elf.machine == 183


def test_unknown_machines_and_passes_are_refused() -> None:
    with pytest.raises(BackendError, match="nonsense"):
        jit.compile_object(adding(1), Machine(triple="nonsense-unknown-linux"))
    with pytest.raises(BackendError, match="no pass 'polish'"):
        jit.compile_object(adding(1), passes=("sroa", "polish"))


def test_passes_promote_memory_to_registers() -> None:
    text = (
        "define i64 @f(i64 %x) {\n  %s = alloca i64\n  store i64 %x, ptr %s\n"
        "  %y = load i64, ptr %s\n  ret i64 %y\n}"
    )
    assert "alloca" in jit.optimized_text(text, passes=())
    assert "alloca" not in jit.optimized_text(text)


def test_symbol_table_agrees_with_nm(tmp_path: Path) -> None:
    data = jit.compile_object(
        "declare void @outside()\ndefine void @f() {\n  call void @outside()\n  ret void\n}"
    )
    found = read_object(data)
    assert found is not None
    assert [function.name for function in found.functions] == ["f"]
    assert found.undefined == ("outside",)
    path = tmp_path / "f.o"
    path.write_bytes(data)
    try:
        listing = subprocess.run(["nm", "-S", path], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        pytest.skip("nm is not installed")
    columns = [line.split() for line in listing.stdout.splitlines()]
    assert ["U", "outside"] in columns
    (size,) = (int(column[1], 16) for column in columns if column[-1] == "f")
    assert found.functions[0].size == size


def test_many_threads_compile_and_load_at_once() -> None:
    wrong: list[object] = []

    def work(first: int) -> None:
        for number in range(first, first + 8):
            try:
                address = jit.load(jit.compile_object(adding(number % 12)), "add")
                if called(address, 1) != 1 + number % 12:
                    wrong.append(number)
            except BackendError as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(4 * index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_compiling_again_and_again_does_not_grow_memory() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    if not Path("/proc/self/statm").exists():
        pytest.skip("asks the kernel for this process's memory")
    data = jit.compile_object(adding(1))
    for _ in range(50):
        jit.compile_object(adding(1))
    before = resident()
    for _ in range(300):
        jit.load(jit.compile_object(adding(1)), "add")
    assert resident() - before < 300 * 16_000
    assert jit.compile_object(adding(1)) == data


def test_cached_object_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = adding(1234567)
    first = jit.cached_object(text)
    monkeypatch.setattr(jit, "compile_object", lambda *_, **__: pytest.fail("compiled again"))
    assert jit.cached_object(text) == first


def test_perf_map_names_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUBEPY_PERF", "1")
    monkeypatch.setattr(perf, "FOLDER", tmp_path)
    address = jit.load(jit.compile_object(adding(77, "cubepy::seen::77")), "cubepy::seen::77")
    lines = (tmp_path / f"perf-{os.getpid()}.map").read_text().splitlines()
    sizes = {name: (start, size) for start, size, name in (line.split() for line in lines)}
    start, size = sizes["cubepy::seen::77"]
    assert int(start, 16) == address
    assert 4 < int(size, 16) < 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_child_of_a_fork_compiles_while_the_parent_does(tmp_path: Path) -> None:
    code = f"""
import os, threading
from cubepy_cpu import jit
text = '''{adding(4)}'''
stop = False
def busy():
    while not stop:
        jit.compile_object(text)
thread = threading.Thread(target=busy)
thread.start()
codes = []
for _ in range(5):
    child = os.fork()
    if child == 0:
        jit.load(jit.compile_object(text), "add")
        os._exit(7)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop = True
thread.join()
assert codes == [7] * 5, codes
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]
    subprocess.run(command, env=environment, check=True, timeout=60)

"""Objects mapped without LLVM do what LLVM's own loader makes of them, or are left to it."""

import ctypes
import mmap
from pathlib import Path

import pytest

from cubepy.errors import BackendError
from cubepy_cpu import jit, loader
from cubepy_cpu.elf import read_object
from cubepy_cpu.host import Machine, host

pytestmark = pytest.mark.skipif(host().architecture != "x86_64", reason="reads x86-64 objects")

# Constants, a jump table, a call within, calls to libraries, the address of one of their functions.
SEVERAL = """
declare double @cbrt(double)
declare i64 @labs(i64)
@table = internal constant [4 x i64] [i64 3, i64 5, i64 7, i64 11]
define internal i64 @chosen(i64 %x) noinline {
start:
  switch i64 %x, label %other [
    i64 0, label %a
    i64 1, label %b
    i64 2, label %c
    i64 3, label %d
    i64 4, label %e
  ]
a:
  ret i64 1000
b:
  %place = getelementptr i64, ptr @table, i64 %x
  %entry = load i64, ptr %place
  ret i64 %entry
c:
  %real = call double @cbrt(double 27.0)
  %whole = fptosi double %real to i64
  ret i64 %whole
d:
  %size = call i64 @labs(i64 -44)
  ret i64 %size
e:
  %vector = load volatile <4 x float>, ptr @floats
  %sum = call float @llvm.vector.reduce.fadd.v4f32(float 0.5, <4 x float> %vector)
  %rounded = fptosi float %sum to i64
  ret i64 %rounded
other:
  ret i64 -1
}
@floats = internal constant <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>, align 64
declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)
define i64 @several(i64 %x) {
  %r = call i64 @chosen(i64 %x)
  ret i64 %r
}
define i64 @address() {
  %r = ptrtoint ptr @labs to i64
  ret i64 %r
}
"""
EXPECTED = [1000, 5, 3, 44, 10, -1]


def results(address: int) -> list[int]:
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)
    return [function(number) for number in range(6)]


def test_both_loaders_agree() -> None:
    data = jit.compile_object(SEVERAL)
    file = read_object(data)
    assert file is not None
    assert {kind for _, _, kind, _, _ in file.relocations} >= {2, 4}
    mapped = loader.map_object(file, data)
    assert mapped is not None
    assert set(mapped) == {"several", "address"}
    assert {kind for _, _, kind, _, _ in file.relocations} & {9, 41, 42}
    by_llvm = jit._map_with_llvm(file, data, "several")
    assert results(mapped["several"]) == results(by_llvm["several"]) == EXPECTED


def test_addresses_of_library_functions_need_llvm_or_are_right() -> None:
    data = jit.compile_object(SEVERAL)
    address = jit.load(data, "address")
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(address)() == loader.address_of_symbol("labs")


def test_code_can_be_run_and_not_be_written() -> None:
    address = jit.load(jit.compile_object(SEVERAL), "several")
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, stop = (int(part, 16) for part in line.split()[0].split("-"))
        if start <= address < stop:
            assert line.split()[1][:3] == "r-x"
            return
    pytest.fail("not mapped at all")


@pytest.mark.parametrize(
    "text",
    [
        "@v = global i64 1\ndefine i64 @f() {\n  %r = load i64, ptr @v\n  ret i64 %r\n}",
        "@v = thread_local global i64 1\ndefine ptr @f() {\n  ret ptr @v\n}",
    ],
    ids=["variable", "variable of a thread"],
)
def test_what_is_not_usual_is_left_to_llvm(text: str) -> None:
    data = jit.compile_object(text)
    file = read_object(data)
    assert file is not None
    assert loader.map_object(file, data) is None


def test_objects_of_other_machines_are_left_alone() -> None:
    data = jit.compile_object(SEVERAL, Machine(triple="aarch64-unknown-linux-gnu"))
    file = read_object(data)
    assert file is not None
    assert loader.map_object(file, data) is None


def test_a_missing_function_is_named() -> None:
    data = jit.compile_object(
        "declare void @nowhere()\ndefine void @f() {\n  call void @nowhere()\n  ret void\n}"
    )
    file = read_object(data)
    assert file is not None
    with pytest.raises(BackendError, match="needs nowhere"):
        loader.map_object(file, data)


def test_a_system_that_forbids_new_code_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mmap, "PROT_EXEC", 1 << 20)
    data = jit.compile_object(SEVERAL)
    file = read_object(data)
    assert file is not None
    with pytest.raises(BackendError, match="does not let memory become code: Invalid argument"):
        loader.map_object(file, data)

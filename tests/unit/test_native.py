"""`cb.intrinsic`: the target's own instruction where it has it, the fallback everywhere else."""

from __future__ import annotations

import platform
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, f32, f64, i16, u8, u32
from cubepy.errors import BackendError

DEVICES = ("reference", "cpu", "cpu+gang=4", "cpu+gang=16", "cpu+gang=64")
X86 = platform.machine() in ("x86_64", "AMD64")


def absolute(value):  # type: ignore[no-untyped-def]
    return abs(value)


def root(value):  # type: ignore[no-untyped-def]
    return cb.sqrt(value)


def with_sign(value, sign):  # type: ignore[no-untyped-def]
    return cb.copysign(value, sign)


def ones(value):  # type: ignore[no-untyped-def]
    return cb.popcount(value)


@cb.cube
def by_functions(x: Array[f32], d: Array[f64], n: Array[i16], out: Array[f32], s: f32) -> None:
    i = cb.ABSOLUTE_POS
    if i % 3 != 1:
        out[i] = cb.intrinsic("cpu", "llvm.fabs", x[i], fallback=absolute)
        out[i] += cb.intrinsic("cpu", "llvm.sqrt", s, fallback=root)
    d[i] = cb.intrinsic("cpu", "llvm.copysign", d[i], -1.0, fallback=with_sign)
    n[i] = cb.intrinsic("cpu", "llvm.ctlz", n[i], False, fallback=lambda v, zero: cb.clz(v))


@pytest.mark.parametrize("device", DEVICES)
def test_functions_of_llvm_work_on_vectors(device: str) -> None:
    x = np.linspace(-3, 3, 77, dtype=np.float32)
    d, n = x.astype(np.float64), (np.arange(77) * 331 - 9000).astype(np.int16)
    out = np.zeros_like(x)
    wanted = np.where(np.arange(77) % 3 != 1, np.abs(x) + 3, 0)
    leading = [16 - int(v).bit_length() if v >= 0 else 0 for v in n]
    by_functions.over(77, device=device)(x, d, n, out, 9.0)
    assert (out == wanted.astype(np.float32)).all()
    assert (d == -np.abs(x.astype(np.float64))).all()
    assert n.tolist() == leading


@cb.cube
def by_assembly(n: Array[u32], out: Array[u32], limit: u32, small: Array[u8]) -> None:
    i = cb.ABSOLUTE_POS
    if n[i] < limit:
        out[i] = cb.intrinsic(
            "cpu:x86-64-v2", "popcntl $1, $0", n[i], constraints="=r,r,~{flags}",
            fallback=ones,
        )  # fmt: skip
    small[i] = cb.intrinsic(
        "cpu:x86-64-v2", "movb $1, $0\n\taddb $2, $0", small[i], u8(limit),
        constraints="=&q,q,q,~{flags}", fallback=lambda v, w: v + w,
    )  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
def test_assembly_runs_lane_by_lane(device: str) -> None:
    n = (np.arange(70, dtype=np.uint64) * 2654435761 % 2**32).astype(np.uint32)
    out, small = np.zeros(70, np.uint32), np.arange(70, dtype=np.uint8) * 3
    before = small.copy()
    by_assembly.over(70, device=device)(n, out, 2**31 + 5, small)
    counts = np.array([bin(int(v)).count("1") for v in n])
    assert (out == np.where(n < 2**31 + 5, counts, 0)).all()
    assert (small == before + np.uint8(5)).all()


@pytest.mark.parametrize(
    ("target", "kept"),
    [("cpu", True), ("cpu:x86-64-v3", True), ("cpu:x86-64-v4", False), ("ptx", False)],
)
def test_only_where_the_target_has_it(target: str, *, kept: bool) -> None:
    @cb.cube
    def kernel(x: Array[f32], name: Comptime[str]) -> None:
        i = cb.ABSOLUTE_POS
        x[i] = cb.intrinsic(name, "llvm.fabs", x[i], fallback=lambda v: abs(v) + 1.0)

    x = np.zeros(4, np.float32)
    text = kernel.over(4).inspect(x, target, target="cpu:x86-64-v3").optimized_ir
    assert ("intrinsic" in text) == kept
    assert (" abs " in text) != kept
    assert "intrinsic" not in kernel.over(4).inspect(x, target, target="reference").optimized_ir


@cb.cube
def unknown_function(x: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    x[i] = cb.intrinsic("cpu", "llvm.nonsense", x[i], fallback=absolute)


@cb.cube
def unknown_instruction(x: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    x[i] = cb.intrinsic("cpu", "nonsense $1", x[i], constraints="=x,x", fallback=absolute)


@cb.cube
def unknown_constraint(x: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    x[i] = cb.intrinsic("cpu", "nop", x[i], constraints="=zz,??", fallback=absolute)


@pytest.mark.parametrize("kernel", [unknown_function, unknown_instruction, unknown_constraint])
def test_what_llvm_does_not_know_is_an_error(kernel: Any) -> None:
    x = np.zeros(4, np.float32)
    with pytest.raises(BackendError) as caught:
        kernel.over(4)(x)
    assert any(kernel.__name__ in note for note in caught.value.__notes__)
    kernel.over(4, device="reference")(x)  # the fallback runs


def test_a_program_survives_wrong_assembly() -> None:
    """LLVM would end the process; this one goes on."""
    code = (
        "import numpy as np, tests.unit.test_native as t\n"
        "try: t.unknown_instruction.over(4)(np.zeros(4, np.float32))\n"
        "except Exception as error: print(type(error).__name__)\n"
        "print('alive')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["BackendError", "alive"], done.stderr

"""The hall: from IR to something that runs, and one compilation for many threads."""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, compiler, f32, frontend
from cubepy.errors import ConfigError, CubeError, VerifyError
from cubepy.ir import (
    F32,
    F64,
    BufferType,
    Builder,
    Kernel,
    StrideClass,
    ops,
    param,
)
from cubepy.runtime import device, grid_of, launch
from cubepy.target import Target

REFERENCE = Target.parse("reference:8")


def doubling(*, bad: bool = False) -> Kernel:
    memory = BufferType(F32, (StrideClass.ONE,))
    x = param("x", memory)
    build = Builder()
    with build.region() as body:
        i = build.emit(ops.ABSOLUTE_POS)
        value = build.emit(ops.LOAD, x, i, attrs={"check": "checked"})
        total = build.emit(ops.ADD, value, value)
        stored = build.index(0) if bad else i
        build.emit(ops.STORE, x, stored, total, attrs={"check": "checked"})
    closed = body.close()
    return Kernel(name="doubling", params=() if bad else (x,), body=closed, cube_dim=(8, 1, 1))


def test_a_kernel_becomes_an_artifact_that_runs() -> None:
    reference = device("reference:8")
    stages = compiler.finish(doubling(), reference.target)
    values = np.arange(20, dtype=np.float32)
    launch(reference, reference.load(stages.artifact), grid_of((2, 1, 1), (8, 1, 1)), (values,))
    assert values.tolist() == [*range(0, 32, 2), *range(16, 20)]


def test_a_target_without_an_emitter_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"sm_90 yet: it is planned\n  help: .*opencl and wgsl"):
        compiler.finish(doubling(), Target.parse("ptx:sm_90"))


def test_passes_are_observed_in_order() -> None:
    seen: list[str] = []
    compiler.finish(doubling(), REFERENCE, observe=lambda name, kernel: seen.append(name))
    assert seen[0] == "lowered"
    assert seen.index("expand_library") < seen.index("annotate_buffer_access")


def test_ill_formed_ir_is_a_bug_and_shows_the_kernel() -> None:
    with pytest.raises(VerifyError) as caught:
        compiler.finish(doubling(bad=True), REFERENCE)
    assert any("doubling" in note for note in caught.value.__notes__)


def test_library_functions_are_lowered_once_for_a_type() -> None:
    functions = compiler.library(ops.EXP, F32)
    assert functions[-1].name == "std.exp.f32"
    assert [param.type for param in functions[-1].params] == [F32]
    assert functions[-1].result == F32
    assert compiler.library(ops.EXP, F32) is functions
    assert compiler.library(ops.EXP, F64)[-1].result == F64


def test_an_op_the_library_does_not_define_is_named() -> None:
    with pytest.raises(CubeError, match="no definition of sqrt for f32"):
        compiler.library(ops.SQRT, F32)


STEP = 3


def test_devices_that_want_the_same_share_a_lowered_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered: list[int] = []
    plain = frontend.lower_and_tell

    def counted(*given: Any, **notes: Any) -> frontend.Lowered:
        lowered.append(STEP)
        return plain(*given, **notes)

    def add_step(x: Array[f32]) -> None:
        x[cb.ABSOLUTE_POS] += STEP

    monkeypatch.setattr(frontend, "lower_and_tell", counted)
    kernel, devices = cb.cube(add_step), ("reference", "cpu", "cpu+gang=8", "reference:8")
    for step in (3, 4):
        monkeypatch.setitem(globals(), "STEP", step)
        for name in devices:
            x = np.zeros(8, np.float32)
            kernel.launch(x, cube_count=1, cube_dim=8, device=name)
            np.testing.assert_array_equal(x, step)
    planes = {device(name).target.features.plane_dim for name in devices}
    assert lowered == [3] * len(planes) + [4] * len(planes)

"""The same kernel defined again and again, as notebooks do: compiled once, and nothing leaks."""

import gc
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, compiler, f32

DEVICES = ["reference", "cpu"]


def define(amount: float = 1.0) -> Any:
    @cb.cube
    def again(x: Array[f32]) -> None:
        i = cb.ABSOLUTE_POS
        if i < len(x):
            x[i] = x[i] + amount

    return again


@pytest.mark.parametrize("device", DEVICES)
def test_a_kernel_defined_again_is_compiled_once_and_memory_stays_flat(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    finish = compiler.finish

    def counting(kernel: Any, *arguments: Any, **keywords: Any) -> Any:
        made.append(kernel.name)
        return finish(kernel, *arguments, **keywords)

    monkeypatch.setattr(compiler, "finish", counting)
    compiler.loaded.clear()
    x = np.zeros(64, np.float32)
    objects = []
    for number in range(1, 301):
        define().over(64, device=device)(x)
        if number in (100, 300):
            gc.collect()
            objects.append(len(gc.get_objects()))
    assert set(x) == {300}
    assert made == ["again"]
    assert objects[1] < objects[0] + 100


def test_other_values_make_other_kernels() -> None:
    x = np.zeros(64, np.float32)
    for amount in (1.0, 2.0, 1.0):
        define(amount).over(64)(x)
    assert set(x) == {4}


def test_kernels_in_memory_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "KEPT", 4)
    compiler.loaded.clear()
    x = np.zeros(64, np.float32)
    for amount in range(10):
        define(float(amount)).over(64, device="reference")(x)
    assert len(compiler.loaded._kernels) == 4
    assert set(x) == {45}

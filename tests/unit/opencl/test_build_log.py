"""What is generated builds without a warning: drivers write those where users see them."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor, bf16, f32, u8
from tests.opencl_devices import on_each

cl = pytest.importorskip("pyopencl")


@cb.cube
def neighbours(x: Tensor[u8], weights: Array[bf16], out: Tensor[f32]) -> None:
    y, x_ = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
    total = 0.0
    for k in range(3):
        if x[y, x_ + k] > 3 or (k == 1 and x[y + k, x_] % 2 == 0):
            total += f32(weights[k]) * f32(x[y + k, x_])
    out[y, x_] = total


@pytest.mark.filterwarnings("ignore:Non-empty compiler output")
@pytest.mark.parametrize("target", on_each())
def test_the_build_log_has_no_warning(target: str) -> None:
    device: Any = cb.device(target)
    x, out = np.ones((40, 40), np.uint8), np.zeros((40, 40), np.float32)
    weights = np.ones(3, ml_dtypes.bfloat16)
    text = neighbours.inspect(x, weights, out, target=device.target).text
    known = [each for platform in cl.get_platforms() for each in platform.get_devices()]
    machine = next(each for each in known if each.name in device.description)
    program = cl.Program(cl.Context([machine]), text.replace("neighbours", "of_its_own"))
    program.build(cache_dir=False)
    log = program.get_build_info(machine, cl.program_build_info.LOG)
    assert "warning" not in log.lower(), log

"""The library's functions are as exact as the table of `cubepy.std.accuracy` says."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

from cubepy.ir import Trait, ops
from cubepy.std.accuracy import LARGEST_ERROR
from tests.unit.std import measure, numpy_kernels, samples

UNARY = sorted(measure.REFERENCES)
BINARY = sorted(measure.REFERENCES_OF_TWO)


def test_every_library_op_has_a_stated_error_within_its_row() -> None:
    library = [row for row in ops.BY_NAME.values() if row.has(Trait.LIBRARY)]
    assert set(LARGEST_ERROR) == {row.name for row in library if row.ulp}
    assert all(row.evaluate is not None for row in library if not row.ulp)
    for name, stated in LARGEST_ERROR.items():
        assert set(stated) == {"f16", "bf16", "f32", "f64"}
        for type, error in stated.items():
            assert 0.49 < error <= ops.BY_NAME[name].ulp[type]


@pytest.mark.parametrize("name", UNARY)
def test_f32_error_at_every_exponent(name: str) -> None:
    with np.errstate(all="ignore"):
        hard = samples.spread_f64(name, 20_000).astype(np.float32)
        x = np.concatenate([samples.every_exponent_f32(4096), hard])
        exact = measure.REFERENCES[name](x.astype(np.float64))
    errors = measure.errors_f32(numpy_kernels.function(name, "f32")(x), exact)
    place = int(np.argmax(errors))
    stated = LARGEST_ERROR[name]["f32"]
    assert errors[place] <= stated, f"{name}({x[place]!r})"
    assert errors[place] > 0.7 * stated, "the stated error is far from the measured one"


@pytest.mark.parametrize("name", UNARY)
def test_f64_error_against_arbitrary_precision(name: str) -> None:
    x = samples.spread_f64(name, 700)
    got = numpy_kernels.function(name, "f64")(x)
    with mp.workprec(1300 if name in samples.CIRCULAR else 160):
        errors = measure.errors_f64(got, (measure.EXACT[name](mpf(float(v))) for v in x))
    place = int(np.argmax(errors))
    stated = LARGEST_ERROR[name]["f64"]
    assert errors[place] <= stated, f"{name}({x[place]!r})"
    assert errors[place] > 0.55 * stated, "the stated error is far from the measured one"


@pytest.mark.parametrize("name", BINARY)
def test_f32_error_of_two_operands(name: str) -> None:
    operands = samples.pairs(name, np.float32, 200_000)
    with np.errstate(all="ignore"):
        exact = measure.REFERENCES_OF_TWO[name](*(part.astype(np.float64) for part in operands))
    errors = measure.errors_f32(numpy_kernels.function(name, "f32")(*operands), exact)
    place = int(np.argmax(errors))
    stated = LARGEST_ERROR[name]["f32"]
    assert errors[place] <= stated, [part[place] for part in operands]
    assert errors[place] > 0.7 * stated, "the stated error is far from the measured one"


@pytest.mark.parametrize("name", BINARY)
def test_f64_error_of_two_operands(name: str) -> None:
    operands = samples.pairs(name, np.float64, 600)
    got = numpy_kernels.function(name, "f64")(*operands)
    with mp.workprec(200):
        exact = [
            measure.EXACT_OF_TWO[name](mpf(float(a)), mpf(float(b)))
            for a, b in zip(*operands, strict=True)
        ]
        errors = measure.errors_f64(got, exact)
    place = int(np.argmax(errors))
    stated = LARGEST_ERROR[name]["f64"]
    assert errors[place] <= stated, [part[place] for part in operands]
    assert errors[place] > 0.45 * stated, "the stated error is far from the measured one"

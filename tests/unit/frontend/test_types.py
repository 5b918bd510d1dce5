"""Literals, promotion and locals: against NumPy where it has an answer, else as the rules say."""

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, frontend, i8, i32, i64, ir, u8, u32, u64
from cubepy.errors import CubeTypeError, CubeValueError
from cubepy.frontend.promotion import converts_without_loss, literal_fits, promote

SCALARS = [ir.SCALARS[name] for name in ir.SCALARS if name not in ("index", "bf16")]
INTEGERS = [scalar for scalar in SCALARS if scalar.is_integer]
FLOATS = [scalar for scalar in SCALARS if scalar.is_float]


def lowered(function: Callable[..., Any], *arguments: Any) -> ir.Kernel:
    source = frontend.capture(function)
    bound = source.signature.bind(*arguments).arguments
    kernel = frontend.lower(source, frontend.specialize(source, bound, frontend.LaunchOptions()))
    ir.verify(kernel, "lowered")
    return kernel


# ── promotion ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("a", "b"), list(itertools.product(INTEGERS, INTEGERS)), ids=str)
def test_integers_promote_as_numpy_does_where_that_loses_nothing(
    a: ir.Scalar, b: ir.Scalar
) -> None:
    theirs = np.result_type(a.numpy, b.numpy)
    # NumPy widens beyond both; we stay with one of the two or refuse
    expected = {a.numpy: a, b.numpy: b}.get(theirs) if theirs.kind in "iu" else None
    assert promote(a, b) == expected


@pytest.mark.parametrize(("a", "b"), list(itertools.product(FLOATS, FLOATS)), ids=str)
def test_floats_promote_as_numpy_does(a: ir.Scalar, b: ir.Scalar) -> None:
    assert promote(a, b) == ir.scalar_of_numpy(np.result_type(a.numpy, b.numpy))


@pytest.mark.parametrize(("a", "b"), list(itertools.product(INTEGERS, FLOATS)), ids=str)
def test_integers_meet_floats_that_hold_all_their_values(a: ir.Scalar, b: ir.Scalar) -> None:
    fraction = {"f16": 11, "f32": 24, "f64": 53}
    found = promote(a, b)
    bits = a.bits - a.is_signed
    if found is not None:
        assert bits <= fraction[found.name]
        assert found.bits >= b.bits
    assert (found is None) == ((bits > 16 and b != ir.F64) or bits > 32)
    assert promote(b, a) == found


@pytest.mark.parametrize(("a", "b"), list(itertools.product(SCALARS, SCALARS)), ids=str)
def test_conversion_without_loss_keeps_the_extreme_values(a: ir.Scalar, b: ir.Scalar) -> None:
    if not converts_without_loss(a, b):
        return
    if a.is_integer:
        extremes = np.array([a.minimum, a.maximum, 1], a.numpy)
    else:
        extremes = np.array([1, 0], a.numpy) if a == ir.BOOL else finfo_extremes(a)
    assert np.array_equal(extremes.astype(b.numpy).astype(a.numpy), extremes)


def finfo_extremes(a: ir.Scalar) -> np.ndarray[Any, Any]:
    info = np.finfo(a.numpy)
    return np.array([info.max, info.min, info.smallest_subnormal, info.eps, 1 + info.eps], a.numpy)


@pytest.mark.parametrize("scalar", [*FLOATS, ir.BF16], ids=str)
def test_literals_fit_floats_as_long_as_they_stay_finite(scalar: ir.Scalar) -> None:
    top = float(ml_dtypes.finfo(scalar.numpy).max)  # type: ignore[no-untyped-call]
    values = [top, top * (1 - 2.0**-12), 1e300, 1.0, 65519.9, 65520.0]
    if scalar != ir.F64:
        values += [top * (1 + step) for step in (2.0**-10, 2.0**-12, 2.0**-24, 2.0**-26)]
    for value in [float(value) for value in values]:
        with np.errstate(all="ignore"):
            rounded = float(np.float64(value).astype(scalar.numpy))
        assert literal_fits(value, scalar) == np.isfinite(rounded), value
    assert literal_fits(int(top), scalar)
    assert not literal_fits(10**400, scalar)


# ── in kernels ───────────────────────────────────────────────────────────────────────────────────

ARRAYS: dict[str, Any] = {
    "a": np.zeros(4, np.int8),
    "b": np.zeros(4, np.uint8),
    "s": np.zeros(4, np.int16),
    "i": np.zeros(4, np.int32),
    "u": np.zeros(4, np.uint32),
    "l": np.zeros(4, np.int64),
    "v": np.zeros(4, np.uint64),
    "h": np.zeros(4, np.float16),
    "g": np.zeros(4, ml_dtypes.bfloat16),
    "x": np.zeros(4, np.float32),
    "d": np.zeros(4, np.float64),
    "t": np.zeros(4, np.bool_),
}


def of_text(*statements: str) -> ir.Kernel:
    """A kernel with these statements and all of ARRAYS."""
    head = f"def kernel({', '.join(ARRAYS)}):\n"
    names: dict[str, Any] = {"cb": cb, "np": np}
    cb.exec(head + "".join(f"    {statement}\n" for statement in statements), names)
    return lowered(names["kernel"], *ARRAYS.values())


@pytest.mark.parametrize(
    ("expression", "type"),
    [
        ("a[0] + a[1]", "i8"),
        ("a[0] + s[0]", "i16"),
        ("b[0] + s[0]", "i16"),
        ("i[0] + cb.ABSOLUTE_POS", "index"),
        ("l[0] * cb.CUBE_DIM", "index"),
        ("b[0] - 1", "u8"),
        ("1 - b[0]", "u8"),
        ("0.5 * b[0]", "f32"),
        ("0.5 * s[0]", "f32"),
        ("h[0] * 0.5", "f16"),
        ("h[0] * x[0]", "f32"),
        ("g[0] * x[0]", "f32"),
        ("a[0] * h[0]", "f32"),
        ("i[0] * d[0]", "f64"),
        ("x[0] * 2", "f32"),
        ("2 ** x[0]", "f32"),
        ("i[0] ** 2", "i32"),
        ("b[0] << i[0]", "u8"),
        ("1 << u[0]", "u32"),
        ("u[0] & ~7", "u32"),
        ("b[0] | -1", "u8"),
        ("t[0] & t[1]", "bool"),
        ("x[0] < 1", "bool"),
        ("u[0] < i[0]", "bool"),
        ("g[0] < h[0]", "bool"),
        ("v[0] > -1", "bool"),
        ("i[0] >= 2.5", "bool"),
        ("1.0 if t[0] else 2.0", "f32"),
        ("x[0] if t[0] else 2", "f32"),
        ("h[0] if t[0] else x[0]", "f32"),
        ("cb.select(t[0], 1, b[0])", "u8"),
        ("min(b[0], 3, s[0])", "i16"),
        ("cb.fma(x[0], 2, d[0])", "f64"),
        ("cb.sqrt(a[0])", "f32"),
        ("cb.sqrt(2)", "f32"),
        ("round(h[0])", "f16"),
        ("len(x)", "index"),
        ("cb.plane_ballot(t[0])", "u64"),
        ("cb.popcount(b[0])", "u8"),
        ("cb.f64(1)", "f64"),
        ("int(x[0])", "index"),
        ("float(i[0])", "f32"),
        ("cb.bitcast(cb.u32, 1.0)", "u32"),
        ("x.dtype(i[0])", "f32"),
        ("3_000_000_000", "i64"),
        ("1 << 63", "u64"),
        ("np.float64(0.5) * x[0]", "f64"),
        ("np.pi * x[0]", "f32"),
    ],
)
def test_type_of_an_expression(expression: str, type: str) -> None:
    kernel = of_text(f"value = {expression}", "cb.cube_uniform(value)")
    assert str(kernel.body.ops[-1].operands[0].type) == type


@pytest.mark.parametrize(
    ("statement", "error", "match"),
    [
        ("u[0] = i[0]", CubeTypeError, "cannot store i32 into an array of u32"),
        ("x[0] = i[0]", CubeTypeError, "cannot store i32 into an array of f32"),
        ("t[0] = 1", CubeTypeError, "expected bool"),
        ("x[0] = h[0] + g[0]", CubeTypeError, "cannot add f16 and bf16"),
        ("x[0] = l[0] + x[0]", CubeTypeError, "cannot add i64 and f32"),
        ("l[0] = i[0] + u[0]", CubeTypeError, "cannot add i32 and u32"),
        ("u[0] += cb.ABSOLUTE_POS", CubeTypeError, "cannot add u32 and index"),
        ("i[0] = i[0] + 3_000_000_000", CubeValueError, "3000000000 does not fit i32"),
        ("x[0] = x[0] + 1e39", CubeValueError, "does not fit f32"),
        ("h[0] = 70000.0", CubeValueError, "too large for f16"),
        ("i[0] = i[0] * 0.5", CubeTypeError, "cannot multiply i32 and the float 0.5"),
        ("t[0] = t[0] + t[1]", CubeTypeError, "cannot add bools"),
        ("t[0] = t[0] < t[1]", CubeTypeError, "cannot order bools"),
        ("x[0] = x[0] & 1", CubeTypeError, "on floats"),
        ("t[0] = i[0] < x[0]", CubeTypeError, "cannot compare i32 and f32"),
        ("i[0] = i[0] ** -1", CubeValueError, "negative power"),
        ("i[0] = i[0] / i[1]", CubeTypeError, "on integers"),
        ("x[0] = x[0] << 1", CubeTypeError, "takes integers"),
        ("t[0] = i[0] and t[1]", CubeTypeError, "a condition must be bool, not i32"),
        ("x[t[0]] = 0.0", CubeTypeError, "a subscript must be an integer"),
        ("x[0] = cb.sqrt(l[0])", CubeTypeError, "takes floats, not i64"),
        ("i[0] = cb.popcount(x[0])", CubeTypeError, "takes integers, not f32"),
        ("cb.atomic_add(i, 0, x[0])", CubeTypeError, "cannot store f32 into an array of i32"),
        ("cb.atomic_add(x, 0, 1, order='strong')", CubeValueError, "no order 'strong'"),
        ("u[0] = cb.bitcast(cb.u32, d[0])", CubeTypeError, "f64 has 64 bits"),
    ],
)
def test_what_does_not_go_together(statement: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        of_text(statement)


# ── locals ───────────────────────────────────────────────────────────────────────────────────────


def slot_types(kernel: ir.Kernel) -> dict[str, str]:
    return {
        op.name: str(op.attrs["element"])
        for op in ir.walk(kernel.body)
        if op.opdef is ir.ops.LOCAL and op.name
    }


@pytest.mark.parametrize(
    ("start", "update", "type"),
    [
        ("0", "c += 1", "i32"),
        ("0", "c += cb.CUBE_DIM", "index"),
        ("0", "c += l[k]", "i64"),
        ("0", "c += u[k]", "u32"),
        ("0", "c += b[k]", "i32"),
        ("0", "c += v[k]", "u64"),
        ("0", "c += x[k]", "f32"),
        ("0", "c += 0.5", "f32"),
        ("0", "c += h[k]", "f32"),
        ("0.0", "c += x[k]", "f32"),
        ("0.0", "c += d[k]", "f64"),
        ("0.0", "c = c * h[k]", "f32"),
        ("0.0", "c += 1", "f32"),
        ("False", "c = c or x[k] > 0.0", "bool"),
        ("b[0]", "c += b[k]", "u8"),
        ("h[0]", "c += 1", "f16"),
        ("cb.f16(0)", "c += h[k]", "f16"),
    ],
)
def test_a_local_begun_by_a_literal_takes_what_its_uses_need(
    start: str, update: str, type: str
) -> None:
    kernel = of_text(f"c = {start}", "for k in range(4):", f"    {update}", "cb.cube_uniform(c)")
    assert slot_types(kernel) == {"c": type}
    assert str(kernel.body.ops[-1].operands[0].type) == type


def test_a_store_decides_the_type_of_a_counter() -> None:
    count = ("n = 0", "for k in range(4):", "    if x[k] > 0.0:", "        n += 1")
    assert slot_types(of_text(*count, "u[0] = n")) == {"n": "u32"}
    assert slot_types(of_text(*count, "l[0] = n")) == {"n": "i32"}
    assert slot_types(of_text(*count, "d[0] = n * 0.5")) == {"n": "f64"}


@pytest.mark.parametrize(
    "statements",
    [
        ("c = i[0]", "for k in range(3):", "    c = x[k]"),
        ("c = b[0]", "for k in range(3):", "    c += i[k]"),
        ("c = 0", "for k in range(3):", "    c += u[k]", "    c += cb.UNIT_POS"),
        ("c = 0", "c = c + u[0]", "c = c + i[0]"),
        ("c = x[0]", "c = t[0]"),
        ("c = t[0]", "c = 1"),
    ],
)
def test_a_local_has_one_type(statements: tuple[str, ...]) -> None:
    with pytest.raises(CubeTypeError):
        of_text(*statements)


def test_an_annotated_local_has_that_type() -> None:
    kernel = of_text("c: cb.f64 = 0", "for k in range(3):", "    c += x[k]", "x[0] = c")
    assert slot_types(kernel) == {"c": "f64"}


def run(function: Callable[..., Any], *arguments: Any) -> None:
    cb.cube(function).over(1, device="reference")(*arguments)


def test_values_of_conversions_and_mixed_comparisons() -> None:
    def kernel(out: Array[i32], u: Array[u32], v: Array[u64], n: Array[i64], b: Array[u8]) -> None:
        minus_one = i32(n[0])
        out[0] = 1 if u[0] < minus_one else 2
        out[1] = 1 if v[0] > n[1] else 2
        out[2] = 1 if v[1] >= v[1] + 5000 else 2
        out[3] = i8(200)
        out[4] = i32(b[0] - 1)
        out[5] = 1 if n[0] < v[0] else 2
        out[6] = 1 if n[0] < -0.5 else 2
        out[7] = i32(f32(1e39) > 1e38)

    out = np.zeros(8, np.int32)
    u = np.array([1], np.uint32)
    v = np.array([2**63 + 1, 17 * 10**17], np.uint64)
    n = np.array([-1, 2**63 - 1], np.int64)
    run(kernel, out, u, v, n, np.zeros(1, np.uint8))
    assert out.tolist() == [2, 1, 2, -56, 255, 1, 1, 1]


def test_a_number_has_a_dtype() -> None:
    def widened(value: Any) -> Any:
        return cb.f64(value) if value.dtype == cb.f32 else value.dtype(7)

    def kernel(x: Array[f32], n: Array[cb.i16], out: Array[cb.f64]) -> None:
        out[0] = widened(x[0])
        out[1] = cb.f64(widened(n[0]))

    out = np.zeros(2)
    run(kernel, np.array([0.5], np.float32), np.zeros(1, np.int16), out)
    assert out.tolist() == [0.5, 7.0]

"""One element in, one element out: what memory or a function of one argument limits."""

from typing import Any

import numpy as np
from scipy import special

import cubepy as cb
from benchmarks.rows.row import Array, Row, over_last, random
from cubepy import Array as Elements
from cubepy import f32, f64, u8, u32
from examples import kernels

__all__ = ["ROWS"]

LENGTH = 16 << 20
GROUPS = (None, (1024,), (8192,))
SAMPLE = slice(None, None, 97)


def close(exact: Any, tolerance: float = 1e-5) -> Any:
    """Checks a sample of the last array against `exact(first array in f64)`."""

    def is_right(arrays: list[Array]) -> bool:
        x, out = (array[SAMPLE].astype(np.float64) for array in (arrays[0], arrays[-1]))
        return np.allclose(out, exact(x), rtol=tolerance, atol=1e-6)

    return is_right


def streamed(name: str, kernel: Any, source: str, make: Any, is_right: Any, **more: Any) -> Row:
    """A row of `LENGTH` elements whose arrays are each read or written once."""
    return Row(
        name=name, arguments=make, kernel=kernel, launch=over_last,
        is_right=is_right, source=source, global_size=(LENGTH,), local_sizes=GROUPS, **more,
    )  # fmt: skip


def mapped(name: str, kernel: Any, expression: str, exact: Any, low: float, high: float) -> Row:
    """A function of one f32 on numbers from `low` to `high`."""

    def make() -> list[Any]:
        x = random(1).uniform(low, high, LENGTH).astype(np.float32)
        return [x, np.zeros_like(x)]

    source = f"""
kernel void {name}_of_each(global const float *restrict x, global float *restrict out) {{
    size_t i = get_global_id(0);
    float v = x[i];
    out[i] = {expression};
}}
"""
    return streamed(name, kernel, source, make, close(exact), moved_bytes=8 * LENGTH)


@cb.cube
def exp(x: Elements[f32], out: Elements[f32]) -> None:
    """The exponential of each element."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = cb.exp(x[i])


@cb.cube
def sin(x: Elements[f32], out: Elements[f32]) -> None:
    """The sine of each element."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = cb.sin(x[i])


@cb.cube
def power(x: Elements[f32], out: Elements[f32]) -> None:
    """Each element to a power that is no integer."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = cb.pow(x[i], 1.7)


@cb.cube
def tanh_gelu(x: Elements[f32], out: Elements[f32]) -> None:
    """GELU in its approximation by the hyperbolic tangent."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        v = x[i]
        out[i] = 0.5 * v * (1.0 + cb.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))


def tanh_gelu_exact(x: Array) -> Array:
    result: Array = 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))
    return result


def gelu_exact(x: Array) -> Array:
    result: Array = 0.5 * x * (1.0 + special.erf(x * np.sqrt(0.5)))
    return result


# ── saxpy ───────────────────────────────────────────────────────────────────────────────────────

SAXPY = """
kernel void saxpy(float a, global const float *restrict x, global float *restrict y) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
"""


def saxpy_arguments() -> list[Any]:
    x = np.linspace(-1, 1, LENGTH, dtype=np.float32)
    return [np.float32(1e-3), x, np.ones(LENGTH, np.float32)]


def saxpy_is_right(after_one_call: list[Array]) -> bool:
    a, x, y = saxpy_arguments()
    return np.array_equal(after_one_call[-1], a * x + y)


# ── Black-Scholes ───────────────────────────────────────────────────────────────────────────────

RATE, VOLATILITY = 0.02, 0.3


@cb.cube
def normal_distribution(x: f32) -> f32:
    """The share of a normal distribution below x."""
    share: f32 = 0.5 * (1.0 + cb.erf(x * 0.70710678))
    return share


@cb.cube
def black_scholes(
    price: Elements[f32], strike: Elements[f32], years: Elements[f32], call: Elements[f32]
) -> None:
    """The value of a call option."""
    i = cb.ABSOLUTE_POS
    if i < len(call):
        s, k, t = price[i], strike[i], years[i]
        deviation = 0.3 * cb.sqrt(t)
        d1 = (cb.log(s / k) + 0.065 * t) / deviation
        d2 = d1 - deviation
        worth = s * normal_distribution(d1)
        call[i] = worth - k * cb.exp(-0.02 * t) * normal_distribution(d2)


BLACK_SCHOLES = """
float normal_distribution(float x) { return 0.5f * (1.0f + erf(x * 0.70710678f)); }
kernel void black_scholes(global const float *restrict price, global const float *restrict strike,
                          global const float *restrict years, global float *restrict call) {
    size_t i = get_global_id(0);
    float s = price[i], k = strike[i], t = years[i];
    float deviation = 0.3f * sqrt(t);
    float d1 = (log(s / k) + 0.065f * t) / deviation;
    float d2 = d1 - deviation;
    float worth = s * normal_distribution(d1);
    call[i] = worth - k * exp(-0.02f * t) * normal_distribution(d2);
}
"""


def black_scholes_arguments() -> list[Any]:
    numbers = random(5)
    price, strike = (numbers.uniform(10, 50, LENGTH).astype(np.float32) for _ in range(2))
    years = numbers.uniform(0.2, 2, LENGTH).astype(np.float32)
    return [price, strike, years, np.zeros_like(price)]


def black_scholes_is_right(arrays: list[Array]) -> bool:
    s, k, t, call = (array[SAMPLE].astype(np.float64) for array in arrays)
    deviation = VOLATILITY * np.sqrt(t)
    d1 = (np.log(s / k) + (RATE + VOLATILITY**2 / 2) * t) / deviation
    exact = s * special.ndtr(d1) - k * np.exp(-RATE * t) * special.ndtr(d1 - deviation)
    return np.allclose(call, exact, rtol=1e-4, atol=1e-4)


# ── narrow, wide and integer elements ───────────────────────────────────────────────────────────


@cb.cube
def grey(rgb: Elements[u8], out: Elements[u8]) -> None:
    """Brightness of pixels that store red, green and blue one after the other."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        brightness = 0.299 * rgb[3 * i] + 0.587 * rgb[3 * i + 1] + 0.114 * rgb[3 * i + 2]
        out[i] = u8(brightness + 0.5)


GREY = """
kernel void grey(global const uchar *restrict rgb, global uchar *restrict out) {
    size_t i = get_global_id(0);
    float brightness = 0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2];
    out[i] = convert_uchar_sat_rtz(brightness + 0.5f);
}
"""


def grey_arguments() -> list[Any]:
    return [random(6).integers(0, 256, 3 * LENGTH, np.uint8), np.zeros(LENGTH, np.uint8)]


def grey_is_right(arrays: list[Array]) -> bool:
    rgb, out = arrays
    f = np.float32
    red, green, blue = rgb.reshape(-1, 3).T.astype(f)
    brightness = f(0.299) * red + f(0.587) * green + f(0.114) * blue
    return np.array_equal(out, (brightness + f(0.5)).astype(np.uint8))


@cb.cube
def brighten(x: Elements[u8], out: Elements[u8]) -> None:
    """Bytes made lighter by a half, with an end at 255."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = u8(min(u32(x[i]) + (u32(x[i]) >> 1), 255))


BRIGHTEN = """
kernel void brighten(global const uchar *restrict x, global uchar *restrict out) {
    size_t i = get_global_id(0);
    uint v = x[i];
    out[i] = min(v + (v >> 1), 255u);
}
"""


def brighten_arguments() -> list[Any]:
    return [random(7).integers(0, 256, LENGTH, np.uint8), np.zeros(LENGTH, np.uint8)]


def brighten_is_right(arrays: list[Array]) -> bool:
    wide = arrays[0].astype(np.uint32)
    return np.array_equal(arrays[1], np.minimum(wide + (wide >> 1), 255))


@cb.cube
def logistic(x: Elements[f64], out: Elements[f64]) -> None:
    """The logistic function in f64."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = 1.0 / (1.0 + cb.exp(-x[i]))


LOGISTIC = """
kernel void logistic(global const double *restrict x, global double *restrict out) {
    size_t i = get_global_id(0);
    out[i] = 1.0 / (1.0 + exp(-x[i]));
}
"""


def logistic_arguments() -> list[Any]:
    x = random(8).standard_normal(LENGTH)
    return [x, np.zeros_like(x)]


@cb.cube
def hashes(x: Elements[u32], out: Elements[u32]) -> None:
    """A mixing function of 32 bits (the finaliser of MurmurHash3, twice)."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        h = x[i]
        for _ in cb.unroll(range(2)):
            h ^= h >> 16
            h *= 0x85EBCA6B
            h ^= h >> 13
            h *= 0xC2B2AE35
            h ^= h >> 16
        out[i] = h


HASHES = """
kernel void hashes(global const uint *restrict x, global uint *restrict out) {
    size_t i = get_global_id(0);
    uint h = x[i];
    for (int k = 0; k < 2; k++) {
        h ^= h >> 16;
        h *= 0x85EBCA6Bu;
        h ^= h >> 13;
        h *= 0xC2B2AE35u;
        h ^= h >> 16;
    }
    out[i] = h;
}
"""


def hashes_arguments() -> list[Any]:
    return [random(9).integers(0, 1 << 32, LENGTH, np.uint32), np.zeros(LENGTH, np.uint32)]


def hashes_is_right(arrays: list[Array]) -> bool:
    h = arrays[0].copy()
    for _ in range(2):
        h ^= h >> np.uint32(16)
        h *= np.uint32(0x85EBCA6B)
        h ^= h >> np.uint32(13)
        h *= np.uint32(0xC2B2AE35)
        h ^= h >> np.uint32(16)
    return np.array_equal(arrays[1], h)


# ── an early return ─────────────────────────────────────────────────────────────────────────────


@cb.cube
def roots(x: Elements[f32], out: Elements[f32]) -> None:
    """Square roots by Newton's steps; a unit with nothing to do returns at once."""
    i = cb.ABSOLUTE_POS
    if i >= len(out):
        return
    v = x[i]
    if v <= 0.0:
        out[i] = 0.0
        return
    guess = v
    for _ in range(20):
        better = 0.5 * (guess + v / guess)
        if abs(better - guess) <= 1e-6 * better:
            break
        guess = better
    out[i] = guess


ROOTS = """
kernel void roots(global const float *restrict x, global float *restrict out) {
    size_t i = get_global_id(0);
    float v = x[i];
    if (v <= 0.0f) {
        out[i] = 0.0f;
        return;
    }
    float guess = v;
    for (int k = 0; k < 20; k++) {
        float better = 0.5f * (guess + v / guess);
        if (fabs(better - guess) <= 1e-6f * better) break;
        guess = better;
    }
    out[i] = guess;
}
"""


def roots_arguments() -> list[Any]:
    x = random(10).standard_normal(LENGTH, np.float32)
    return [x, np.zeros_like(x)]


def roots_are_right(arrays: list[Array]) -> bool:
    x, out = arrays[0][SAMPLE], arrays[1][SAMPLE]
    return np.allclose(out, np.sqrt(np.maximum(x.astype(np.float64), 0)), rtol=1e-4, atol=1e-5)


ROWS = (
    streamed(
        "saxpy", kernels.saxpy, SAXPY, saxpy_arguments, saxpy_is_right, moved_bytes=12 * LENGTH
    ),
    mapped("exp", exp, "exp(v)", np.exp, -10, 10),
    mapped("sin", sin, "sin(v)", np.sin, -10, 10),
    mapped("power", power, "pow(v, 1.7f)", lambda x: x ** np.float32(1.7), 0, 10),
    mapped("gelu", kernels.gelu, "0.5f * v * (1.0f + erf(v * 0.7071067811865476f))",
           gelu_exact, -3, 3),
    mapped("tanh_gelu", tanh_gelu,
           "0.5f * v * (1.0f + tanh(0.7978845608f * (v + 0.044715f * v * v * v)))",
           tanh_gelu_exact, -3, 3),
    streamed("black_scholes", black_scholes, BLACK_SCHOLES, black_scholes_arguments,
             black_scholes_is_right, moved_bytes=16 * LENGTH),
    streamed("grey", grey, GREY, grey_arguments, grey_is_right, moved_bytes=4 * LENGTH),
    streamed("brighten", brighten, BRIGHTEN, brighten_arguments, brighten_is_right,
             moved_bytes=2 * LENGTH),
    streamed("logistic", logistic, LOGISTIC, logistic_arguments, close(special.expit, 1e-12),
             moved_bytes=16 * LENGTH),
    streamed("hashes", hashes, HASHES, hashes_arguments, hashes_is_right, moved_bytes=8 * LENGTH),
    streamed("roots", roots, ROOTS, roots_arguments, roots_are_right, moved_bytes=8 * LENGTH),
)  # fmt: skip

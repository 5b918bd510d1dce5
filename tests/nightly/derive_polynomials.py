"""Derives every coefficient of `cubepy/std/polynomials.py` and says whether the file still holds
them.

`python -m tests.nightly.derive_polynomials` compares with the file and exits with 1 on a
difference; `--write` writes the file; other words choose polynomials by name and print them. It
takes a minute.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mpmath import mp, mpf

from tests.nightly.minimax import Function, fit_rounded, sample

FILE = Path(__file__).parents[2] / "cubepy" / "std" / "polynomials.py"
HEAD = '''"""Coefficients of the library's polynomials, lowest power first, floats of their format.

Derived by `tests/nightly/derive_polynomials.py` (weighted minimax, coefficients rounded one after
the other), which also writes and checks this file. Each comment says what the polynomial stands
for and how large its weighted error is.
"""

from __future__ import annotations
'''
#: K of q = (a - K)/(a + K), chosen so that the function's value at q = 0 is nearly a float.
ERFC_CENTRE = {"F32": 2.21875, "F64": 2.9375}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A polynomial to find: the function it stands for, and the weight that makes its error
    relative.
    """

    name: str
    function: Function
    weight: Function
    low: mpf
    high: mpf
    terms: int
    bits: int


HALF_LN2 = mp.log(2) / 2 * mpf("1.0001")
QUARTER_PI = mp.pi / 4


def fits() -> Iterator[Fit]:
    """All polynomials, in the order of the file."""
    yield from _for_each("EXP_TAIL", exp_tail, exp_weight, -HALF_LN2, HALF_LN2, 5, 10)
    half = mpf("0.50001")
    yield from _for_each("EXP2_FACTOR", exp2_factor, exp2_weight, -half, half, 6, 11)
    third = mpf(1) / 3
    yield Fit(
        name="LOG_TAIL_F32",
        function=log_tail,
        weight=log_weight,
        low=-third,
        high=third,
        terms=9,
        bits=24,
    )
    edge = mpf("0.17158") ** 2
    yield Fit(
        name="ATANH_TAIL_F64",
        function=atanh_tail,
        weight=lambda z: z,
        low=mpf(0),
        high=edge,
        terms=7,
        bits=53,
    )
    # The quotient in pow's logarithm: a little beyond sqrt(2), with a first term kept apart.
    yield from _for_each("POW_LOG_TAIL", pow_log_tail, lambda z: z**2, mpf(0), edge, 3, 8)
    for bits, name, slack, sine_terms, cosine_terms in (
        (24, "F32", "1.02", 3, 3),
        (53, "F64", "1.001", 6, 6),
    ):
        edge = (QUARTER_PI * mpf(slack)) ** 2
        yield Fit(
            name=f"SIN_TAIL_{name}",
            function=sin_tail,
            weight=sin_weight,
            low=mpf(0),
            high=edge,
            terms=sine_terms,
            bits=bits,
        )
        yield Fit(
            name=f"COS_TAIL_{name}",
            function=cos_tail,
            weight=cos_weight,
            low=mpf(0),
            high=edge,
            terms=cosine_terms,
            bits=bits,
        )
    yield from _error_function("F32", 24, mpf("3.93"), (9, 5, 10), mpf("10.2"))
    yield from _error_function("F64", 53, mpf("5.95"), (25, 9, 22), mpf("27.4"))
    quarter = mpf("0.2501")
    yield from _for_each("ASIN_TAIL", asin_tail, asin_weight, mpf(0), quarter, 5, 12)
    yield from _for_each("ATAN_TAIL", atan_tail, atan_weight, mpf(0), quarter, 5, 12)
    root = mp.sqrt(mpf(2)) * mpf("1.0001")
    yield from _for_each("INVERSE_CBRT", inverse_cbrt, mp.cbrt, 1 / root, root, 6, 6)


def _error_function(
    name: str, bits: int, edge: mpf, terms: tuple[int, int, int], last: mpf
) -> Iterator[Fit]:
    yield Fit(
        name=f"ERF_FACTOR_{name}",
        function=erf_factor,
        weight=erf_weight,
        low=mpf(0),
        high=edge,
        terms=terms[0],
        bits=bits,
    )
    yield Fit(
        name=f"ERFC_SMALL_{name}",
        function=erfc_small,
        weight=erfc_small_weight,
        low=mpf(0),
        high=mpf("0.2501"),
        terms=terms[1],
        bits=bits,
    )
    centre = ERFC_CENTRE[name]
    scaled = erfc_scaled(centre)
    yield Fit(
        name=f"ERFC_SCALED_{name}",
        function=scaled,
        weight=lambda q: 1 / scaled(q),
        low=(mpf("0.499") - centre) / (mpf("0.499") + centre),
        high=(last - centre) / (last + centre),
        terms=terms[2],
        bits=bits,
    )


def _for_each(
    name: str, function: Function, weight: Function, low: mpf, high: mpf, single: int, double: int
) -> Iterator[Fit]:
    for suffix, terms, bits in (("F32", single, 24), ("F64", double, 53)):
        yield Fit(
            name=f"{name}_{suffix}",
            function=function,
            weight=weight,
            low=low,
            high=high,
            terms=terms,
            bits=bits,
        )


def exp_tail(r: mpf) -> mpf:
    """exp(r) = 1 + r + r² · tail."""
    return (mp.exp(r) - 1 - r) / r**2


def exp_weight(r: mpf) -> mpf:
    return r**2 / mp.exp(r)


def exp2_factor(r: mpf) -> mpf:
    """2**r = 1 + r · factor."""
    return (mpf(2) ** r - 1) / r


def exp2_weight(r: mpf) -> mpf:
    return r / mpf(2) ** r


def log_tail(f: mpf) -> mpf:
    """log(1 + f) = f - f²/2 + f³ · tail."""
    return (mp.log(1 + f) - f + f * f / 2) / f**3


def log_weight(f: mpf) -> mpf:
    return f**3 / mp.log(1 + f)


def atanh_tail(z: mpf) -> mpf:
    """log((1 + s)/(1 - s)) = 2s + s·z·tail with z = s²."""
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z


def pow_log_tail(z: mpf) -> mpf:
    """log2((1 + s)/(1 - s)) = s·(c1 + c3·z + z²·tail), z = s², c1 = 2/ln 2, c3 = c1/3."""
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2 - 2 * z / 3) / z**2 / mp.log(2)


def sin_tail(z: mpf) -> mpf:
    """sin(r) = r + r·z·tail with z = r²."""
    r = mp.sqrt(z)
    return (mp.sin(r) / r - 1) / z


def sin_weight(z: mpf) -> mpf:
    r = mp.sqrt(z)
    return z * r / mp.sin(r)


def cos_tail(z: mpf) -> mpf:
    """cos(r) = 1 - z/2 + z²·tail with z = r²."""
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def cos_weight(z: mpf) -> mpf:
    return z**2 / mp.cos(mp.sqrt(z))


def erf_factor(x: mpf) -> mpf:
    """erf(x) = 1 - exp(-x - x · factor)."""
    return -mp.log(mp.erfc(x)) / x - 1


def erf_weight(x: mpf) -> mpf:
    return x * mp.erfc(x) / mp.erf(x)


def erfc_small(z: mpf) -> mpf:
    """erfc(x) = 1 - x - x · factor with z = x²."""
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1


def erfc_small_weight(z: mpf) -> mpf:
    x = mp.sqrt(z)
    return x / mp.erfc(x)


def erfc_scaled(centre: float) -> Function:
    """The part of erfc without its exponential."""

    def value(q: mpf) -> mpf:
        """erfc(a) = exp(-a²) · value(q) / (1 + 2a), q = (a - centre)/(a + centre)."""
        a = centre * (1 + q) / (1 - q)
        return mp.exp(a * a) * mp.erfc(a) * (1 + 2 * a)

    return value


def asin_tail(z: mpf) -> mpf:
    """asin(x) = x + x·z·tail with z = x²."""
    x = mp.sqrt(z)
    return (mp.asin(x) / x - 1) / z


def asin_weight(z: mpf) -> mpf:
    x = mp.sqrt(z)
    return z * x / mp.asin(x)


def atan_tail(z: mpf) -> mpf:
    """atan(t) = t + t·z·tail with z = t²."""
    t = mp.sqrt(z)
    return (mp.atan(t) / t - 1) / z


def atan_weight(z: mpf) -> mpf:
    t = mp.sqrt(z)
    return z * t / mp.atan(t)


def inverse_cbrt(m: mpf) -> mpf:
    """The cube root of 1/m, a first guess."""
    return 1 / mp.cbrt(m)


def text_of(fit: Fit) -> str:
    """The coefficients as they stand in the file."""
    samples = sample(fit.function, fit.weight, fit.low, fit.high, 20 * fit.terms + 40)
    coefficients, error = fit_rounded(samples, fit.terms, fit.bits)
    meaning = (fit.function.__doc__ or "").strip()
    lines = "".join(f"    {value!r},\n" for value in coefficients)
    size = float(mp.log(error, 2))
    return f"\n# {meaning} Error 2**{size:.1f}.\n{fit.name} = (\n{lines})\n"


def file_text() -> str:
    """The whole file."""
    centres = "".join(f"ERFC_CENTRE_{name} = {value!r}\n" for name, value in ERFC_CENTRE.items())
    return HEAD + "\n" + centres + "".join(map(text_of, fits()))


def main(words: list[str]) -> int:
    """Check, write or print; the exit status."""
    if words == ["--write"]:
        FILE.write_text(file_text())
        return 0
    if words:
        for fit in fits():
            if any(word in fit.name for word in words):
                print(text_of(fit), flush=True)
        return 0
    old, new = FILE.read_text(), file_text()
    sys.stdout.writelines(
        difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True))
    )
    return int(old != new)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

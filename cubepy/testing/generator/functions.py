"""The functions that random expressions call, as templates.

A form is a text with a place for each operand and the operands' types, None for the type of the
result. `{type}` is the result's spelling. Where a NaN's sign could be seen, the operand is made
from an integer, since a NaN has any.
"""

from __future__ import annotations

from cubepy.ir import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I32,
    SCALARS,
    U8,
    Scalar,
    Trait,
    ops,
)
from cubepy.records import dataclass

__all__ = [
    "EXACT_FORMS",
    "FROM_MINIFLOAT",
    "INTEGER_FORMS",
    "LIBRARY_FORMS",
    "MINIFLOATS",
    "TO_MINIFLOAT",
    "Form",
    "reinterpreted",
]


@dataclass(frozen=True, slots=True)
class Form:
    """A call by its text."""

    text: str
    operands: tuple[Scalar | None, ...] = (None,)


def _alike(text: str) -> Form:
    """All operands of the result's type."""
    return Form(text, (None,) * text.count("{}"))


_UNARY = tuple(
    row.python
    for row in ops.BY_NAME.values()
    if row.has(Trait.LIBRARY) and row.ulp and len(row.operands) == 1
)
#: Functions with definitions in `cubepy.std`; all but frexp and ldexp have errors.
LIBRARY_FORMS: tuple[Form, ...] = (
    *(_alike(f"cb.{name}({{}})") for name in _UNARY),
    _alike("cb.atan2({}, {})"),
    _alike("cb.hypot({}, {})"),
    _alike("({} ** {})"),
    _alike("pow({}, {})"),
    _alike("cb.frexp({})[0]"),
    Form("cb.ldexp({}, {})", (None, I32)),
)
EXACT_FORMS: tuple[Form, ...] = (
    *map(_alike, ("cb.sqrt({})", "cb.floor({})", "cb.ceil({})", "cb.trunc({})", "round({})")),
    *map(_alike, ("cb.fmin({}, {})", "cb.fmax({}, {})", "({} // {})", "({} % {})")),
    *map(_alike, ("cb.fmod({}, {})", "divmod({}, {})[0]", "divmod({}, {})[1]", "cb.recip({})")),
    *map(_alike, ("cb.fma({}, {}, {})", "cb.clamp({}, {}, {})", "min({}, {}, {})")),
    Form("cb.copysign({}, {type}({}))", (None, I32)),
    Form("{type}(cb.frexp({})[1])", (F64,)),
)
INTEGER_FORMS: tuple[Form, ...] = (
    *map(_alike, ("cb.popcount({})", "cb.clz({})", "cb.ctz({})", "cb.find_first_set({})")),
    *map(_alike, ("cb.bit_reverse({})", "cb.rotl({}, {})", "cb.rotr({}, {})", "cb.cdiv({}, {})")),
    *map(_alike, ("cb.saturating_add({}, {})", "cb.saturating_sub({}, {})", "cb.mul_hi({}, {})")),
    *map(_alike, ("cb.trunc_div({}, {})", "cb.trunc_rem({}, {})", "cb.clamp({}, {}, {})")),
    *map(_alike, ("divmod({}, {})[0]", "divmod({}, {})[1]", "max({}, {}, {})")),
    Form("{type}(cb.frexp({})[1])", (F32,)),
)

MINIFLOATS = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "ue8m0")
#: To f32 from a byte, and to a byte from a float of any type.
FROM_MINIFLOAT: tuple[Form, ...] = (
    *(Form(f"cb.{name}.decode({{}})", (U8,)) for name in MINIFLOATS),
    *(Form(f"cb.{name}.decode(cb.{name}.encode({{}}))", (F32,)) for name in MINIFLOATS),
    Form("cb.tf32({})", (F32,)),
    Form("cb.tf32({})", (F64,)),
)
TO_MINIFLOAT: tuple[Form, ...] = tuple(
    Form(f"cb.{name}.encode({{}})", (type,))
    for name in MINIFLOATS
    for type in (F16, BF16, F32, F64)
)


def reinterpreted(type: Scalar) -> tuple[Scalar, ...]:
    """Types whose bits `type` may be made of: any integers as wide."""
    if type is BOOL:
        return ()
    return tuple(
        one for one in SCALARS.values() if one.is_integer and one.bits == type.bits and one != type
    )

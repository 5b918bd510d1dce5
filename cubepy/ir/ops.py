"""The op table: one row per op, in sections; no logic.

Adding an ordinary op is a row here plus one line per target with a native instruction. `BY_NAME`
finds a row by its IR name, `BY_PYTHON` by its spelling in kernels (`cb.<spelling>`, or a Python
builtin).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cubepy.ir import evaluate as ev
from cubepy.ir import rules
from cubepy.ir.opdef import Evaluate, OpDef, Trait, TypeRule, attr_type, fixed, same
from cubepy.ir.types import BOOL, FLOATS, I32, INDEX, INTEGERS, SCALARS, VOID

__all__ = ["BY_NAME", "BY_PYTHON"]

BY_NAME: dict[str, OpDef] = {}
BY_PYTHON: dict[str, OpDef] = {}

NUMBERS = INTEGERS | FLOATS
ANY = frozenset(SCALARS.values())
BITS = INTEGERS | {BOOL}
PURE = Trait.PURE
COMMUTES = Trait.COMMUTATIVE
COMMUTES_ASSOCIATES = Trait.COMMUTATIVE | Trait.ASSOCIATIVE
EXACT: Mapping[str, float] = {}
TWO_ULP: Mapping[str, float] = {"f16": 0.501, "bf16": 0.501, "f32": 2.0, "f64": 2.0}


def op(
    name: str,
    *operands: str,
    rule: TypeRule,
    doc: str,
    traits: Trait = PURE,
    evaluate: Evaluate | None = None,
    python: str = "",
    ulp: Mapping[str, float] = EXACT,
    regions: int = 0,
) -> OpDef:
    """Add a row to the table."""
    row = OpDef(
        name=name,
        operands=operands,
        rule=rule,
        traits=traits,
        evaluate=evaluate,
        python=python,
        doc=doc,
        ulp=ulp,
        regions=regions,
    )
    BY_NAME[name] = row
    if python:
        BY_PYTHON[python] = row
    return row


# ── values without operands ─────────────────────────────────────────────────────────────────────

PARAM = op(
    "param", rule=rules.any_type, traits=Trait.NONE, doc="A parameter; only in parameter lists."
)
CONST = op(
    "const",
    rule=rules.const,
    evaluate=ev.constant,
    traits=PURE | Trait.UNIFORM,
    doc="The attribute `value`.",
)


def _position(name: str, doc: str, *, uniform: bool = False) -> OpDef:
    spread = Trait.UNIFORM if uniform else Trait.VARYING
    return op(name, rule=fixed(INDEX), traits=PURE | spread, python=name.upper(), doc=doc)


UNIT_POS = _position("unit_pos", "Linear position of the unit in its cube, x fastest.")
UNIT_POS_X = _position("unit_pos_x", "Position of the unit in its cube along x.")
UNIT_POS_Y = _position("unit_pos_y", "Position of the unit in its cube along y.")
UNIT_POS_Z = _position("unit_pos_z", "Position of the unit in its cube along z.")
UNIT_POS_PLANE = _position("unit_pos_plane", "Lane number of the unit in its plane.")
PLANE_POS = _position("plane_pos", "Number of the unit's plane in its cube.")
PLANE_DIM = _position("plane_dim", "Units in a plane of the device.", uniform=True)
CUBE_POS = _position(
    "cube_pos", "Linear position of the cube in the launch, x fastest.", uniform=True
)
CUBE_POS_X = _position("cube_pos_x", "Position of the cube along x.", uniform=True)
CUBE_POS_Y = _position("cube_pos_y", "Position of the cube along y.", uniform=True)
CUBE_POS_Z = _position("cube_pos_z", "Position of the cube along z.", uniform=True)
CUBE_COUNT = _position("cube_count", "Cubes of the launch.", uniform=True)
CUBE_COUNT_X = _position("cube_count_x", "Cubes of the launch along x.", uniform=True)
CUBE_COUNT_Y = _position("cube_count_y", "Cubes of the launch along y.", uniform=True)
CUBE_COUNT_Z = _position("cube_count_z", "Cubes of the launch along z.", uniform=True)
ABSOLUTE_POS = _position(
    "absolute_pos",
    "Linear position in the whole launch: x + y*(count_x*dim_x) + z*(count_x*dim_x*count_y*dim_y).",
)
ABSOLUTE_POS_X = _position("absolute_pos_x", "cube_pos_x * cube_dim_x + unit_pos_x.")
ABSOLUTE_POS_Y = _position("absolute_pos_y", "cube_pos_y * cube_dim_y + unit_pos_y.")
ABSOLUTE_POS_Z = _position("absolute_pos_z", "cube_pos_z * cube_dim_z + unit_pos_z.")


def _extent(axis: str) -> OpDef:
    return op(
        f"extent_{axis}",
        rule=fixed(INDEX),
        traits=PURE | Trait.UNIFORM,
        doc=f"Extent along {axis} of the shape a launch is over.",
    )


EXTENT_X, EXTENT_Y, EXTENT_Z = _extent("x"), _extent("y"), _extent("z")

# ── arithmetic ──────────────────────────────────────────────────────────────────────────────────

ADD = op(
    "add", "lhs", "rhs", rule=same(NUMBERS), traits=PURE | COMMUTES_ASSOCIATES,
    evaluate=ev.elementwise(np.add), python="+", doc="Sum; integers wrap.",
)  # fmt: skip
SUB = op(
    "sub", "lhs", "rhs", rule=same(NUMBERS), evaluate=ev.elementwise(np.subtract), python="-",
    doc="Difference; integers wrap.",
)  # fmt: skip
MUL = op(
    "mul", "lhs", "rhs", rule=same(NUMBERS), traits=PURE | COMMUTES_ASSOCIATES,
    evaluate=ev.elementwise(np.multiply), python="*", doc="Product; integers wrap.",
)  # fmt: skip
DIV = op(
    "div", "lhs", "rhs", rule=same(FLOATS), evaluate=ev.elementwise(np.divide), python="/",
    doc="Correctly rounded quotient of floats.",
)  # fmt: skip
FLOOR_DIV = op(
    "floor_div", "lhs", "rhs", rule=same(NUMBERS), evaluate=ev.elementwise(ev.floor_div),
    python="//",
    doc="Floor of the quotient; an integer by 0 is 0; floats bit for bit as NumPy's floor_divide.",
)  # fmt: skip
FLOOR_MOD = op(
    "floor_mod", "lhs", "rhs", rule=same(NUMBERS), evaluate=ev.elementwise(ev.floor_mod),
    python="%",
    doc="Remainder of floor_div, sign of the divisor; an integer by 0 is 0.",
)  # fmt: skip
TRUNC_DIV = op(
    "trunc_div", "lhs", "rhs", rule=same(INTEGERS), evaluate=ev.elementwise(ev.trunc_div),
    python="trunc_div", doc="C's integer quotient, rounded toward zero; by 0 is 0.",
)  # fmt: skip
TRUNC_REM = op(
    "trunc_rem", "lhs", "rhs", rule=same(INTEGERS), evaluate=ev.elementwise(ev.trunc_rem),
    python="trunc_rem", doc="C's integer remainder, sign of the dividend; by 0 is 0.",
)  # fmt: skip
FMOD = op(
    "fmod", "lhs", "rhs", rule=same(FLOATS), evaluate=ev.elementwise(np.fmod), python="fmod",
    doc="C's fmod: exact, sign of the dividend.",
)  # fmt: skip
POW_INTEGER = op(
    "pow_integer", "base", "exponent", rule=rules.power, evaluate=ev.elementwise(ev.integer_power),
    doc="Integer power with wrap-around; a negative exponent gives 0 except for bases 1 and -1.",
)  # fmt: skip
NEG = op("neg", "value", rule=same(NUMBERS), evaluate=ev.elementwise(np.negative), doc="Negation.")
ABS = op(
    "abs", "value", rule=same(NUMBERS), evaluate=ev.elementwise(np.abs), python="abs",
    doc="Absolute value; abs(INT_MIN) is INT_MIN.",
)  # fmt: skip
SIGN = op("sign", "value", rule=same(NUMBERS), evaluate=ev.elementwise(ev.sign), python="sign",
          doc="-1, 0 or 1; zeros keep their sign, NaN stays NaN.")  # fmt: skip
MIN = op(
    "min", "lhs", "rhs", rule=same(NUMBERS), traits=PURE | COMMUTES_ASSOCIATES,
    evaluate=ev.elementwise(ev.minimum), python="min",
    doc="The smaller; NaN if either is NaN; -0.0 < 0.0.",
)  # fmt: skip
MAX = op(
    "max", "lhs", "rhs", rule=same(NUMBERS), traits=PURE | COMMUTES_ASSOCIATES,
    evaluate=ev.elementwise(ev.maximum), python="max",
    doc="The larger; NaN if either is NaN; 0.0 > -0.0.",
)  # fmt: skip
FMIN = op("fmin", "lhs", "rhs", rule=same(FLOATS), evaluate=ev.elementwise(ev.fmin), python="fmin",
          doc="The smaller; ignores NaN.")  # fmt: skip
FMAX = op("fmax", "lhs", "rhs", rule=same(FLOATS), evaluate=ev.elementwise(ev.fmax), python="fmax",
          doc="The larger; ignores NaN.")  # fmt: skip
FMA = op("fma", "a", "b", "c", rule=same(FLOATS), evaluate=ev.fused_multiply_add, python="fma",
         doc="a*b + c rounded once.")  # fmt: skip
MUL_HI = op("mul_hi", "lhs", "rhs", rule=same(INTEGERS), traits=PURE | COMMUTES,
            evaluate=ev.elementwise(ev.multiply_high), python="mul_hi",
            doc="Upper half of the double-width product.")  # fmt: skip

# ── bits ────────────────────────────────────────────────────────────────────────────────────────

BIT_AND = op("bit_and", "lhs", "rhs", rule=same(BITS), traits=PURE | COMMUTES_ASSOCIATES,
             evaluate=ev.elementwise(np.bitwise_and), python="&",
             doc="Bitwise and; logical on bool.")  # fmt: skip
BIT_OR = op("bit_or", "lhs", "rhs", rule=same(BITS), traits=PURE | COMMUTES_ASSOCIATES,
            evaluate=ev.elementwise(np.bitwise_or), python="|",
            doc="Bitwise or; logical on bool.")  # fmt: skip
BIT_XOR = op("bit_xor", "lhs", "rhs", rule=same(BITS), traits=PURE | COMMUTES_ASSOCIATES,
             evaluate=ev.elementwise(np.bitwise_xor), python="^",
             doc="Bitwise exclusive or; logical on bool.")  # fmt: skip
BIT_NOT = op("bit_not", "value", rule=same(BITS), evaluate=ev.elementwise(np.invert),
             doc="Complement; logical on bool.")  # fmt: skip
SHL = op("shl", "value", "count", rule=rules.shift, evaluate=ev.elementwise(ev.shift_left),
         python="<<",
         doc="Left shift; the count is unsigned, at or above the width gives 0.")  # fmt: skip
SHR = op("shr", "value", "count", rule=rules.shift, evaluate=ev.elementwise(ev.shift_right),
         python=">>",
         doc="Right shift, arithmetic if signed; count ≥ width gives 0 or -1.")  # fmt: skip
POPCOUNT = op("popcount", "value", rule=same(INTEGERS), evaluate=ev.elementwise(ev.popcount),
              python="popcount", doc="Number of one bits.")  # fmt: skip
CLZ = op("clz", "value", rule=same(INTEGERS), evaluate=ev.elementwise(ev.count_leading_zeros),
         python="clz", doc="Leading zero bits; the width for 0.")  # fmt: skip
CTZ = op("ctz", "value", rule=same(INTEGERS), evaluate=ev.elementwise(ev.count_trailing_zeros),
         python="ctz", doc="Trailing zero bits; the width for 0.")  # fmt: skip

ROTL = op("rotl", "value", "count", rule=same(INTEGERS), traits=PURE | Trait.LIBRARY,
          evaluate=ev.elementwise(ev.rotate_left), python="rotl",
          doc="Bits moved up, round the end; the count is taken modulo the width.")  # fmt: skip
ROTR = op("rotr", "value", "count", rule=same(INTEGERS), traits=PURE | Trait.LIBRARY,
          evaluate=ev.elementwise(ev.rotate_right), python="rotr",
          doc="Bits moved down, round the end; the count is taken modulo the width.")  # fmt: skip
BIT_REVERSE = op("bit_reverse", "value", rule=same(INTEGERS), traits=PURE | Trait.LIBRARY,
                 evaluate=ev.elementwise(ev.reverse_bits), python="bit_reverse",
                 doc="The bits in the opposite order.")  # fmt: skip
FIND_FIRST_SET = op("find_first_set", "value", rule=same(INTEGERS), traits=PURE | Trait.LIBRARY,
                    evaluate=ev.elementwise(ev.find_first_set), python="find_first_set",
                    doc="Place of the lowest one bit, counted from 1; 0 for 0.")  # fmt: skip
SATURATING_ADD = op("saturating_add", "lhs", "rhs", rule=same(INTEGERS),
                    traits=PURE | Trait.LIBRARY | COMMUTES,
                    evaluate=ev.elementwise(ev.saturating_add), python="saturating_add",
                    doc="Sum, held at the ends of the type.")  # fmt: skip
SATURATING_SUB = op("saturating_sub", "lhs", "rhs", rule=same(INTEGERS),
                    traits=PURE | Trait.LIBRARY,
                    evaluate=ev.elementwise(ev.saturating_subtract), python="saturating_sub",
                    doc="Difference, held at the ends of the type.")  # fmt: skip

# ── comparison and choice ───────────────────────────────────────────────────────────────────────

EQ = op("eq", "lhs", "rhs", rule=same(ANY, result=BOOL), traits=PURE | COMMUTES,
        evaluate=ev.elementwise(np.equal), python="==", doc="Equal.")  # fmt: skip
NE = op("ne", "lhs", "rhs", rule=same(ANY, result=BOOL), traits=PURE | COMMUTES,
        evaluate=ev.elementwise(np.not_equal), python="!=",
        doc="Not equal; true for NaN.")  # fmt: skip
LT = op("lt", "lhs", "rhs", rule=same(NUMBERS, result=BOOL), evaluate=ev.elementwise(np.less),
        python="<", doc="Less.")  # fmt: skip
LE = op("le", "lhs", "rhs", rule=same(NUMBERS, result=BOOL), evaluate=ev.elementwise(np.less_equal),
        python="<=", doc="Less or equal.")  # fmt: skip
GT = op("gt", "lhs", "rhs", rule=same(NUMBERS, result=BOOL), evaluate=ev.elementwise(np.greater),
        python=">", doc="Greater.")  # fmt: skip
GE = op("ge", "lhs", "rhs", rule=same(NUMBERS, result=BOOL),
        evaluate=ev.elementwise(np.greater_equal),
        python=">=", doc="Greater or equal.")  # fmt: skip
ISNAN = op("isnan", "value", rule=same(FLOATS, result=BOOL), evaluate=ev.elementwise(np.isnan),
           python="isnan", doc="Whether NaN.")  # fmt: skip
ISINF = op("isinf", "value", rule=same(FLOATS, result=BOOL), evaluate=ev.elementwise(np.isinf),
           python="isinf", doc="Whether infinite.")  # fmt: skip
ISFINITE = op("isfinite", "value", rule=same(FLOATS, result=BOOL),
              evaluate=ev.elementwise(np.isfinite),
              python="isfinite", doc="Whether neither infinite nor NaN.")  # fmt: skip
SELECT = op("select", "condition", "a", "b", rule=same(ANY, leading=1), evaluate=ev.select,
            python="select",
            doc="`a` where the condition holds, else `b`; both are evaluated.")  # fmt: skip

# ── conversion ──────────────────────────────────────────────────────────────────────────────────

CAST = op("cast", "value", rule=attr_type("to", ANY), evaluate=ev.cast, python="cast",
          doc="Ints wrap, float to int saturates (NaN is 0), floats round once.")  # fmt: skip
BITCAST = op("bitcast", "value", rule=rules.bitcast, evaluate=ev.bitcast, python="bitcast",
             doc="The same bits as another type of that width.")  # fmt: skip

# ── rounding and exact float functions ──────────────────────────────────────────────────────────

SQRT = op("sqrt", "value", rule=same(FLOATS), evaluate=ev.elementwise(np.sqrt), python="sqrt",
          doc="Correctly rounded square root.")  # fmt: skip
FLOOR = op("floor", "value", rule=same(FLOATS), evaluate=ev.elementwise(np.floor), python="floor",
           doc="Largest integer not above.")  # fmt: skip
CEIL = op("ceil", "value", rule=same(FLOATS), evaluate=ev.elementwise(np.ceil), python="ceil",
          doc="Smallest integer not below.")  # fmt: skip
TRUNC = op("trunc", "value", rule=same(FLOATS), evaluate=ev.elementwise(np.trunc), python="trunc",
           doc="Toward zero.")  # fmt: skip
ROUND = op("round", "value", rule=same(FLOATS), evaluate=ev.elementwise(np.rint), python="round",
           doc="Nearest integer, half to even; the sign of zero is kept.")  # fmt: skip
COPYSIGN = op("copysign", "magnitude", "sign", rule=same(FLOATS),
              evaluate=ev.elementwise(np.copysign),
              python="copysign", doc="First operand with the sign of the second.")  # fmt: skip

# ── functions of cubepy.std (the library defines them; a target may have its own) ───────────────

LIBRARY = PURE | Trait.LIBRARY


def _function(name: str, doc: str, *operands: str) -> OpDef:
    return op(
        name,
        *(operands or ("value",)),
        rule=same(FLOATS),
        traits=LIBRARY,
        python=name,
        ulp=TWO_ULP,
        doc=doc,
    )


EXP = _function("exp", "e to the power of the operand.")
EXP2 = _function("exp2", "2 to the power of the operand.")
EXPM1 = _function("expm1", "exp(x) - 1 without cancellation.")
LOG = _function("log", "Natural logarithm.")
LOG2 = _function("log2", "Logarithm to base 2.")
LOG10 = _function("log10", "Logarithm to base 10.")
LOG1P = _function("log1p", "log(1 + x) without cancellation.")
SIN = _function("sin", "Sine of an angle in radians, of any size.")
COS = _function("cos", "Cosine of an angle in radians, of any size.")
TAN = _function("tan", "Tangent of an angle in radians, of any size.")
ASIN = _function("asin", "Arcsine in radians; NaN beyond 1.")
ACOS = _function("acos", "Arccosine in radians; NaN beyond 1.")
ATAN = _function("atan", "Arctangent in radians.")
ATAN2 = _function(
    "atan2", "Angle of the point (x, y) in radians, special values as C99 Annex F.", "y", "x"
)
DEGREES = _function("degrees", "Radians to degrees.")
RADIANS = _function("radians", "Degrees to radians.")
SINH = _function("sinh", "Hyperbolic sine.")
COSH = _function("cosh", "Hyperbolic cosine.")
TANH = _function("tanh", "Hyperbolic tangent.")
ASINH = _function("asinh", "Inverse hyperbolic sine.")
ACOSH = _function("acosh", "Inverse hyperbolic cosine; NaN below 1.")
ATANH = _function("atanh", "Inverse hyperbolic tangent; NaN beyond 1.")
SIGMOID = _function("sigmoid", "1/(1 + exp(-x)).")
ERF = _function("erf", "Error function.")
ERFC = _function("erfc", "Complementary error function.")
POW = _function(
    "pow", "base ** exponent for floats, special values as C99 Annex F.", "base", "exponent"
)
CBRT = _function("cbrt", "Cube root, of negative numbers too.")
RSQRT = _function("rsqrt", "1/sqrt(x); infinite for zeros, with their sign.")
HYPOT = _function("hypot", "sqrt(x*x + y*y) without overflow on the way.", "x", "y")
FREXP_MANTISSA = op("frexp_mantissa", "value", rule=same(FLOATS), traits=LIBRARY,
                    evaluate=ev.elementwise(ev.mantissa),
                    doc="First result of frexp: from 1/2 to 1; 0, inf, NaN as is.")  # fmt: skip
FREXP_EXPONENT = op("frexp_exponent", "value", rule=same(FLOATS, result=I32), traits=LIBRARY,
                    evaluate=ev.elementwise(ev.exponent),
                    doc="Second result of frexp: i32; 0 for 0, inf and NaN.")  # fmt: skip
LDEXP = op("ldexp", "value", "exponent", rule=rules.scale, traits=LIBRARY,
           evaluate=ev.scale_by_power, python="ldexp",
           doc="value * 2**exponent rounded once.")  # fmt: skip

INTRINSIC = op("intrinsic", "*operands", rule=rules.call, traits=PURE,
               doc="An instruction of the target `target` in its own words, `template`; elsewhere "
               "the function `callee`, with the same result.")  # fmt: skip

# ── memory ──────────────────────────────────────────────────────────────────────────────────────

SHARED = op("shared", rule=rules.shared, traits=Trait.UNIFORM, python="shared",
            doc="Memory of the cube, attributes `element` and `shape`.")  # fmt: skip
LOCAL_ARRAY = op("local_array", rule=rules.private, traits=Trait.NONE, python="local_array",
                 doc="Memory of the unit, attributes `element` and `shape`.")  # fmt: skip
LENGTH = op("length", "memory", rule=rules.length, traits=PURE | Trait.UNIFORM, python="len",
            doc="Elements along the axis `axis` of a memory.")  # fmt: skip
STRIDE = op("stride", "memory", rule=rules.length, traits=PURE | Trait.UNIFORM,
            doc="Elements between neighbours along the axis `axis` of a buffer.")  # fmt: skip
LOAD = op("load", "memory", "*indices", rule=rules.load, traits=Trait.READS,
          doc="An element; attribute `check`. Outside: 0; an error where validated.")  # fmt: skip
STORE = op("store", "memory", "*indices_and_value", rule=rules.store, traits=Trait.WRITES,
           doc="Writes the last operand; attribute `check`. Outside: dropped; an error "
               "where validated.")  # fmt: skip
LOCAL = op("local", rule=rules.slot, traits=Trait.NONE,
           doc="A mutable variable, attribute `element`.")  # fmt: skip
LOAD_LOCAL = op(
    "load_local", "slot", rule=rules.load_local, traits=Trait.READS, doc="Value of a variable."
)
STORE_LOCAL = op("store_local", "slot", "value", rule=rules.store_local, traits=Trait.WRITES,
                 doc="Assignment to a variable.")  # fmt: skip


def _atomic(name: str, doc: str, evaluate: Evaluate | None) -> OpDef:
    return op(
        f"atomic_{name}", "memory", "*indices_and_value", rule=rules.atomic,
        traits=Trait.READS | Trait.WRITES | Trait.ATOMIC, python=f"atomic_{name}",
        evaluate=evaluate,
        doc=f"Atomic {doc}; gives the old value. Attributes `order`, `check`.",
    )  # fmt: skip


ATOMIC_ADD = _atomic("add", "sum", ev.elementwise(np.add))
ATOMIC_SUB = _atomic("sub", "difference", ev.elementwise(np.subtract))
ATOMIC_MIN = _atomic("min", "minimum", ev.elementwise(ev.minimum))
ATOMIC_MAX = _atomic("max", "maximum", ev.elementwise(ev.maximum))
ATOMIC_AND = _atomic("and_", "bitwise and", ev.elementwise(np.bitwise_and))
ATOMIC_OR = _atomic("or_", "bitwise or", ev.elementwise(np.bitwise_or))
ATOMIC_XOR = _atomic("xor", "bitwise exclusive or", ev.elementwise(np.bitwise_xor))
ATOMIC_EXCHANGE = _atomic("exchange", "exchange", ev.elementwise(lambda old, new: new))
ATOMIC_COMPARE_EXCHANGE = op(
    "atomic_compare_exchange", "memory", "*indices_expected_and_value", rule=rules.compare_exchange,
    traits=Trait.READS | Trait.WRITES | Trait.ATOMIC, python="atomic_compare_exchange",
    doc="Writes the last operand where the element equals the one before it; gives the old value.",
)  # fmt: skip
ATOMIC_LOAD = op(
    "atomic_load", "memory", "*indices", rule=rules.atomic_load,
    traits=Trait.READS | Trait.ATOMIC, python="atomic_load",
    doc="An element as it is at one moment. Attributes `order` (relaxed, acquire), `check`.",
)  # fmt: skip
ATOMIC_STORE = op(
    "atomic_store", "memory", "*indices_and_value", rule=rules.atomic_store,
    traits=Trait.WRITES | Trait.ATOMIC, python="atomic_store",
    doc="Writes the last operand at one moment. Attributes `order` (relaxed, release), `check`.",
)  # fmt: skip

# ── cooperation ─────────────────────────────────────────────────────────────────────────────────

SYNC_CUBE = op("sync_cube", rule=fixed(VOID), traits=Trait.BARRIER | Trait.READS | Trait.WRITES,
               python="sync_cube",
               doc="Barrier of the cube; orders shared and global memory.")  # fmt: skip
SYNC_STORAGE = op("sync_storage", rule=fixed(VOID),
                  traits=Trait.BARRIER | Trait.READS | Trait.WRITES, python="sync_storage",
                  doc="Barrier of the cube that orders global memory only.")  # fmt: skip
SYNC_PLANE = op("sync_plane", rule=fixed(VOID), traits=Trait.PLANE | Trait.READS | Trait.WRITES,
                python="sync_plane", doc="Barrier of the plane.")  # fmt: skip
FENCE = op("fence", rule=fixed(VOID), traits=Trait.READS | Trait.WRITES, python="fence",
           doc="Orders what the unit did before and after for the units of `scope` (cube, device), "
           "where atomics let them know of each other.")  # fmt: skip
CUBE_UNIFORM = op("cube_uniform", "value", rule=same(ANY), traits=Trait.BARRIER | Trait.UNIFORM,
                  python="cube_uniform",
                  doc="The value of unit 0, in every unit of the cube.")  # fmt: skip


def _plane(name: str, doc: str, rule: TypeRule, *operands: str) -> OpDef:
    return op(
        f"plane_{name}", *(operands or ("value",)), rule=rule, traits=Trait.PLANE,
        python=f"plane_{name}", doc=doc,
    )  # fmt: skip


PLANE_SUM = _plane("sum", "Sum over the plane; floats as a balanced tree by lane.", same(NUMBERS))
PLANE_PROD = _plane(
    "prod", "Product over the plane; floats as a balanced tree by lane.", same(NUMBERS)
)
PLANE_MIN = _plane("min", "Minimum over the plane.", same(NUMBERS))
PLANE_MAX = _plane("max", "Maximum over the plane.", same(NUMBERS))
PLANE_INCLUSIVE_SUM = _plane("inclusive_sum", "Sum of this lane and those below.", same(NUMBERS))
PLANE_EXCLUSIVE_SUM = _plane("exclusive_sum", "Sum of the lanes below.", same(NUMBERS))
PLANE_INCLUSIVE_PROD = _plane(
    "inclusive_prod", "Product of this lane and those below.", same(NUMBERS)
)
PLANE_EXCLUSIVE_PROD = _plane("exclusive_prod", "Product of the lanes below.", same(NUMBERS))
PLANE_BROADCAST = _plane(
    "broadcast", "The value of a lane, uniform number.", rules.lane, "value", "lane"
)
PLANE_SHUFFLE = _plane("shuffle", "The value of a lane; missing: own.", rules.lane, "value", "lane")
PLANE_SHUFFLE_XOR = _plane("shuffle_xor", "From lane ^ operand.", rules.lane, "value", "lane")
PLANE_SHUFFLE_UP = _plane("shuffle_up", "From lane - operand.", rules.lane, "value", "lane")
PLANE_SHUFFLE_DOWN = _plane("shuffle_down", "From lane + operand.", rules.lane, "value", "lane")
PLANE_ALL = _plane("all", "Whether every lane's operand holds.", fixed(BOOL, BOOL))
PLANE_ANY = _plane("any", "Whether some lane's operand holds.", fixed(BOOL, BOOL))
PLANE_BALLOT = _plane("ballot", "Bit p: whether lane p's operand holds (u64).", rules.ballot)
PLANE_ELECT = op("plane_elect", rule=fixed(BOOL), traits=Trait.PLANE, python="plane_elect",
                 doc="True in the lowest active lane only.")  # fmt: skip

# ── reports to the host ─────────────────────────────────────────────────────────────────────────

ASSERT = op("assert", "condition", "*values", rule=rules.assertion, traits=Trait.REPORTS,
            python="assert",
            doc="Where false the launch raises AssertionFailed with `text`; the unit goes "
            "on.")  # fmt: skip
CHECK_BOUNDS = op("check_bounds", "index", "extent", rule=rules.bounds_check, traits=Trait.REPORTS,
                  doc="Where the index is not from 0 to the extent the launch raises "
                  "OutOfBoundsError; attributes `name`, `axis`, `axes`.")  # fmt: skip
PRINT = op("print", "*values", rule=rules.printed, traits=Trait.REPORTS, python="print",
           doc="Prints `text`, a format of the values, once the launch has ended.")  # fmt: skip

# ── control flow ────────────────────────────────────────────────────────────────────────────────

IF = op("if", "condition", rule=fixed(VOID, BOOL), traits=Trait.CONTROL, regions=2,
        doc="Regions: then, else (may be empty).")  # fmt: skip
FOR = op("for", "start", "stop", "step", rule=rules.for_loop, traits=Trait.CONTROL, regions=1,
         doc="Python's range; the region's parameter is the variable.")  # fmt: skip
WHILE = op("while", rule=fixed(VOID), traits=Trait.CONTROL, regions=2,
           doc="Regions: condition (ends with `yield`), body.")  # fmt: skip
BLOCK = op("block", rule=fixed(VOID), traits=Trait.CONTROL, regions=1,
           doc="Runs its region once; `leave` ends it (an inlined early return).")  # fmt: skip
YIELD = op("yield", "condition", rule=fixed(VOID, BOOL), traits=Trait.EXIT,
           doc="The value of a `while` condition.")  # fmt: skip
BREAK = op("break", rule=fixed(VOID), traits=Trait.EXIT, doc="Leaves the innermost loop.")
CONTINUE = op(
    "continue", rule=fixed(VOID), traits=Trait.EXIT, doc="Next trip of the innermost loop."
)
RETURN = op(
    "return", "*values", rule=rules.returns, traits=Trait.EXIT, doc="Leaves kernel or function."
)
LEAVE = op("leave", rule=fixed(VOID), traits=Trait.EXIT, doc="Leaves the innermost `block`.")
CALL = op("call", "*arguments", rule=rules.call, traits=Trait.READS | Trait.WRITES,
          doc="Calls the function `callee`; `results` names its result types.")  # fmt: skip
TUPLE_GET = op("tuple_get", "tuple", rule=rules.tuple_get,
               doc="Element `index` of a call's results.")  # fmt: skip

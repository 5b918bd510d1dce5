"""What mutations put into a source: constants, names, annotations, statements, wrapped expressions.

Each stands for something people write: right elsewhere, wrong here, or plain nonsense.
"""

from typing import Any

__all__ = ["ANNOTATIONS", "ATTRIBUTES", "CONSTANTS", "NAMES", "STATEMENTS", "TOKENS", "WRAPPERS"]

CONSTANTS: tuple[Any, ...] = (
    0, 1, -1, 2, 7, 31, 32, 64, 255, 256, 2**31 - 1, 2**31, 2**32, 2**63, 2**64, 2**70, 10**400,
    0.0, -0.0, 0.5, 1.5, 1e39, 1e308, float("inf"), float("nan"), True, False, None, "text", "",
    b"bytes", ..., 1j,
)  # fmt: skip
NAMES: tuple[str, ...] = (
    "cb", "f32", "i32", "u8", "index", "len", "range", "min", "max", "abs", "round", "int",
    "float", "bool", "print", "sum", "list", "tuple", "zip", "enumerate", "sorted", "str", "type",
    "super", "object", "undefined", "kernel", "helper", "_", "Array", "math", "np", "isinstance",
    "map",
)  # fmt: skip
ATTRIBUTES: tuple[str, ...] = (
    "shape", "strides", "ndim", "dtype", "size", "T", "real", "__class__", "__len__", "pi", "sqrt",
    "float32", "ABSOLUTE_POS", "CUBE_DIM", "PLANE_DIM", "UNIT_POS", "sync_cube", "shared",
    "select", "atomic_add", "plane_sum", "erf", "fma", "unroll", "comptime", "cast", "bitcast",
    "local_array", "undefined",
)  # fmt: skip
ANNOTATIONS: tuple[str, ...] = (
    "int", "float", "bool", "f32", "f64", "i32", "u8", "cb.index", "Array[f32]", "Array[i32]",
    "Array", "Tensor[f32]", "Tensor", "Comptime[int]", "Comptime", "str", "list[int]", "None",
    "object", "3", "'f32'", "cb.Float", "Array[str]", "Array[Array[f32]]", "type",
)  # fmt: skip
STATEMENTS: tuple[str, ...] = (
    "pass", "break", "continue", "return", "return 1", "return x, x", "raise ValueError(x)",
    "raise", "import os", "from os import path", "global x", "nonlocal x", "del x", "del x[0]",
    "assert x", "assert False, 'text'", "assert i < 3", "yield x", "await x", "x: f32",
    "x: f32 = 0", "x = x", "x += x", "x[0] += 1", "x[0], x[1] = x[1], x[0]", "a = b = 0",
    "a, *b = 1, 2, 3", "(a := 3)", "print(x)", "x", "1", "'text'", "x.y = 1", "x.shape = 1",
    "x[:] = 0", "i = cb.ABSOLUTE_POS", "cb.sync_cube()", "cb.sync_plane()", "cb.plane_sum(1.0)",
    "t = cb.shared(f32, 4)", "t = cb.local_array(f32, (2, 2), 0.0)", "cb.static_assert(False)",
    "class A: pass", "def f(y): return y", "def f(): return f()", "async def f(): pass",
    "f = lambda y: y + 1", "f = lambda: f()", "type X = int", "with x: pass", "with x as y: pass",
    "try: pass\nexcept ValueError: pass", "try: pass\nfinally: pass", "while True: break",
    "while x: pass", "while False: pass\nelse: x = 1", "for _ in range(3): continue",
    "for a, b in ((1, 2), (3, 4)): pass", "for k in x: pass", "for k in cb.unroll(range(3)): pass",
    "for k in range(3): break\nelse: return", "for x[0] in range(3): pass", "if x: pass",
    "if 1 < i < 3: return\nelse: pass", "if True: a = 1\nelse: a = 1.5", "match i:\n case 0: pass",
    "match i:\n case 0 | 1: i = 2\n case k if k > 3: i = k\n case _: pass",
    "match x:\n case [a, b]: pass", "match i:\n case {'a': 1}: pass",
    "match i:\n case int(): pass", "match i:\n case -1 | None: pass\n case 1.5: pass",
)  # fmt: skip
# {0} is the expression that was there.
WRAPPERS: tuple[str, ...] = (
    "({})", "({},)", "[{}]", "[{0}, {0}]", "{{{0}: {0}}}", "{{{0}}}", "{}[0]", "{}[i]", "{}[0, 1]",
    "{}[0:2]", "{}[-1]", "{}[None]", "{}[...]", "{}.shape", "{0}.dtype({0})", "{}()", "{0}({0})",
    "{0} if {0} else {0}", "{0} and {0}", "{0} or 1", "not {}", "-{}", "~{}", "+{}", "lambda: {}",
    "(lambda y: y)({})", "(w := {})", "f'{{{}}}'", "f'{{{}!r:>3}}'", "[k for k in {}]",
    "sum(k for k in {})", "{{k: 1 for k in {}}}", "len({})", "range({})", "int({})", "float({})",
    "bool({})", "abs({})", "min({})", "min({0}, {0})", "max({}, 1)", "round({})", "round({}, 2)",
    "divmod({}, 2)", "pow({}, 2)", "sum({})", "sorted({})", "list({})", "tuple({})", "str({})",
    "print({})", "isinstance({}, int)", "zip({0}, {0})", "enumerate({})", "f32({})", "u8({})",
    "cb.index({})", "cb.cast(f32, {})", "cb.cast({}, 1)", "cb.bitcast(i32, {})",
    "cb.select({}, 1, 2)", "cb.comptime({})", "cb.unroll({})", "cb.shared(f32, {})",
    "cb.local_array({}, 2)", "cb.plane_sum({})", "cb.plane_any({})", "cb.plane_shuffle({}, 0)",
    "cb.cube_uniform({})", "cb.atomic_add({}, 0, 1)", "cb.atomic_add(x, {}, 1)", "cb.sqrt({})",
    "cb.exp({})", "cb.pow({0}, {0})", "cb.clamp({}, 0, 1)", "cb.popcount({})", "cb.rotl({}, 1)",
    "cb.cdiv({}, 2)", "cb.frexp({})", "cb.ldexp({0}, {0})", "math.sqrt({})", "np.float32({})",
    "{}.real", "*{}", "({0})(**{0})", "{0} is {0}", "{0} in ({0}, 1)", "{0} < {0} < {0}",
    "{0} == {0}", "{0} @ {0}", "{0} ** {0}", "{0} << {0}", "{0} // 0", "{0} % 0", "1 / {0}",
    "x[{}]", "await {}", "(yield {})",
)  # fmt: skip
TOKENS: tuple[str, ...] = (
    "not", "and", "or", "is", "in", "if", "else", "lambda", "await", "yield", "return", "(", ")",
    "[", "]", ",", ":", ".", "=", ":=", "+=", "*", "**", "-", "~", "0", "1.5", "x", "i", "cb",
    "f32", "None", "'text'", "...", "@", "==", "<", "//", "break", "continue", "pass", "del",
    "global",
)  # fmt: skip

"""The library's sources run on NumPy arrays: quick to measure, and independent of front end and
back ends.

The modules are executed again with a namespace in place of `cubepy` whose functions are the
`evaluate` of the op table, and with `fma` from LLVM. An `if` on an array becomes: run the body,
blend by the condition.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from cubepy.ir import SCALARS, Scalar, ops, scalar_of_numpy
from cubepy.std import formats

Array = Any
DATA_MODULES = ("cubepy.std.formats", "cubepy.std.polynomials")
FORMATS = {"f32": formats.F32, "f64": formats.F64}

FMA = """
define void @fma_{name}(ptr %a, ptr %b, ptr %c, ptr %out, i64 %count) {{
entry:
  br label %loop
loop:
  %at = phi i64 [ 0, %entry ], [ %next, %loop ]
  %pa = getelementptr {type}, ptr %a, i64 %at
  %pb = getelementptr {type}, ptr %b, i64 %at
  %pc = getelementptr {type}, ptr %c, i64 %at
  %po = getelementptr {type}, ptr %out, i64 %at
  %x = load {type}, ptr %pa
  %y = load {type}, ptr %pb
  %z = load {type}, ptr %pc
  %r = call {type} @llvm.fma.{name}({type} %x, {type} %y, {type} %z)
  store {type} %r, ptr %po
  %next = add i64 %at, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}
declare {type} @llvm.fma.{name}({type}, {type}, {type})
"""


@functools.cache
def _engine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
    )
    text = FMA.format(name="f32", type="float") + FMA.format(name="f64", type="double")
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    return engine


def fma(a: Array, b: Array, c: Array) -> Array:
    """a*b + c rounded once, by the machine or its C library."""
    dtype = next(x.dtype for x in (a, b, c) if isinstance(x, np.ndarray) and x.ndim)
    shape = np.broadcast_shapes(np.shape(a), np.shape(b), np.shape(c))
    parts = [np.ascontiguousarray(np.broadcast_to(np.asarray(x, dtype), shape)) for x in (a, b, c)]
    out = np.empty(shape, dtype)
    name = "f32" if dtype == np.float32 else "f64"
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)(
        _engine().get_function_address(f"fma_{name}")
    )
    if out.size:
        call(*(part.ctypes.data for part in parts), out.ctypes.data, out.size)
    return out


def _of(scalar: Scalar) -> Callable[[Array], Array]:
    def convert(value: Array) -> Array:
        evaluate = ops.CAST.evaluate
        assert evaluate is not None
        return evaluate(np.asarray(value), type=scalar, attrs={"to": scalar})

    return convert


def _bitcast(to: Any, value: Array) -> Array:
    return value.view(SCALARS[to.name].numpy)


def _select(condition: Array, a: Array, b: Array) -> Array:
    typed = [x for x in (a, b) if isinstance(x, np.ndarray)]
    dtype = typed[0].dtype
    assert all(x.dtype == dtype for x in typed)
    return np.where(condition, np.asarray(a, dtype), np.asarray(b, dtype))


def _row(name: str) -> Callable[..., Array]:
    row = ops.BY_PYTHON[name]

    def call(*operands: Array) -> Array:
        assert row.evaluate is not None
        types = tuple(scalar_of_numpy(x.dtype) for x in operands)
        result = row.rule(types, {})  # type: ignore[arg-type]  # every dtype here has a scalar
        return row.evaluate(*operands, type=result, attrs={})

    return call


_ROWS = ("trunc", "copysign", "isinf", "isnan", "sqrt", "clz", "ctz", "mul_hi")


def _namespace() -> SimpleNamespace:
    names: dict[str, Any] = {name: _row(name) for name in _ROWS}
    for name, scalar in SCALARS.items():
        names[name] = _of(scalar)
        names[name].name = name
    return SimpleNamespace(fma=fma, bitcast=_bitcast, select=_select, **names)


class _Blends(ast.NodeTransformer):
    """Makes `if` work on arrays; one that returns is decided while lowering and stays."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        if node.orelse or any(isinstance(part, ast.Return) for part in ast.walk(node)):
            return node
        stored = {
            part.id
            for statement in node.body
            for part in ast.walk(statement)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        }
        names = ", ".join(sorted(stored))
        before = ast.parse(f"_before = ({names},)").body
        after = ast.parse(f"({names},) = _blend(_condition, ({names},), _before)").body
        condition = ast.Assign(targets=[ast.Name("_condition", ast.Store())], value=node.test)
        return [condition, *before, *node.body, *after]


def _blend(condition: Array, after: tuple[Array, ...], before: tuple[Array, ...]) -> list[Array]:
    return [_select(condition, new, old) for new, old in zip(after, before, strict=True)]


@functools.cache
def module(name: str) -> dict[str, Any]:
    """The globals of a library module on NumPy."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    if name in DATA_MODULES:
        return vars(importlib.import_module(name))
    tree = ast.parse(Path(spec.origin).read_text())
    names: dict[str, Any] = {"cb": _namespace(), "_blend": _blend, "__name__": f"numpy.{name}"}
    body: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and str(statement.module).startswith("cubepy."):
            source = module(str(statement.module))
            names |= {alias.name: source[alias.name] for alias in statement.names}
        elif not isinstance(statement, ast.Import):
            body.append(statement)
    tree.body = body
    code = compile(ast.fix_missing_locations(_Blends().visit(tree)), spec.origin, "exec")
    exec(code, names)
    return names


MODULES = {
    "exp": "exponential",
    "exp2": "exponential",
    "expm1": "exponential",
    "log": "logarithm",
    "log2": "logarithm",
    "log10": "logarithm",
    "log1p": "logarithm",
    "sin": "trigonometric",
    "cos": "trigonometric",
    "tan": "trigonometric",
    "acos": "inverse_trigonometric",
    "asin": "inverse_trigonometric",
    "atan": "inverse_trigonometric",
    "atan2": "inverse_trigonometric",
    "acosh": "hyperbolic",
    "asinh": "hyperbolic",
    "atanh": "hyperbolic",
    "cosh": "hyperbolic",
    "sigmoid": "hyperbolic",
    "sinh": "hyperbolic",
    "tanh": "hyperbolic",
    "cbrt": "roots",
    "degrees": "roots",
    "hypot": "roots",
    "radians": "roots",
    "rsqrt": "roots",
    "erf": "error_function",
    "erfc": "error_function",
    "pow": "power",
}


def function(name: str, type: str) -> Callable[..., Array]:
    """A library function on arrays of one type."""
    defined = module(f"cubepy.std.{MODULES[name]}")[name]

    def run(*operands: Array) -> Array:
        with np.errstate(all="ignore"):
            return defined(*operands, FORMATS[type])

    return run

"""Odd kernels lower to well-formed IR or are an error with a place; nothing else comes out."""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import frontend, ir
from cubepy.errors import CubeSyntaxError, SourceError

ARGUMENTS: dict[str, Any] = {
    "x": np.zeros(8, np.float32),
    "n": np.zeros(8, np.int32),
    "m": np.zeros((3, 3), np.float32),
    "t": np.zeros(8, np.bool_),
    "u": np.zeros(8, np.uint32),
}
OPTIONS = frontend.LaunchOptions(cube_dim=(32, 1, 1), plane_dim=16)
Statements = tuple[str, ...]

GOOD: list[Statements] = [
    ("y = x", "y[0] = 1.0"),
    ("y = x", "y = m", "y[0,0] = 1.0"),
    ("if None: x[0]=1.0",),
    ("for x[0] in (1.0, 2.0): pass",),
    ("for k in cb.unroll(range(3), when=False): x[k]=1.0",),
    ("def f(*a): return a[0]+len(a)", "x[0]=f(x[0],x[1])"),
    ("def f(a, *, b=2.0): return a*b", "x[0]=f(x[0])+f(x[1],b=3.0)"),
    ("def f(): return", "x[0]=1.0", "f()"),
    ("def f(a):", "  if a>0: return 1", "  return 2.5", "x[0]=f(x[0])"),
    ("def f(a):", "  if a>0: return 1", "  return n[0]", "n[0]=f(x[0])"),
    ("def f(a):", "  while True:", "    a = a+1", "    if a>3: return a", "x[0]=f(x[0])"),
    ("def f(a):", "  for k in cb.unroll(range(3)):", "    return a+k", "x[0]=f(x[0])"),
    ("a: cb.f64 = 1.5", "x[0]=a"),
    ("assert len((1,2)) == 2",),
    ("x[0] = (1.0,2.0,3.0)[1]",),
    ("x[0] = {'a':1}['a']",),
    ("x[0] = m[0][1]",),
    ("x[0] = m[(0,1)]",),
    ("p = (0,1)", "x[0] = m[p]"),
    ("x[0] = sum((x[0],x[1]))",),
    ("x[0] = min(x[0])",),
    ("x[0] = cb.select(1, x[0], x[1])",),
    ("s = cb.shared(cb.f32, (2,3))", "s[1,2]=x[0]", "x[1]=s[1,2]"),
    ("s = cb.local_array(cb.f32, 4, fill=x[0])", "x[1]=s[1]"),
    ("cb.atomic_add(m, (0,1), 1)",),
    ("t[0] = cb.plane_all(True)",),
    ("t[0] = 0 < x[0] < 1 < True",),
    ("t[0] = x is x",),
    ("n[0] = n[0] // 0",),
    ("n[0] = n[0] << -1",),
    ("n[0] = n[0] << 400",),
    ("return None",),
    ("return", "x[0]=undefined"),
    ("if x[0]>0: y=1.0", "else: y=2", "x[0]=y"),
    ("if x[0]>0: y=1", "else: y=2.0", "x[0]=y"),
    ("if x[0]>0: y=(1,2)", "else: y=(3,4)", "x[y[0]]=y[1]"),
    ("if x[0]>0: y=(1,2)", "else: y=(3,4,5)"),
    ("y=(1.0,x[0])", "for k in range(3): y=(y[1],y[0]+1)", "x[0]=y[0]"),
    ("y='a'", "if x[0]>0: y='a'", "x[0]= 1.0 if y=='a' else 2.0"),
    ("x[0], x[1] = x[1], x[0]",),
    ("x[0] = x[1] = 2.0",),
    ("[x[0], x[1]] = (1.0, 2.0)",),
    ("(x[0]) = 1.0",),
    ("x[x.size-1] = 1.0",),
    ("x[-cb.UNIT_POS] = 1.0",),
    ("x[len(x)-10] = 1.0",),
    ("x[0] = cb.f32(cb.PLANE_DIM)",),
    ("s=cb.shared(cb.f32, cb.PLANE_DIM)", "s[0]=1.0"),
    ("if cb.PLANE_DIM > 4: x[0]=1.0",),
    ("x[0] = (lambda a, b=2.0: a*b)(x[1])",),
    ("x[0] = float('inf')",),
    ("x[0] = cb.exp(1)",),
    ("x[0] = cb.erf(value=x[0])",),
    ("x[0] = cb.comptime(sum(k*k for k in range(4)))",),
    ("x[0] = cb.comptime(__import__('math').sin(2))",),
    (
        "a = b = c = 0",
        "for k in range(3):",
        "  a += 1; b += x[k]; c += u[k]",
        "n[0]=a; x[0]=b; u[0]=c",
    ),
    ("a = 0", "b = a", "for k in range(3): b += x[k]", "x[0]=b"),
    ("a = 0", "for k in range(3):", "  b = a", "  a = b + u[k]", "u[0]=a"),
    ("a = True", "for k in range(3): a = a and x[k] > 0", "t[0]=a"),
    ("k = 5", "for k in range(3): pass", "n[0]=k"),
    ("k = 5", "for k in range(n[0]): pass", "n[0]=k"),
]
BAD: list[Statements] = [
    ("x[0] = None",),
    ("y = None", "x[0] = y"),
    ("a, b = x[0]",),
    ("a, b = 1, 2, 3",),
    ("x[0] = 'a'",),
    ("x[0] = 1j",),
    ("x[0] = cb",),
    ("x[0] = cb.f32",),
    ("x[0] = (1.0, 2.0)",),
    ("x[0] = -x",),
    ("x[0] = not x[0]",),
    ("x[0] = ~x[0]",),
    ("cb.sync_cube(1)",),
    ("cb.foo.bar()",),
    ("x.foo = 1",),
    ("x.foo()",),
    ("x[0] += 'a'",),
    ("x[0] = x[0] if x else 1.0",),
    ("if x: x[0]=1.0",),
    ("while x[0]: pass",),
    ("for a, b in range(3): pass",),
    ("for a in 3: pass",),
    ("for a in x[0]: pass",),
    ("for x[0] in range(3): pass",),
    ("for x[k] in range(3): pass",),
    ("for k in range(x[0]): pass",),
    ("for k in range(1.5): pass",),
    ("for k in range(): pass",),
    ("for k in range(n[0], u[0]): x[k]=0.0",),
    ("for k in range(True): pass",),
    ("for k in range(3, stop=4): pass",),
    ("for k in cb.unroll(x): pass",),
    ("for k in cb.unroll(3): pass",),
    ("cb.unroll(range(3))",),
    ("def f(a): return f(a)", "x[0]=f(1.0)"),
    ("f = lambda a: f(a)", "x[0]=f(1.0)"),
    ("def f(a): return g(a)", "def g(a): return f(a)", "x[0]=f(x[0])"),
    ("def f(**a): return 1", "x[0]=f(b=1)"),
    ("def f(): pass", "f()", "x[0]=f()"),
    ("def f():", "  return x", "y=f()", "y[0]=1.0"),
    ("def f(a):", "  if a>0: return 1, 2", "  return 3", "n[0]=f(x[0])"),
    ("def f(a):", "  if a>0: return None", "  return 3", "n[0]=f(x[0])"),
    ("def f(a):", "  for k in range(3):", "    return a", "x[0]=f(x[0])"),
    ("def f(a):", "  for k in cb.unroll(range(3)):", "    if a>k: return a", "x[0]=f(x[0])"),
    ("a: cb.f32", "x[0]=a"),
    ("a: 3 = 4",),
    ("del x",),
    ("import math",),
    ("global q", "q = 1"),
    ("assert x[0] > 0",),
    ("assert cb.CUBE_DIM == 33, 'dim'",),
    ("print(x[0])",),
    ("x[0] = f'{x[0]}'",),
    ("x[0] = [1,2,3][n[0]]",),
    ("x[0] = (1.0,2.0,3.0)[5]",),
    ("x[0] = m[0]",),
    ("x[0] = m[0] + 1.0",),
    ("x[0] = m[0,1,2]",),
    ("x[0] = m[...]",),
    ("x[0] = m.T[0,1]",),
    ("x[0] = m.shape[5]",),
    ("x[0] = f32(m.shape[n[0]])",),
    ("x[0] = max(x)",),
    ("x[0] = max()",),
    ("x[0] = abs()",),
    ("x[0] = abs(t[0])",),
    ("x[0] = round(x[0], 2)",),
    ("x[0] = cb.select(x[0], x[0], x[1])",),
    ("x[0] = cb.cast(3, x[0])",),
    ("x[0] = cb.cast(cb.f32)",),
    ("x[0] = cb.bitcast(cb.f32, t[0])",),
    ("x[0] = cb.shared(cb.f32, 0)[0]",),
    ("x[0] = cb.shared(cb.f32, 'a')[0]",),
    ("s = cb.local_array(cb.f32, -4)",),
    ("cb.atomic_add(x[0], 1)",),
    ("cb.atomic_add(m, 0, 1)",),
    ("cb.atomic_and_(x, 0, 1)",),
    ("cb.atomic_add(cb.local_array(cb.f32,3), 0, 1)",),
    ("x[0] = cb.plane_sum(t[0])",),
    ("x[0] = cb.plane_shuffle(x[0], x[1])",),
    ("x[0] = cb.plane_sum(1)",),
    ("t[0] = x[0] in (1,2)",),
    ("t[0] = 1 in (1,2)",),
    ("t[0] = x[0] is x[0]",),
    ("n[0] = 1 // 0",),
    ("n[0] = n[0] % 2.0",),
    ("a = 10**30", "x[0] = a"),
    ("a = 10**30",),
    ("return 5",),
    ("x[0] = y", "y = 1.0"),
    ("y=cb.f32", "for k in range(3): y=cb.f64", "x[0]=y(1)"),
    ("match x[0]:", "  case 1.0: x[1]=2.0", "  case [a,b]: x[1]=3.0"),
    ("match n[0]:", "  case k if k>3: x[1]=2.0", "  case _: x[1]=3.0"),
    ("try: x[0]=1.0", "except: pass"),
    ("with x: pass",),
    ("class A: pass",),
    ("x[0] = (yield)",),
    ("x[0:2] = 1.0",),
    ("x[0] = x[1:2]",),
    ("x[n] = 1.0",),
    ("x[0] = n[n[0]] * 0.5",),
    ("x[0] = cb.UNIT_POS",),
    ("x[0] = cb.PLANE",),
    ("x[0] = lambda a: a",),
    ("x[0] = float(n[0]) + int(x[0])",),
    ("x[0] = cb.exp(n[0])",),
    ("x[0] = cb.exp(x)",),
    ("x[0] = cb.exp()",),
    ("x[0] = cb.exp(x[0], x[1])",),
    ("x[0] = cb.exp(y=x[0])",),
    ("x[0] = cb.comptime(x[0])",),
    ("cb.static_assert(1 == 2, 'no')",),
    ("a = True", "a = 1"),
    ("k = x[0]", "for k in range(n[0]): pass", "n[0]=k"),
    ("n[0] = 10**400",),
]


def lowered(statements: Statements) -> ir.Kernel:
    names: dict[str, Any] = {"cb": cb, "np": np, "f32": cb.f32}
    body = "".join(f"    {line}\n" for line in statements)
    cb.exec(f"def kernel(x, n, m, t, u):\n{body}", names)
    source = frontend.capture(names["kernel"])
    return frontend.lower(source, frontend.specialize(source, ARGUMENTS, OPTIONS))


@pytest.mark.parametrize("statements", GOOD, ids="; ".join)
def test_odd_kernels_that_mean_something(statements: Statements) -> None:
    kernel = lowered(statements)
    ir.verify(kernel, "lowered")
    text = ir.print_kernel(kernel)
    assert ir.print_kernel(ir.parse_kernel(text)) == text


@pytest.mark.parametrize("statements", BAD, ids="; ".join)
def test_odd_kernels_that_mean_nothing(statements: Statements) -> None:
    with pytest.raises(SourceError) as caught:
        lowered(statements)
    for diagnostic in caught.value.diagnostics:
        assert diagnostic.loc.known
        if not isinstance(caught.value, CubeSyntaxError):
            assert diagnostic.loc.line <= len(statements) + 1
            assert "^" in diagnostic.render()
    assert len(caught.value.diagnostics) <= 2

"""What cases of changing state are, and the module that their kernels stand in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cubepy as cb

__all__ = ["Case", "case_of", "module_of"]


@dataclass(frozen=True, kw_only=True)
class Case:
    """`before`: statements of the module; `value`: what the kernel stores; `change`: run between
    two launches. `inner`: the statements before the store.
    """

    name: str
    value: str
    change: str
    before: str = ""
    inner: str = "pass"
    refused: bool = False
    arguments: tuple[str, ...] = field(default=())
    parameters: str = ""


_HEAD = """
import dataclasses, enum, functools, operator, typing, types
from typing import Any, NamedTuple
import cubepy as cb
from cubepy import Array, Comptime, f32

mod = types.ModuleType("mod"); mod.K = 2.0
other = types.ModuleType("other"); other.K = 3.0
MODULES = (mod, other)
mod.part = types.ModuleType("mod.part"); mod.part.K = 2.0
K = 2.0
NAME = "K"
KEYS = ("K",)
TABLE = [2.0]
LOOKUP = {"K": 2.0}
PAIR = (2.0, 3.0)
def replaced(*values): return 7.0
def helper(v): return v * K
def by_default(v, by=2.0): return v * by
def by_keyword(v, *, by=2.0): return v * by
def named(v): return v * named.K
named.K = 2.0
@cb.cube
def cubed(v): return v * K
cubed.K = 2.0
def through(v, function=helper): return function(v)
def of_module(m): return m.K
def of_class(c): return c.K
class Base:
    K = 2.0
class C(Base):
    M = 2.0
    @staticmethod
    def s(v): return v * K
    @classmethod
    def c(cls, v): return v * cls.K
    class Inner:
        K = 2.0
@dataclasses.dataclass(frozen=True)
class F:
    x: float = 1.0
    function: Any = helper
    K = 2.0
    def m(self, v): return v * self.K
    def g(self, v): return v * K
    def t(self, v): return v * type(self).K
    @property
    def p(self): return self.K + self.x
    @property
    def q(self): return K
    @functools.cached_property
    def once(self): return 2.0
    def __add__(self, o): return self.K + o
    def __call__(self, v): return v * K
    def __getitem__(self, at): return K
    def __len__(self): return int(K)
    def __iter__(self): return iter((K, 1.0))
    def __hash__(self): return 1
    def __bool__(self): return K < 3.0
    def __eq__(self, o): return K < 3.0
FROZEN = F()
@cb.struct
class S:
    x: f32
    K = 2.0
    def m(self, v): return v * self.K + self.x
    @property
    def p(self): return self.x * K
    def __mul__(self, o): return self.x * o * K
STRUCT = S(1.0)
class Point(NamedTuple):
    x: float
    def m(self): return self.x * K
Point.K = 2.0
POINT = Point(1.0)
class Level(enum.IntEnum):
    LOW = 3
    @property
    def p(self): return K
    def m(self): return self.K
Level.K = 2.0
class Plain:
    def __init__(self): self.K = 2.0
    def __call__(self, v): return v * self.K
    def read(self): return self.K
PLAIN = Plain()
class Lazy(types.ModuleType):
    @property
    def K(self): return mod.K
LAZY = Lazy("lazy")
class Fetch:
    def __get__(self, instance, owner): return K
C.fetched = Fetch()
class Meta(type):
    K = 2.0
class Made(metaclass=Meta):
    pass
PARTIAL = functools.partial(by_default, 1.0)
@functools.wraps(helper)
def wrapper(v): return helper(v)
@functools.lru_cache(None)
def cached(): return helper(1.0)
READER = operator.attrgetter("K")
def closed():
    by = 2.0
    def change(to):
        nonlocal by
        by = to
    def inner(v): return v * by
    def holder(v, m=mod): return v * m.K
    return inner, change, holder
closure, change_closure, holding = closed()
FUNCTIONS = (helper, by_default)
LAYOUT = cb.Layout.virtual((4,), lambda i: int(K) + i)
T = f32
def computes(): return K
def computes_attribute(): return C.K + C.Inner.K
def computes_module(): return [m.K for m in MODULES][0]
def computes_computed(): return getattr(mod, NAME[:1] + "")
def computes_list(): return TABLE[0]
def computes_dict(): return LOOKUP["K"]
def computes_globals(): return globals()["K"]
def computes_plain(): return PLAIN.K
def computes_deep(): return (lambda: through(1.0))()
def computes_default(c=C): return c.K
def computes_method(): return FROZEN.g(1.0)
def computes_made(): return F().K
def computes_getter(): return READER(mod)
def computes_sorted(): return sorted([2.0, 1.0], key=lambda v: v * K)[0] * K
"""


def case_of(value: str, change: str, **more: Any) -> Case:
    return Case(name=f"{value} | {change}", value=value, change=change, **more)


def module_of(case: Case) -> dict[str, Any]:
    """The names of a module made anew."""
    parameters = f", {case.parameters}" if case.parameters else ""
    text = (
        f"{_HEAD}\n{case.before}\n@cb.cube\n"
        f"def kernel(out: Array[f32]{parameters}):\n"
        f"    {case.inner}\n"
        f"    if cb.ABSOLUTE_POS < len(out):\n"
        f"        out[cb.ABSOLUTE_POS] = {case.value}\n"
    )
    names: dict[str, Any] = {"__name__": "state", "__builtins__": __builtins__}
    return cb.exec(text, names)

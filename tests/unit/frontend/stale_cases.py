"""Kernels that read Python's state in every way there is, and what changes that state.

Each case is the text of a module with a kernel that stores one value, and a statement that changes
something the value came from. `refused` has those that are refused, for nobody can watch what they
read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cubepy as cb

__all__ = ["CASES", "Case", "module_of"]


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

_BUMP = "K = 5.0"


def _case(value: str, change: str, **more: Any) -> Case:
    return Case(name=f"{value} | {change}", value=value, change=change, **more)


_NAMES = [
    _case("K", _BUMP),
    _case("K", "K = 5"),
    _case("helper(1.0)", _BUMP),
    _case("helper(1.0)", "helper = replaced"),
    _case("closure(1.0)", "change_closure(5.0)"),
    _case("holding(1.0)", "mod.K = 5.0"),
    _case("(lambda v: v * K)(1.0)", _BUMP),
    _case("PAIR[0]", "PAIR = (5.0,)"),
    _case("T(1.5)", "T = cb.i32", inner="pass"),
    _case("max(1.0, 2.0)", "max = replaced"),
    _case("abs(-2.0)", "abs = replaced"),
    _case("through(1.0)", "abs = replaced; K = 4.0"),
    _case("helper(1.0)", "import builtins; K = K + 1.0"),
]

_ATTRIBUTES = [
    _case("C.M", "C.M = 5.0"),
    _case("C.K", "Base.K = 5.0"),
    _case("C.K", "C.K = 5.0"),
    _case("C.Inner.K", "C.Inner.K = 5.0"),
    _case("C.Inner.K", "C.Inner = Base; Base.K = 5.0"),
    _case("Made.K", "Meta.K = 5.0"),
    _case("Made.K", "Made.K = 5.0"),
    _case("C.fetched", _BUMP),
    _case("named(1.0)", "named.K = 5.0"),
    _case("named.K", "named.K = 5.0"),
    _case("cubed.K", "cubed.K = 5.0"),
    _case("FUNCTIONS[0].K", "helper.K = 5.0", before="helper.K = 2.0"),
    _case("Level.K", "Level.K = 5.0"),
    _case("Level.LOW.p", _BUMP),
    _case("Level.LOW.m()", "Level.K = 5.0"),
    _case("POINT.K", "Point.K = 5.0"),
    _case("POINT.m()", _BUMP),
    _case("POINT.m()", "Point.m = replaced"),
    _case("C.s(1.0)", _BUMP),
    _case("C.s(1.0)", "C.s = staticmethod(replaced)"),
    _case("C.c(1.0)", "C.K = 5.0"),
    _case("of_class(C)", "Base.K = 5.0"),
    _case("c.K", "Base.K = 5.0", inner="c = C"),
    _case("c.K", "Base.K = 5.0", parameters="c: Comptime[Any]", arguments=("C",)),
    _case("c.K", "Base.K = 5.0", parameters="c: Comptime[Any] = C"),
    _case("c(1.0)", _BUMP, parameters="c: Comptime[Any]", arguments=("C.s",)),
    _case("c(1.0)", _BUMP, parameters="c: Comptime[Any]", arguments=("FROZEN.g",)),
    _case("c[0](1.0)", _BUMP, parameters="c: Comptime[Any]", arguments=("FUNCTIONS",)),
    _case("c.K", "mod.K = 5.0", parameters="c: Comptime[Any]", arguments=("mod",)),
    _case("1.0 if n == C.M else 2.0", "C.M = 5.0", inner="n = f32(2.0)"),
]

_INSTANCES = [
    _case("FROZEN.K", "F.K = 5.0"),
    _case("FROZEN.p", "F.K = 5.0"),
    _case("FROZEN.q", _BUMP),
    _case("FROZEN.q", "F.q = property(replaced)"),
    _case("FROZEN.m(1.0)", "F.K = 5.0"),
    _case("FROZEN.g(1.0)", _BUMP),
    _case("FROZEN.g(1.0)", "F.g = replaced"),
    _case("FROZEN.t(1.0)", "F.K = 5.0"),
    _case("FROZEN.function(1.0)", _BUMP),
    _case("FROZEN + 1.0", "F.K = 5.0"),
    _case("FROZEN + 1.0", "F.__add__ = replaced"),
    _case("FROZEN[0]", _BUMP),
    _case("f32(len(FROZEN))", _BUMP),
    _case("1.0 if FROZEN == 3 else 2.0", _BUMP),
    _case("1.0 if FROZEN else 2.0", _BUMP),
    _case("sum(FROZEN)", _BUMP),
    _case("STRUCT.K", "S.K = 5.0"),
    _case("STRUCT.m(1.0)", "S.K = 5.0"),
    _case("STRUCT.p", _BUMP),
    _case("STRUCT * 2.0", _BUMP),
    _case("STRUCT * 2.0", "S.__mul__ = replaced"),
    _case("S(f32(2.0)).m(1.0)", "S.m = replaced"),
    _case("S(f32(2.0)).K", "S.K = 5.0"),
    _case("s.m(1.0)", "S.m = replaced", parameters="s: S", arguments=("STRUCT",)),
    _case("s.m(1.0)", "S.K = 5.0", parameters="s: S", arguments=("STRUCT",)),
    _case("s.p", _BUMP, parameters="s: S", arguments=("STRUCT",)),
    _case("f32(LAYOUT.function(1))", _BUMP),
    _case("PLAIN.K", "PLAIN.K = 5.0", refused=True),
    _case("PLAIN(1.0)", "PLAIN.K = 5.0", refused=True),
    _case("PLAIN.read()", "PLAIN.K = 5.0", refused=True),
]

_FUNCTIONS = [
    _case("through(1.0)", _BUMP),
    _case("by_default(1.0)", "by_default.__defaults__ = (5.0,)"),
    _case("by_keyword(1.0)", "by_keyword.__kwdefaults__ = {'by': 5.0}"),
    _case("by_keyword(1.0)", "by_keyword.__kwdefaults__['by'] = 5.0"),
    _case("helper(1.0)", "helper.__code__ = named.__code__; named.K = 9.0"),
    _case("FROZEN.g(1.0)", "F.g.__code__ = F.m.__code__; F.K = 9.0"),
    _case("through(1.0)", "helper.__code__ = named.__code__; named.K = 9.0"),
    _case("FUNCTIONS[0](1.0)", _BUMP),
    _case("wrapper(1.0)", _BUMP),
    _case("cubed(1.0)", _BUMP),
]

_MODULES = [
    _case("mod.K", "mod.K = 5.0"),
    _case("mod.part.K", "mod.part.K = 5.0"),
    _case("mod.part.K", "mod.part = mod; mod.K = 5.0"),
    _case("m.K", "mod.K = 5.0", inner="m = mod"),
    _case("MODULES[0].K", "mod.K = 5.0"),
    _case("(mod, other)[0].K", "mod.K = 5.0"),
    _case("getattr(mod, 'K')", "mod.K = 5.0"),
    _case("getattr(mod, NAME)", "mod.K = 5.0"),
    _case("getattr(mod, 'L', 2.0)", "mod.L = 5.0"),
    _case("1.0 if hasattr(mod, 'L') else 2.0", "mod.L = 5.0"),
    _case("of_module(mod)", "mod.K = 5.0"),
    _case("(mod if K == 2.0 else other).K", "mod.K = 5.0"),
    _case("total", "mod.K = 5.0", inner="total = 0.0\n    for m in MODULES:\n        total += m.K"),
    _case("LAZY.K", "mod.K = 5.0"),
    _case("READER(mod)", "mod.K = 5.0"),
    _case("vars(mod)['K']", "mod.K = 5.0", refused=True),
    _case("mod.__dict__['K']", "mod.K = 5.0", refused=True),
    _case("globals()['K']", _BUMP, refused=True),
    _case("C.__dict__['M']", "C.M = 5.0", refused=True),
    _case("TABLE[0]", "TABLE[0] = 5.0", refused=True),
]

_PYTHON = [
    *(_case(f"cb.comptime({name}())", change, refused=refused) for name, change, refused in (
        ("computes", _BUMP, False),
        ("computes_attribute", "C.K = 5.0", False),
        ("computes_attribute", "Base.K = 5.0", False),
        ("computes_attribute", "C.Inner.K = 5.0", False),
        ("computes_module", "mod.K = 5.0", False),
        ("computes_computed", "mod.K = 5.0", False),
        ("computes_list", "TABLE[0] = 5.0", True),
        ("computes_dict", "LOOKUP['K'] = 5.0", True),
        ("computes_globals", _BUMP, True),
        ("computes_plain", "PLAIN.K = 5.0", True),
        ("computes_deep", _BUMP, False),
        ("computes_default", "Base.K = 5.0", False),
        ("computes_default", "computes_default.__defaults__ = (other,)", False),
        ("computes_method", _BUMP, False),
        ("computes_method", "F.g = replaced", False),
        ("computes_made", "F.K = 5.0", False),
        ("computes_getter", "mod.K = 5.0", False),
        ("computes_sorted", _BUMP, False),
        ("cached", "cached.__wrapped__.__globals__['K'] = 5.0; cached.cache_clear()", False),
        ("PARTIAL", "by_default.__defaults__ = (5.0,)", False),
    )),
    _case("sum([m.K for m in MODULES])", "mod.K = 5.0"),
    _case("max(c.K for c in (C, Base))", "Base.K = 5.0"),
    _case("sum(getattr(m, k) for m in MODULES for k in KEYS)", "mod.K = 5.0"),
    _case("{'a': mod.K}['a']", "mod.K = 5.0"),
    _case("sum([helper(v) for v in (1.0, 2.0)])", _BUMP),
    _case("cb.comptime(mod.K * 2)", "mod.K = 5.0"),
    _case("cb.comptime((lambda: C.K)())", "C.K = 5.0"),
]  # fmt: skip

_HEAD_OF_CONTAINERS = """
import collections, dataclasses, decimal, enum, functools
IN_TUPLE = ([2.0],)
DEQUE = collections.deque([2.0])
class Marked(enum.Enum):
    X = 1
    @property
    def through_self(self): return self.w
    def called(self): return self.w
Marked.X.w = 2.0
class Hidden(int):
    def __repr__(self): return "Hidden()"
HIDDEN = Hidden(2)
DECIMAL = decimal.Decimal("1.0")
class Tuple(tuple):
    @property
    def through_self(self): return self.w
TUPLE = Tuple((1.0,))
TUPLE.w = 2.0
def with_list(v=[2.0]): return v[0]
def in_tuple(): return IN_TUPLE[0][0]
@dataclasses.dataclass(frozen=True)
class Holds:
    t: object
    def first(self): return self.t[0]
HOLDS = Holds([2.0])
class Config:
    def __init__(self): self.k = 2.0
    def get(self): return self.k
CONFIG = Config()
GET = CONFIG.get
def of_bound(): return GET()
TABLES = {"k": 2.0}
LOOK = TABLES.get
def of_table(): return LOOK("k")
def imports():
    from mod import K
    return K
BY_KEYWORD = functools.partial(lambda v, by: v * by, 1.0, by=2.0)
OPTION = None
def of_option(): return 2.0 if OPTION is None else 5.0
def twice(f):
    @functools.wraps(f)
    def inner(v): return f(v) * FACTOR
    return inner
FACTOR = 2.0
@twice
def wrapped_twice(v): return v + 1.0
"""

_CONTAINERS = [
    _case(value, change, before=_HEAD_OF_CONTAINERS, refused=refused)
    for value, change, refused in (
        ("IN_TUPLE[0][0]", "IN_TUPLE[0][0] = 5.0", True),
        ("cb.comptime(in_tuple())", "IN_TUPLE[0][0] = 5.0", True),
        ("DEQUE[0]", "DEQUE[0] = 5.0", True),
        ("Marked.X.through_self", "Marked.X.w = 5.0", False),
        ("cb.comptime(Marked.X.called())", "Marked.X.w = 5.0", False),
        ("f32(HIDDEN)", "HIDDEN = Hidden(5)", False),
        ("cb.comptime(float(len(str(DECIMAL))))", "DECIMAL = decimal.Decimal('1.00')", False),
        ("TUPLE.through_self", "TUPLE.w = 5.0", False),
        ("cb.comptime(with_list())", "with_list.__defaults__[0][0] = 5.0", True),
        ("cb.comptime(HOLDS.first())", "HOLDS.t[0] = 5.0", True),
        ("cb.comptime(of_bound())", "CONFIG.k = 5.0", True),
        ("cb.comptime(of_table())", "TABLES['k'] = 5.0", True),
        ("BY_KEYWORD()", "BY_KEYWORD.keywords['by'] = 5.0", False),
        ("cb.comptime(BY_KEYWORD())", "BY_KEYWORD.keywords['by'] = 5.0", False),
        ("cb.comptime(of_option())", "OPTION = 1", False),
        ("wrapped_twice(1.0)", "FACTOR = 5.0", False),
        ("cb.comptime(wrapped_twice(1.0))", "FACTOR = 5.0", False),
    )
]

_HEAD_OF_INSTANCES = """
@dataclasses.dataclass(frozen=True, slots=True)
class Slim:
    x: float = 2.0
    def m(self): return self.x
SLIM = Slim()
@dataclasses.dataclass(frozen=True)
class Deep:
    f: Any = F(2.0)
    t: Any = (F(2.0), 1.0)
DEEP = Deep()
put = object.__setattr__
put(FROZEN, "extra", 2.0)
def held(c=FROZEN): return c.x
def computes_field(): return FROZEN.x
def computes_name(): return getattr(FROZEN, "ex" + "tra")
class Above(F):
    def m(self, v): return super().m(v) + 0.0
    @property
    def p(self): return super().p
ABOVE = Above()
class Sub(C):
    @classmethod
    def c(cls, v): return super().c(v)
    @staticmethod
    def s(v): return super(Sub, Sub).s(v)
@cb.struct
class Structure(S):
    def m(self, v): return super().m(v)
class Between(F):
    K = 7.0
    def m(self, v): return v + 6.0
    @property
    def p(self): return 7.0
    @staticmethod
    def s(v): return v + 6.0
class Other(C):
    K = 7.0
    @classmethod
    def c(cls, v): return v + 6.0
    @staticmethod
    def s(v): return v + 6.0
@cb.struct
class Another(S):
    def m(self, v): return v + 6.0
@cb.struct
class Apart:
    x: f32
class Root: pass
class Leaf(Root): pass
LEAF = Leaf()
def computes_line(): return 1.0 if issubclass(Leaf, Base) else 2.0
def computes_super(): return ABOVE.m(1.0)
def computes_class(): return Sub.c(1.0)
FIRST, KEY = operator.itemgetter(0), operator.itemgetter("K")
CALLS, PART = operator.methodcaller("g", 1.0), operator.attrgetter("f.x")
def computes_item(): return FIRST(PAIR)
def computes_protocol(): return FIRST(FROZEN)
def computes_call(): return CALLS(FROZEN)
def computes_part(): return PART(DEEP)
def computes_getters(): return operator.methodcaller("g", operator.attrgetter("K")(C))(FROZEN)
def computes_table(): return FIRST(TABLE)
def computes_key(): return KEY(LOOKUP)
"""
_FIELD = "put(FROZEN, 'x', 5.0)"
_STRUCT = "put(STRUCT, 'x', 5.0)"

_CHANGED_INSTANCES = [
    _case(value, change, before=_HEAD_OF_INSTANCES, refused=refused)
    for value, change, refused in (
        ("FROZEN.x", _FIELD, False),
        ("FROZEN.p", _FIELD, False),
        ("FROZEN.extra", "put(FROZEN, 'extra', 5.0)", False),
        ("FROZEN.K", "put(FROZEN, 'K', 5.0)", False),
        ("FROZEN.m(1.0)", "put(FROZEN, 'K', 5.0)", False),
        ("FROZEN.m(1.0)", "put(FROZEN, 'm', replaced)", False),
        ("(FROZEN,)[0].x", _FIELD, False),
        ("held()", _FIELD, False),
        ("STRUCT.x", _STRUCT, False),
        ("STRUCT.m(1.0)", _STRUCT, False),
        ("STRUCT * 2.0", _STRUCT, False),
        ("STRUCT.K", "put(STRUCT, 'K', 5.0)", False),
        ("SLIM.x", "put(SLIM, 'x', 5.0)", False),
        ("SLIM.m()", "put(SLIM, 'x', 5.0)", False),
        ("DEEP.f.x", "put(DEEP.f, 'x', 5.0)", False),
        ("DEEP.f.x", "put(DEEP, 'f', F(5.0))", False),
        ("DEEP.t[0].x", "put(DEEP.t[0], 'x', 5.0)", False),
        ("cb.comptime(computes_field())", _FIELD, False),
        ("cb.comptime(computes_name())", "put(FROZEN, 'extra', 5.0)", False),
        ("ABOVE.m(1.0)", "F.K = 5.0", False),
        ("ABOVE.m(1.0)", "F.m = replaced", False),
        ("ABOVE.p", "F.K = 5.0", False),
        ("Sub.c(1.0)", "C.c = classmethod(replaced)", False),
        ("Sub.c(1.0)", "Base.K = 5.0", False),
        ("Sub.s(1.0)", "C.s = staticmethod(replaced)", False),
        ("Structure(f32(1.0)).m(1.0)", "S.K = 5.0", False),
        ("Structure(f32(1.0)).m(1.0)", "S.m = replaced", False),
        ("ABOVE.K", "Above.__bases__ = (Between,)", False),
        ("ABOVE.m(1.0)", "Above.__bases__ = (Between,)", False),
        ("ABOVE.p", "Above.__bases__ = (Between,)", False),
        ("Sub.K", "Sub.__bases__ = (Other,)", False),
        ("Sub.c(1.0)", "Sub.__bases__ = (Other,)", False),
        ("Sub.s(1.0)", "Sub.__bases__ = (Other,)", False),
        ("Structure(f32(1.0)).m(1.0)", "Structure.__bases__ = (Another,)", False),
        ("f32(isinstance(Structure(f32(1.0)), S))", "Structure.__bases__ = (Apart,)", False),
        ("1.0 if issubclass(Leaf, Base) else 2.0", "Leaf.__bases__ = (Base,)", False),
        ("1.0 if isinstance(LEAF, Base) else 2.0", "Leaf.__bases__ = (Base,)", False),
        ("cb.comptime(computes_line())", "Leaf.__bases__ = (Base,)", False),
        ("cb.comptime(computes_super())", "Above.__bases__ = (Between,)", False),
        ("cb.comptime(computes_class())", "Sub.__bases__ = (Other,)", False),
        ("cb.comptime(computes_super())", "F.K = 5.0", False),
        ("cb.comptime(computes_super())", "F.m = replaced", False),
        ("cb.comptime(computes_class())", "C.c = classmethod(replaced)", False),
        ("cb.comptime(computes_item())", "PAIR = (5.0,)", False),
        ("cb.comptime(computes_protocol())", _BUMP, False),
        ("cb.comptime(computes_call())", _BUMP, False),
        ("cb.comptime(computes_call())", "F.g = replaced", False),
        ("cb.comptime(computes_part())", "put(DEEP.f, 'x', 5.0)", False),
        ("cb.comptime(computes_part())", "put(DEEP, 'f', F(5.0))", False),
        ("cb.comptime(computes_getters())", "Base.K = 5.0", False),
        ("cb.comptime(computes_getters())", "F.g = replaced", False),
        ("cb.comptime(computes_table())", "TABLE[0] = 5.0", True),
        ("cb.comptime(computes_key())", "LOOKUP['K'] = 5.0", True),
    )
] + [
    _case(value, change, before=_HEAD_OF_INSTANCES, inner=inner, parameters=parameters,
          arguments=arguments)
    for value, change, inner, parameters, arguments in (
        ("s.x", _STRUCT, "s = STRUCT", "", ()),
        ("s.x", _STRUCT, "pass", "s: S", ("STRUCT",)),
        ("c.x", _FIELD, "pass", "c: Comptime[Any]", ("FROZEN",)),
        ("c.x", "put(SLIM, 'x', 5.0)", "pass", "c: Comptime[Any]", ("SLIM",)),
        ("c.f.x", "put(DEEP.f, 'x', 5.0)", "pass", "c: Comptime[Any]", ("DEEP",)),
        ("c.extra", "put(FROZEN, 'extra', 5.0)", "pass", "c: Comptime[Any]", ("FROZEN",)),
        ("s.m(1.0)", "S.m = replaced", "pass", "s: Structure", ("Structure(1.0)",)),
    )
]  # fmt: skip

CASES = (
    *_NAMES,
    *_ATTRIBUTES,
    *_INSTANCES,
    *_FUNCTIONS,
    *_MODULES,
    *_PYTHON,
    *_CONTAINERS,
    *_CHANGED_INSTANCES,
)


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

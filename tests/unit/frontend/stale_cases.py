"""Kernels that read Python's state in every way there is, and what changes that state.

Each case is the text of a module with a kernel that stores one value, and a statement that changes
something the value came from. `refused` has those that are refused, for nobody can watch what they
read.
"""

from __future__ import annotations

from tests.unit.frontend.stale_state import case_of

__all__ = ["CASES"]

_BUMP = "K = 5.0"

_NAMES = [
    case_of("K", _BUMP),
    case_of("K", "K = 5"),
    case_of("helper(1.0)", _BUMP),
    case_of("helper(1.0)", "helper = replaced"),
    case_of("closure(1.0)", "change_closure(5.0)"),
    case_of("holding(1.0)", "mod.K = 5.0"),
    case_of("(lambda v: v * K)(1.0)", _BUMP),
    case_of("PAIR[0]", "PAIR = (5.0,)"),
    case_of("T(1.5)", "T = cb.i32", inner="pass"),
    case_of("max(1.0, 2.0)", "max = replaced"),
    case_of("abs(-2.0)", "abs = replaced"),
    case_of("through(1.0)", "abs = replaced; K = 4.0"),
    case_of("helper(1.0)", "import builtins; K = K + 1.0"),
]

_ATTRIBUTES = [
    case_of("C.M", "C.M = 5.0"),
    case_of("C.K", "Base.K = 5.0"),
    case_of("C.K", "C.K = 5.0"),
    case_of("C.Inner.K", "C.Inner.K = 5.0"),
    case_of("C.Inner.K", "C.Inner = Base; Base.K = 5.0"),
    case_of("Made.K", "Meta.K = 5.0"),
    case_of("Made.K", "Made.K = 5.0"),
    case_of("C.fetched", _BUMP),
    case_of("named(1.0)", "named.K = 5.0"),
    case_of("named.K", "named.K = 5.0"),
    case_of("cubed.K", "cubed.K = 5.0"),
    case_of("FUNCTIONS[0].K", "helper.K = 5.0", before="helper.K = 2.0"),
    case_of("Level.K", "Level.K = 5.0"),
    case_of("Level.LOW.p", _BUMP),
    case_of("Level.LOW.m()", "Level.K = 5.0"),
    case_of("POINT.K", "Point.K = 5.0"),
    case_of("POINT.m()", _BUMP),
    case_of("POINT.m()", "Point.m = replaced"),
    case_of("C.s(1.0)", _BUMP),
    case_of("C.s(1.0)", "C.s = staticmethod(replaced)"),
    case_of("C.c(1.0)", "C.K = 5.0"),
    case_of("of_class(C)", "Base.K = 5.0"),
    case_of("c.K", "Base.K = 5.0", inner="c = C"),
    case_of("c.K", "Base.K = 5.0", parameters="c: Comptime[Any]", arguments=("C",)),
    case_of("c.K", "Base.K = 5.0", parameters="c: Comptime[Any] = C"),
    case_of("c(1.0)", _BUMP, parameters="c: Comptime[Any]", arguments=("C.s",)),
    case_of("c(1.0)", _BUMP, parameters="c: Comptime[Any]", arguments=("FROZEN.g",)),
    case_of("c[0](1.0)", _BUMP, parameters="c: Comptime[Any]", arguments=("FUNCTIONS",)),
    case_of("c.K", "mod.K = 5.0", parameters="c: Comptime[Any]", arguments=("mod",)),
    case_of("1.0 if n == C.M else 2.0", "C.M = 5.0", inner="n = f32(2.0)"),
]

_INSTANCES = [
    case_of("FROZEN.K", "F.K = 5.0"),
    case_of("FROZEN.p", "F.K = 5.0"),
    case_of("FROZEN.q", _BUMP),
    case_of("FROZEN.q", "F.q = property(replaced)"),
    case_of("FROZEN.m(1.0)", "F.K = 5.0"),
    case_of("FROZEN.g(1.0)", _BUMP),
    case_of("FROZEN.g(1.0)", "F.g = replaced"),
    case_of("FROZEN.t(1.0)", "F.K = 5.0"),
    case_of("FROZEN.function(1.0)", _BUMP),
    case_of("FROZEN + 1.0", "F.K = 5.0"),
    case_of("FROZEN + 1.0", "F.__add__ = replaced"),
    case_of("FROZEN[0]", _BUMP),
    case_of("f32(len(FROZEN))", _BUMP),
    case_of("1.0 if FROZEN == 3 else 2.0", _BUMP),
    case_of("1.0 if FROZEN else 2.0", _BUMP),
    case_of("sum(FROZEN)", _BUMP),
    case_of("STRUCT.K", "S.K = 5.0"),
    case_of("STRUCT.m(1.0)", "S.K = 5.0"),
    case_of("STRUCT.p", _BUMP),
    case_of("STRUCT * 2.0", _BUMP),
    case_of("STRUCT * 2.0", "S.__mul__ = replaced"),
    case_of("S(f32(2.0)).m(1.0)", "S.m = replaced"),
    case_of("S(f32(2.0)).K", "S.K = 5.0"),
    case_of("s.m(1.0)", "S.m = replaced", parameters="s: S", arguments=("STRUCT",)),
    case_of("s.m(1.0)", "S.K = 5.0", parameters="s: S", arguments=("STRUCT",)),
    case_of("s.p", _BUMP, parameters="s: S", arguments=("STRUCT",)),
    case_of("f32(LAYOUT.function(1))", _BUMP),
    case_of("PLAIN.K", "PLAIN.K = 5.0", refused=True),
    case_of("PLAIN(1.0)", "PLAIN.K = 5.0", refused=True),
    case_of("PLAIN.read()", "PLAIN.K = 5.0", refused=True),
]

_FUNCTIONS = [
    case_of("through(1.0)", _BUMP),
    case_of("by_default(1.0)", "by_default.__defaults__ = (5.0,)"),
    case_of("by_keyword(1.0)", "by_keyword.__kwdefaults__ = {'by': 5.0}"),
    case_of("by_keyword(1.0)", "by_keyword.__kwdefaults__['by'] = 5.0"),
    case_of("helper(1.0)", "helper.__code__ = named.__code__; named.K = 9.0"),
    case_of("FROZEN.g(1.0)", "F.g.__code__ = F.m.__code__; F.K = 9.0"),
    case_of("through(1.0)", "helper.__code__ = named.__code__; named.K = 9.0"),
    case_of("FUNCTIONS[0](1.0)", _BUMP),
    case_of("wrapper(1.0)", _BUMP),
    case_of("cubed(1.0)", _BUMP),
]

_MODULES = [
    case_of("mod.K", "mod.K = 5.0"),
    case_of("mod.part.K", "mod.part.K = 5.0"),
    case_of("mod.part.K", "mod.part = mod; mod.K = 5.0"),
    case_of("m.K", "mod.K = 5.0", inner="m = mod"),
    case_of("MODULES[0].K", "mod.K = 5.0"),
    case_of("(mod, other)[0].K", "mod.K = 5.0"),
    case_of("getattr(mod, 'K')", "mod.K = 5.0"),
    case_of("getattr(mod, NAME)", "mod.K = 5.0"),
    case_of("getattr(mod, 'L', 2.0)", "mod.L = 5.0"),
    case_of("1.0 if hasattr(mod, 'L') else 2.0", "mod.L = 5.0"),
    case_of("of_module(mod)", "mod.K = 5.0"),
    case_of("(mod if K == 2.0 else other).K", "mod.K = 5.0"),
    case_of(
        "total", "mod.K = 5.0", inner="total = 0.0\n    for m in MODULES:\n        total += m.K"
    ),
    case_of("LAZY.K", "mod.K = 5.0"),
    case_of("READER(mod)", "mod.K = 5.0"),
    case_of("vars(mod)['K']", "mod.K = 5.0", refused=True),
    case_of("mod.__dict__['K']", "mod.K = 5.0", refused=True),
    case_of("globals()['K']", _BUMP, refused=True),
    case_of("C.__dict__['M']", "C.M = 5.0", refused=True),
    case_of("TABLE[0]", "TABLE[0] = 5.0", refused=True),
]

_PYTHON = [
    *(case_of(f"cb.comptime({name}())", change, refused=refused) for name, change, refused in (
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
    case_of("sum([m.K for m in MODULES])", "mod.K = 5.0"),
    case_of("max(c.K for c in (C, Base))", "Base.K = 5.0"),
    case_of("sum(getattr(m, k) for m in MODULES for k in KEYS)", "mod.K = 5.0"),
    case_of("{'a': mod.K}['a']", "mod.K = 5.0"),
    case_of("sum([helper(v) for v in (1.0, 2.0)])", _BUMP),
    case_of("cb.comptime(mod.K * 2)", "mod.K = 5.0"),
    case_of("cb.comptime((lambda: C.K)())", "C.K = 5.0"),
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
    case_of(value, change, before=_HEAD_OF_CONTAINERS, refused=refused)
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
    case_of(value, change, before=_HEAD_OF_INSTANCES, refused=refused)
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
    case_of(value, change, before=_HEAD_OF_INSTANCES, inner=inner, parameters=parameters,
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

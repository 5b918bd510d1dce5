"""A whole random kernel: arguments, helpers, statements, and the stores that show what happened.

`generate_kernel(seed)` gives the same kernel for the same seed and version. All variables that live
to the end are stored, so a wrong value is seen; units that returned early leave theirs alone.
"""

from __future__ import annotations

import math
import random

from cubepy.ir import BOOL, F32, I64, INDEX, SCALARS, U8, U64, Scalar
from cubepy.records import dataclass, field
from cubepy.testing.generator.accesses import commutative
from cubepy.testing.generator.callees import Helpers
from cubepy.testing.generator.expressions import Expressions
from cubepy.testing.generator.functions import MINIFLOATS
from cubepy.testing.generator.layout import Layout
from cubepy.testing.generator.model import (
    BaseSpec,
    Feature,
    GeneratedKernel,
    Node,
    ScalarSpec,
)
from cubepy.testing.generator.scope import Context, Memory, MemoryKind, Scope, Variable
from cubepy.testing.generator.statements import Statements
from cubepy.testing.generator.structs import define_structs, struct_argument

__all__ = ["generate_kernel"]

_CUBE_DIMS = ((1, 1, 1), (3, 1, 1), (4, 1, 1), (5, 1, 1), (8, 1, 1), (16, 1, 1), (17, 1, 1),
              (32, 1, 1), (33, 1, 1), (64, 1, 1), (100, 1, 1), (128, 1, 1), (4, 4, 1), (8, 4, 1),
              (5, 3, 1), (16, 2, 1), (3, 2, 4), (2, 3, 5), (4, 2, 2), (8, 1, 3))  # fmt: skip
_STORED: dict[Scalar, Scalar] = {INDEX: I64}  # no array holds index
MAX_UNITS = 320


@dataclass(slots=True, kw_only=True)
class _Assembly:
    """One kernel being made."""

    scope: Scope
    layout: Layout
    cube_dim: tuple[int, int, int]
    cube_count: tuple[int, int, int]
    over: tuple[int, ...]
    options: str = ""
    head: list[Node] = field(default_factory=list)
    scalars: list[ScalarSpec] = field(default_factory=list)
    constants: dict[str, str] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)

    @property
    def units(self) -> int:
        return math.prod(self.cube_dim) * math.prod(self.cube_count)


def generate_kernel(seed: int, *, size: int = 24) -> GeneratedKernel:
    """A kernel of about `size` statements."""
    chosen = random.Random(seed)
    scope = Scope(random=chosen, cooperative=chosen.random() < 0.55)
    made = _start(scope)
    makers = Helpers(scope, lambda element: _read_only(made, element))
    helpers = [*define_structs(makers), *makers.some()]
    _generic(made)
    helpers += _struct(made)
    _arguments(made)
    _shared(made)
    statements = Statements(scope, size)
    context = Context()
    first = [statements.assignments.declare(context) for _ in range(chosen.randint(2, 4))]
    body = [node for nodes in first for node in nodes]
    while statements.budget > 0:
        body += statements.statement(context)
    body += _results(made)
    return GeneratedKernel(
        seed=seed,
        helpers=tuple(helpers),
        body=(*made.head, *body),
        signature=_signature(made),
        bases=made.layout.bases,
        arrays=tuple(made.layout.arrays),
        scalars=tuple(made.scalars),
        constants=made.constants,
        cube_count=made.cube_count,
        cube_dim=made.cube_dim,
        over=made.over,
        options=made.options,
        features=frozenset(scope.features),
    )


def _start(scope: Scope) -> _Assembly:
    """The launch, and the names of the unit's position."""
    over: tuple[int, ...] = ()
    cube_dim = scope.random.choice(_CUBE_DIMS)
    if not scope.cooperative and scope.chance(0.4):
        scope.features.add(Feature.OVER)
        over = scope.random.choice(
            ((1,), (37,), (64,), (150,), (301,), (7, 13), (5, 40), (16, 16), (2, 3, 40), (3, 5, 17))
        )
    most = max(1, MAX_UNITS // math.prod(cube_dim))
    count = scope.random.randint(1, min(most, 9))
    cube_count = (count, 1, 1)
    if cube_dim[1] > 1 and count > 2:
        cube_count = (count // 2, 2, 1)
    if count > 3 and scope.chance(0.15):
        cube_count = (count // 4, 2, 2)
    if over:  # as many units as the widest cube a launch may choose
        slices, rows = (1, 1, *over)[-3:-1]
        cube_dim, cube_count = (64, 1, 1), (-(-over[-1] // 64), rows, slices)
    head = [Node(text="i = cb.ABSOLUTE_POS", pinned=True)]
    if math.prod(cube_dim[1:]) * math.prod(cube_count[1:]) == 1 and scope.chance(0.3):
        head = [Node(text="i = cb.CUBE_POS * cb.CUBE_DIM + cb.UNIT_POS", pinned=True)]
    text = "x, y, z = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_Z"
    head.append(Node(text=text, pinned=True))
    scope.variables += [
        Variable(name=name, type=INDEX, assignable=False, runtime=True) for name in "ixyz"
    ]
    if cube_dim[2] * cube_count[2] > 1:
        scope.features.add(Feature.VOLUME)
    options = ""
    if scope.chance(0.15):
        scope.features.add(Feature.CONTRACT)
        options = "contract=True"
    plain = scope.chance(0.4)
    layout = Layout(random=scope.random, features=scope.features, plain=plain)
    return _Assembly(
        scope=scope, layout=layout, cube_dim=cube_dim, cube_count=cube_count, over=over, head=head,
        options=options,
    )  # fmt: skip


def _signature(made: _Assembly) -> str:
    parts = [
        f"{view.name}: cb.{'Array' if len(view.shape) == 1 else 'Tensor'}"
        f"[{_element(made, made.layout.bases[view.base])}]"
        for view in made.layout.arrays
    ]
    parts += [f"{scalar.name}: {made.scope.spelling(scalar.element)}" for scalar in made.scalars]
    parts += [f"{name}: {struct}" for name, struct in made.classes.items()]
    return ", ".join(parts)


def _element(made: _Assembly, base: BaseSpec) -> str:
    return f"cb.{base.format}" if base.format else made.scope.spelling(base.element)


# ── arguments ──


def _generic(made: _Assembly) -> None:
    """A type variable for one of the kernel's types, at times, and an array that it follows."""
    scope = made.scope
    element = scope.storable()
    if element is BOOL or not scope.chance(0.12):
        return
    scope.features.add(Feature.GENERIC)
    scope.generic = element
    _read_only(made, element)


def _struct(made: _Assembly) -> list[Node]:
    """A struct among the arguments, at times."""
    given = struct_argument(made.scope)
    if given is None:
        return []
    struct, name, text = given
    made.scope.features.add(Feature.STRUCT)
    made.constants[name] = f"GIVEN_{name}"
    made.classes[name] = struct.name
    return [Node(text=f"GIVEN_{name} = {text}", pinned=True)]


def _arguments(made: _Assembly) -> None:
    scope, chosen = made.scope, made.scope.random
    for _ in range(chosen.randint(1, 3)):
        _read_only(made)
    for _ in range(chosen.choice((1, 1, 2))):
        _own(made, scope.storable())
    if scope.chance(0.3):
        for memory in made.layout.overlapping(scope.storable(), made.units):
            scope.memories.append(memory)
    if scope.chance(0.35):
        element = scope.storable()
        while not commutative(element):
            element = scope.storable()
        name, size = scope.fresh("a"), chosen.choice((1, 5, 64))
        made.layout.add(name, element, size)
        scope.memories.append(
            Memory(
                name=name,
                element=element,
                kind=MemoryKind.ATOMIC,
                count=size,
                operation=f"atomic_{chosen.choice(commutative(element))}",
            )
        )
    for type, value in ((INDEX, chosen.randrange(8)), (scope.type(), None)):
        _scalar(made, type, value)


def _scalar(made: _Assembly, type: Scalar, value: int | None) -> None:
    scope = made.scope
    content: int | float | bool
    if value is not None:
        content = value
    elif type is BOOL:
        content = scope.chance(0.5)
    elif type.is_float:
        content = scope.random.choice((0.0, 1.0, -2.5, 3.0, 0.75))
    else:
        numbers = (0, 1, 3, 7, 100, -1, -5, *(((1 << 63) + 9, (1 << 64) - 2) * (type is U64)))
        content = scope.random.choice([number for number in numbers if number >= type.minimum])
    name = scope.fresh("c")
    made.scalars.append(ScalarSpec(name=name, element=type, value=content))
    scope.variables.append(
        Variable(name=name, type=type, uniform=True, assignable=False, runtime=True)
    )


def _read_only(made: _Assembly, element: Scalar | None = None) -> str:
    """The name of an array that is only read; of one axis if its element is given."""
    scope, chosen = made.scope, made.scope.random
    name = scope.fresh("r")
    if element is None and scope.chance(0.25):
        element = scope.storable()
        shape = tuple(chosen.randint(1, most) for most in chosen.choice(((6, 40), (3, 4, 20))))
        made.layout.add_tensor(name, element, shape)
        extents = tuple(f"{name}.shape[{axis}]" for axis in range(len(shape)))
        scope.memories.append(
            Memory(name=name, element=element, kind=MemoryKind.READ, extents=extents)
        )
        return name
    if element is None and scope.chance(0.06):
        return _stored(made, name)
    element = element or scope.storable()
    size = chosen.choice((1, 5, made.units, made.units + 3, 2 * made.units))
    made.layout.add(name, element, size, read_only=True)
    scope.memories.append(Memory(name=name, element=element, kind=MemoryKind.READ))
    return name


def _stored(made: _Assembly, name: str) -> str:
    """An array of small floats, which are read as f32."""
    scope, size = made.scope, made.units + 3
    scope.features.add(Feature.STORED)
    format = scope.random.choice(MINIFLOATS)
    made.layout.add(name, U8, size, read_only=True, format=format)
    scope.memories.append(Memory(name=name, element=F32, kind=MemoryKind.READ))
    return name


def _own(made: _Assembly, element: Scalar) -> None:
    """Elements that each unit has for itself, found in one of several ways."""
    scope = made.scope
    columns, rows, slices = (made.cube_dim[axis] * made.cube_count[axis] for axis in range(3))
    if slices * rows > 1 and scope.chance(0.5):
        name = scope.fresh("w")
        columns = max(1, columns - scope.random.choice((0, 0, 1)))
        shape, own = (
            ((rows, columns), "y, x") if slices == 1 else ((slices, rows, columns), "z, y, x")
        )
        made.layout.add_tensor(name, element, shape)
        scope.memories.append(Memory(name=name, element=element, kind=MemoryKind.OWN, own=own))
        return
    name, count = scope.fresh("w"), scope.random.choice((1, 1, 2, 3, 4))
    own, size = _place(made, name, count)
    stored = element is F32 and scope.chance(0.25)
    scope.features |= {Feature.STORED} if stored else set()
    made.layout.add(
        name, U8 if stored else element, max(1, size),
        format=scope.random.choice(MINIFLOATS) if stored else "",
    )  # fmt: skip
    scope.memories.append(
        Memory(name=name, element=element, kind=MemoryKind.OWN, own=own, count=count, stored=stored)
    )


def _place(made: _Assembly, name: str, count: int) -> tuple[str, int]:
    """A subscript of the unit's `count` elements, and how many there are; a few may be missing."""
    scope, units = made.scope, made.units
    size = units * count
    if scope.chance(0.2):
        size -= scope.random.randrange(min(size, 5))
    if count > 1:
        if made.over:  # a launch over a shape chooses its cubes itself
            return f"i * {count} + {{k}}", size
        spread = "i + {k} * (cb.CUBE_COUNT * cb.CUBE_DIM)"
        return scope.random.choice((f"i * {count} + {{k}}", spread)), size
    forms = ("i", "i", f"len({name}) - 1 - i", "cb.ABSOLUTE_POS")
    return scope.random.choice(forms), size


def _shared(made: _Assembly) -> None:
    """Cube memory, each element written by its unit before anything else."""
    scope, chosen = made.scope, made.scope.random
    if not scope.cooperative:
        return
    here = Expressions(scope, Context())
    for _ in range(chosen.randint(1, 2)):
        element, name = scope.storable(), scope.fresh("s")
        own = chosen.choice(("cb.UNIT_POS", "cb.UNIT_POS", "cb.CUBE_DIM - 1 - cb.UNIT_POS"))
        extents: tuple[str, ...] = ("cb.CUBE_DIM",)
        shape = "cb.CUBE_DIM"
        if made.cube_dim[2] == 1 and made.cube_dim[1] > 1 and scope.chance(0.5):
            own = "cb.UNIT_POS_Y, cb.UNIT_POS_X"
            extents, shape = ("cb.CUBE_DIM_Y", "cb.CUBE_DIM_X"), "(cb.CUBE_DIM_Y, cb.CUBE_DIM_X)"
        made.head += [
            Node(text=f"{name} = cb.shared({scope.spelling(element)}, {shape})", pinned=True),
            Node(text=f"{name}[{own}] = {here.value(element)}", pinned=True),
        ]
        scope.memories.append(
            Memory(name=name, element=element, kind=MemoryKind.CUBE, own=own, extents=extents)
        )
    if scope.chance(0.3):
        _cube_global(made)


def _cube_global(made: _Assembly) -> None:
    """An array with a part for each cube, exchanged by barriers as shared memory is."""
    scope = made.scope
    element, name = scope.storable(), scope.fresh("g")
    offset = "cb.CUBE_POS * cb.CUBE_DIM + "
    made.layout.add(name, element, made.units)
    scope.memories.append(
        Memory(name=name, element=element, kind=MemoryKind.CUBE, own=f"{offset}cb.UNIT_POS",
               extents=("cb.CUBE_DIM",), offset=offset)
    )  # fmt: skip


# ── results ──


def _results(made: _Assembly) -> list[Node]:
    """Stores of all variables that are left, one array a type."""
    scope = made.scope
    by_type: dict[Scalar, list[Variable]] = {}
    for variable in scope.variables:
        if variable.assignable or variable.part or variable.name[0] in "nj":
            by_type.setdefault(variable.type, []).append(variable)
    nodes: list[Node] = []
    for type in SCALARS.values():
        variables = by_type.get(type, [])
        if not variables:
            continue
        name, count = f"out_{type.name}", len(variables)
        own, size = _place(made, name, count)
        made.layout.add(name, _STORED.get(type, type), size)
        for k, variable in enumerate(variables):
            at = own.replace("{k}", str(k))
            nodes.append(Node(text=f"{name}[{at}] = {variable.name}"))
    return nodes

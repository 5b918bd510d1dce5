"""Random views of arrays: slices, rows, other shapes, layouts; each is a memory like the others.

A view of what is only read may be read anywhere, also outside of it. One of elements that belong to
the unit keeps to them.
"""

from __future__ import annotations

from cubepy.ir import INDEX
from cubepy.records import replace
from cubepy.testing.generator.expressions import Expressions
from cubepy.testing.generator.model import Feature, Node
from cubepy.testing.generator.scope import Context, Memory, MemoryKind, Scope

__all__ = ["view_statement"]

_KINDS = (MemoryKind.READ, MemoryKind.READ, MemoryKind.PRIVATE, MemoryKind.OWN)


def view_statement(scope: Scope, context: Context) -> tuple[Node, ...]:
    """A name for a view, or nothing where there is no memory to view."""
    known = scope.find_memories(scope.random.choice(_KINDS))
    if not known:
        return ()
    memory, here = scope.random.choice(known), Expressions(scope, context)
    if memory.kind is MemoryKind.READ:
        text, extents = _of_any(memory, here)
        reshaped = text.startswith(f"{memory.name}.")  # the others may start where the unit is
        view = replace(
            memory, extents=extents,
            uniform=memory.uniform and reshaped, shaped=memory.shaped or reshaped,
        )  # fmt: skip
    elif memory.kind is MemoryKind.PRIVATE:
        text, view = f"{memory.name}[::-1]", memory
    else:
        text, view = _own_elements(memory, here)
    if not text:
        return ()
    scope.features.add(Feature.VIEW)
    name = scope.fresh("d")
    shape = tuple(extent.replace("{view}", name) for extent in view.extents)
    scope.memories.append(replace(view, name=name, extents=shape))
    return (Node(text=f"{name} = {text}", pinned=True),)


def _of_any(memory: Memory, here: Expressions) -> tuple[str, tuple[str, ...]]:
    """A view of what is only read, and its extents where it has several axes."""
    name = memory.name
    if len(memory.extents) == 3:
        row = here.value(INDEX, 1) if here.scope.chance(0.5) else "i % 3"
        return f"{name}[{_at(row)}]", ("{view}.shape[0]", "{view}.shape[1]")
    if len(memory.extents) == 2:
        inside = "y" if memory.shaped else "1"  # what is known to be outside is an error
        text = here.pick(f"{name}[y - 1]", f"{name}[:, x]", f"{name}[{_slice(here)}][{inside}]")
        if here.context.results is not None:
            text = f"{name}[{0 if memory.shaped else 1}]"
        return text, ()
    if here.scope.chance(0.45):
        here.scope.features.add(Feature.LAYOUT)
        return f"{name}.{_shaped(here)}", ("{view}.shape[0]", "{view}.shape[1]")
    return f"{name}[{_slice(here)}]", ()


def _shaped(here: Expressions) -> str:
    rows, columns, step = (here.random.randint(1, 5) for _ in range(3))
    return here.pick(
        f"reshape({rows}, -1)",
        f"reshape(-1, {columns})",
        "view(TILES)",
        "view(SWIZZLED)",
        f"view(({rows}, {columns}), lambda a, b: a * {step} + b - 1)",
        f"view(({rows}, {columns}), lambda a, b: b * {rows} + a)",
    )


def _slice(here: Expressions) -> str:
    """Bounds near the unit's position, or numbers; no bound known to be negative."""
    step = here.pick("", "", "::2", "::-1", ":")
    if step.startswith("::"):
        return step
    if here.context.results is None and here.scope.chance(0.6):
        low = here.pick("i - 1", "i", "i // 2", f"{here.somewhere()} % 5")
        return here.pick(f"{low} : i + 3", f"{low} : {low} + 4{step}", f"{low}:", f": {low}", ":")
    first = here.random.randrange(4)
    return here.pick(
        f"{first}:", f":{first + 3}", f"{first}:{first + 5}:2", f"{first + 5}:{first}:-1"
    )


def _at(index: str) -> str:
    """A subscript that nobody knows to be negative."""
    return f"({index}) % 5"


def _own_elements(memory: Memory, here: Expressions) -> tuple[str, Memory]:
    """The elements that belong to the unit, by their number."""
    if memory.own != f"i * {memory.count} + {{k}}" or here.context.results is not None:
        return "", memory
    text = f"{memory.name}[i * {memory.count} : i * {memory.count} + {memory.count}]"
    if here.scope.chance(0.3):
        text += "[::-1]"
    return text, replace(memory, own="{k}")

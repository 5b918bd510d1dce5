"""What browsers refuse, found in the text without one: words WGSL lacks, barriers that not every
unit is shown to reach.

The uniformity rules are WGSL's, a little stricter: a variable is the same in all units only if all
that is ever assigned to it is. It reads text as `emit.py` writes it, one statement a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cubepy.codegen.wgsl.types import RESERVED
from cubepy.records import dataclass, field

__all__ = ["verify_wgsl"]

MOST_BUFFERS = 8
_FORBIDDEN = re.compile(
    r"\b(?:i64|u64|f64|i16|u16|f16|i8|u8|enable|requires|subgroup\w*|push_constant|ray\w+)\b"
    r"|\b\d+l[uif]\b|\bptr<storage|[^\x00-\x7f]"
)
_DECLARED = re.compile(r"\b(?:let|var(?:<[^>]*>)?|fn|struct)\s+(\w+)")
_BARRIERS = ("workgroupBarrier", "storageBarrier", "workgroupUniformLoad")
_ASSIGNED = re.compile(r"(let |var )?(\w+)(?:: [^=]+)?(\[.*\]|\.\w+)? ?(?:[-+*|&^]|<<)?= (.+)")
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def verify_wgsl(text: str) -> list[str]:
    """Complaints, each with its line; empty for text that any browser takes."""
    plain = [line.partition("//")[0] for line in text.splitlines()]
    found = [
        f"line {number}: {match[0]!r} is not WGSL's"
        for number, line in enumerate(plain, 1)
        for match in _FORBIDDEN.finditer(line)
    ]
    found += [
        f"line {number}: {name!r} may not be a name"
        for number, line in enumerate(plain, 1)
        for name in _DECLARED.findall(line)
        if (name in RESERVED and name not in ("launch", "Launch", "report")) or "__" in name
    ]
    buffers = sum("var<storage" in line for line in plain)
    if buffers > MOST_BUFFERS:
        found.append(f"{buffers} storage buffers: browsers have {MOST_BUFFERS}")
    return [*found, *_divergent_barriers(plain)]


def _divergent_barriers(lines: Sequence[str]) -> Iterator[str]:
    module = _Module(lines)
    for start, end in module.functions.values():
        yield from _Function(module, lines, start, end).complaints()


class _Module:
    """Which functions there are, which wait for other units, and what of the module's varies."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.functions: dict[str, tuple[int, int]] = {}
        self.varying: set[str] = set()
        name, start = "", 0
        for number, line in enumerate(lines):
            head = re.match(r"fn (\w+)\(", line)
            if head:
                name, start = head[1], number
            elif line == "}" and name:
                self.functions[name] = (start, number)
                name = ""
            declared = re.search(r"var<(?:storage, read_write|workgroup)> (\w+)", line)
            if declared:
                self.varying.add(declared[1])
        self.waiting = set(_BARRIERS)
        self.uniform = {"workgroupUniformLoad"}  # their results are the same in all units
        for name, (start, end) in self.functions.items():  # callees stand before callers
            called = set(_WORD.findall(" ".join(lines[start + 1 : end])))
            if called & self.waiting:
                self.waiting.add(name)
            if name.startswith("cb_cube_uniform"):
                self.uniform.add(name)


@dataclass(slots=True)
class _Block:
    """`alike`: whether all units that are in it are all units of the cube."""

    head: int
    loop: bool
    alike: bool


@dataclass(slots=True)
class _State:
    """What a walk over a function has found so far; walks go on until it stays."""

    varying: set[str] = field(default_factory=set)
    left_apart: set[int] = field(default_factory=set)  # loops that some units leave by themselves
    returned: bool = False

    def size(self) -> tuple[int, int, bool]:
        """Grows until everything is known."""
        return len(self.varying), len(self.left_apart), self.returned


class _Function:
    """One function, whose parameters are taken to vary but for the place of the cube."""

    def __init__(self, module: _Module, lines: Sequence[str], start: int, end: int) -> None:
        self.module, self.lines, self.start, self.end = module, lines, start, end
        self.state = _State(varying=set(module.varying))
        heads = " ".join(lines[start : self._body()])
        self.state.varying |= set(re.findall(r"(\w+): ", heads)) - {"cube"}
        self.found: list[str] = []

    def _body(self) -> int:
        return next(n for n in range(self.start, self.end) if self.lines[n].endswith("{")) + 1

    def complaints(self) -> list[str]:
        """Barriers that not every unit is shown to reach."""
        before = None
        while before != self.state.size():
            before = self.state.size()
            self.state.returned = False
            self.found.clear()
            self._walk()
        return self.found

    def _walk(self) -> None:
        blocks = [_Block(self.start, False, True)]
        for number in range(self._body(), self.end):
            line = self.lines[number].strip()
            if line.startswith("}"):
                blocks.pop()
            if line.endswith("{"):
                self._open(blocks, number, line)
            elif line:
                self._statement(blocks, line)
            waits = self.module.waiting & set(_WORD.findall(line))
            if waits and not self._alike(blocks):
                self.found.append(f"line {number + 1}: not every unit may reach {min(waits)}")

    def _alike(self, blocks: Sequence[_Block]) -> bool:
        return blocks[-1].alike and not self.state.returned

    def _open(self, blocks: list[_Block], number: int, line: str) -> None:
        loop = line.startswith(("for ", "while ", "loop "))
        condition = line
        if line.startswith("for "):
            first, condition, moved = line[5:-3].split("; ")
            self._assign(first, alike=self._alike(blocks))
            self._assign(moved, alike=self._alike(blocks))
        same = self._uniform(condition) and number not in self.state.left_apart
        if line.startswith("} else"):  # what its `if` asks is asked again
            same = same and getattr(self, "_last_if", True)
        if re.match(r"(?:\} else )?if ", line):
            self._last_if = same
        blocks.append(_Block(number, loop or "switch" in line, blocks[-1].alike and same))

    def _statement(self, blocks: Sequence[_Block], line: str) -> None:
        alike = self._alike(blocks)
        if line in ("break;", "continue;") and not alike:
            around = [block for block in blocks if block.loop]
            if not self.lines[around[-1].head].strip().startswith("switch"):
                self.state.left_apart.add(around[-1].head)
        elif line.startswith("return"):
            self.state.returned = self.state.returned or not alike
        else:
            self._assign(line.rstrip(";"), alike=alike)

    def _assign(self, statement: str, *, alike: bool) -> None:
        found = _ASSIGNED.match(statement)
        if found is None:
            return
        constant = found[1] == "let "
        value = f"{found[3] or ''} {found[4]}"
        if not self._uniform(value) or not (alike or constant):
            self.state.varying.add(found[2])

    def _uniform(self, expression: str) -> bool:
        for name in self.module.uniform:
            expression = re.sub(rf"{name}\([^()]*(?:\([^()]*\)[^()]*)*\)", "0", expression)
        return self.state.varying.isdisjoint(_WORD.findall(expression))

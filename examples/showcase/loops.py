"""The loop of an assembly listing in which the time goes, found from the text alone.

Labels and jumps give the graph of basic blocks; a loop is a block that dominates one of those that
jump to it, with all blocks on the way. Among the innermost loops the one with most arithmetic on
vector registers, densely packed and without masks, is the one a kernel is in for most of its time;
the way round it that is shown leaves out what is only for the borders of the data.
"""

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["hot_loop"]

_LABEL = re.compile(r"^(?P<name>[\w.$]+):")
_INSTRUCTION = re.compile(r"^\s+(?P<mnemonic>[a-z][\w.]*)\s*(?P<operands>.*)$")
_ALWAYS = ("jmp", "b", "ret", "retq", "ud2", "br")
_CONDITIONAL = re.compile(r"j[a-z]+|b\.[a-z]+|cbn?z|tbn?z")
_VECTOR = re.compile(r"%[xyz]mm\d|\b[vz]\d+\.\d*[bhsd]\b")
_MASK = re.compile(r"%k\d|\bp\d+/[mz]|maskmov")
_NOT_ARITHMETIC = re.compile(
    r"v?(p?mov|p?broadcast|p?insr|p?extr|insert|extract|gather)|k|ld|st|dup"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Lines from a label or jump to the next, and the labels and fall-through after it."""

    number: int
    labels: tuple[str, ...]
    lines: tuple[str, ...]
    targets: tuple[str, ...]
    falls_through: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loop:
    """Numbers of blocks: where it is entered, those that jump back there, all of it."""

    head: int
    tails: frozenset[int]
    body: frozenset[int]


def hot_loop(assembly: str) -> str:
    """The lines of one way round the loop; all code if there is no loop."""
    blocks = list(_blocks(assembly.splitlines()))
    successors = _successors(blocks)
    loops = list(_natural_loops(successors))
    rounds = [
        _one_round(loop, blocks, successors)
        for loop in loops
        if not any(other.body < loop.body for other in loops)
    ]
    if not rounds:
        return "\n".join(line for block in blocks for line in block.lines)
    hottest = max(rounds, key=_heat)
    return "\n".join(line for block in hottest for line in block.lines)


def _one_round(loop: _Loop, blocks: list[_Block], successors: list[set[int]]) -> list[_Block]:
    """The shortest way from the head through the loop's hottest block back to the head."""
    hottest = max(sorted(loop.body), key=lambda number: _heat([blocks[number]]))
    there = _shortest(loop, {loop.head}, {hottest}, blocks, successors)
    back = _shortest(loop, {hottest}, loop.tails, blocks, successors)
    return [blocks[number] for number in sorted({*there, *back})]


def _shortest(
    loop: _Loop,
    start: set[int],
    end: set[int] | frozenset[int],
    blocks: list[_Block],
    successors: list[set[int]],
) -> list[int]:
    """The blocks on the way with fewest lines, without passing the head again."""
    waiting: list[tuple[int, list[int]]] = [(0, [block]) for block in start]
    seen: set[int] = set()
    while waiting:
        length, way = heapq.heappop(waiting)
        if way[-1] in end:
            return way
        if way[-1] in seen:
            continue
        seen.add(way[-1])
        for after in (successors[way[-1]] & loop.body) - {loop.head}:
            heapq.heappush(waiting, (length + len(blocks[after].lines), [*way, after]))
    return []


def _blocks(lines: list[str]) -> Iterator[_Block]:
    """The basic blocks of a listing, without what is meant for the assembler only."""
    number = 0
    labels: list[str] = []
    kept: list[str] = []
    for line in lines:
        label, instruction = _LABEL.match(line), _INSTRUCTION.match(line)
        if label is not None and any(_INSTRUCTION.match(before) for before in kept):
            yield _block(number, labels, kept, targets=(), falls_through=True)
            number, labels, kept = number + 1, [], []
        if label is not None:
            labels.append(label["name"])
            kept.append(line)
        if instruction is None:
            continue
        kept.append(line)
        mnemonic, target = instruction["mnemonic"], instruction["operands"].split(",")[-1].strip()
        always = mnemonic in _ALWAYS
        if always or _CONDITIONAL.fullmatch(mnemonic):
            yield _block(number, labels, kept, targets=(target,), falls_through=not always)
            number, labels, kept = number + 1, [], []
    if kept:
        yield _block(number, labels, kept, targets=(), falls_through=False)


def _block(
    number: int,
    labels: list[str],
    lines: list[str],
    *,
    targets: tuple[str, ...],
    falls_through: bool,
) -> _Block:
    return _Block(
        number=number,
        labels=tuple(labels),
        lines=tuple(lines),
        targets=targets,
        falls_through=falls_through,
    )


def _successors(blocks: list[_Block]) -> list[set[int]]:
    """Where each block may go on."""
    place = {label: block.number for block in blocks for label in block.labels}
    successors = []
    for block in blocks:
        after = {place[target] for target in block.targets if target in place}
        if block.falls_through and block.number + 1 < len(blocks):
            after.add(block.number + 1)
        successors.append(after)
    return successors


def _natural_loops(successors: list[set[int]]) -> Iterator[_Loop]:
    """The loops; those with one head are one loop."""
    predecessors: list[set[int]] = [set() for _ in successors]
    for block, after in enumerate(successors):
        for target in after:
            predecessors[target].add(block)
    dominators = _dominators(predecessors)
    for head in range(len(successors)):
        tails = frozenset(block for block in predecessors[head] if dominators[block] >> head & 1)
        if not tails:
            continue
        body, waiting = {head}, list(tails)
        while waiting:
            block = waiting.pop()
            if block not in body:
                body.add(block)
                waiting.extend(predecessors[block])
        yield _Loop(head=head, tails=tails, body=frozenset(body))


def _dominators(predecessors: list[set[int]]) -> list[int]:
    """For each block, as the bits of a number, the blocks that every way to it passes.

    Ways begin where nothing leads.
    """
    everything = (1 << len(predecessors)) - 1
    dominators = [everything if before else 1 << block for block, before in enumerate(predecessors)]
    changed = True
    while changed:
        changed = False
        for block, before in enumerate(predecessors):
            if not before:
                continue
            found = everything
            for earlier in before:
                found &= dominators[earlier]
            found |= 1 << block
            if found != dominators[block]:
                dominators[block], changed = found, True
    return dominators


def _heat(blocks: list[_Block]) -> float:
    """Arithmetic on vector registers, squared, over all instructions: much of it and dense.

    Masks count against it: where they are, the kernel is at a border of the data.
    """
    useful, total = 0, 0
    for block in blocks:
        for line in block.lines:
            instruction = _INSTRUCTION.match(line)
            if instruction is None:
                continue
            total += 1
            if _MASK.search(line):
                useful -= 1
            elif _VECTOR.search(line) and not _NOT_ARITHMETIC.match(instruction["mnemonic"]):
                useful += 1
    return useful * abs(useful) / max(total, 1)

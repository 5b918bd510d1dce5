"""Loops of machine code, from the comments that LLVM writes into its assembly.

LLVM names the loop of each basic block and the block of the LLVM text it comes from. By that name
the version for whole rows, the fast one, is told from that for edges, the careful one: the emitter
writes each in one piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from cubepy.records import dataclass, field

__all__ = ["Block", "Loop", "loops_of"]

_BLOCK = re.compile(r"^(?:\.L(BB\d+_\d+):|(?:#|//) %bb\.\d+:)(.*)$")
_NAME = re.compile(r"(?:#|//) %(\S+)")
_COMMENT = re.compile(r"^\s+(?:#|//)(.*)$")
_HEADER = re.compile(r"=>\s*This (?:Inner )?Loop Header: Depth=(\d+)")
_INSIDE = re.compile(r"in Loop: Header=(BB\d+_\d+) Depth=(\d+)")
_PARENT = re.compile(r"Parent Loop (BB\d+_\d+) Depth=\d+")
_LABEL = re.compile(r"^([\w.]+):")
_CAREFUL, _FAST = "careful", "fast"
# Blocks behind both versions.
_COMMON = ("gang_next", "task_next", "finish")


@dataclass(slots=True, kw_only=True)
class Block:
    """A basic block: the loop round it, by its header's label, and whether it is for edges."""

    loop: str
    edges: bool


@dataclass(slots=True, kw_only=True)
class Loop:
    """A loop; `parents` are the headers of those round it."""

    depth: int
    parents: Sequence[str]
    edges: bool
    lines: list[int] = field(default_factory=list)


def loops_of(commented: str, emitted: str) -> tuple[Mapping[str, Loop], Mapping[int, Block]]:
    """Loops by the label of their header, and the block of each line, counted from 1."""
    lines = commented.splitlines()
    heads = [(number, found) for number, line in enumerate(lines) if (found := _BLOCK.match(line))]
    versions = _versions(emitted, [found[2] for _, found in heads])
    loops: dict[str, Loop] = {}
    blocks: dict[int, Block] = {}
    for (number, found), end in zip(heads, [*(at for at, _ in heads[1:]), len(lines)], strict=True):
        said = [found[2], *_comments(lines[number + 1 : end])]
        edges = _version(found[2], versions) == _CAREFUL
        inside = next(filter(None, map(_INSIDE.search, said)), None)
        block = Block(loop=inside[1] if inside else "", edges=edges)
        header = next(filter(None, map(_HEADER.search, said)), None)
        if header is not None:
            parents = [match[1] for match in map(_PARENT.search, said) if match]
            block.loop = found[1]
            loops[block.loop] = Loop(depth=int(header[1]), parents=parents, edges=edges)
        blocks.update(dict.fromkeys(range(number + 1, end + 1), block))
    for block in blocks.values():  # LLVM's own blocks have names of no version
        block.edges |= block.loop in loops and loops[block.loop].edges
    return loops, blocks


def _comments(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        found = _COMMENT.match(line)
        if found is None:
            return
        yield found[1]


def _versions(emitted: str, blocks: Sequence[str]) -> Mapping[str, str]:
    """The version that each block of the LLVM text belongs to; nothing if only one is left."""
    version, found = "", {}
    for line in emitted.splitlines():
        label = _LABEL.match(line)
        if label is None:
            continue
        if label[1] in (_CAREFUL, _FAST):
            version = label[1]
        elif label[1] in _COMMON:
            version = ""
        found[label[1]] = version
    left = {_version(said, found) for said in blocks}
    return found if {_CAREFUL, _FAST} <= left else {}


def _version(said: str, versions: Mapping[str, str]) -> str:
    """By the block's name in its comment, to which LLVM may have added endings: `.preheader`."""
    found = _NAME.search(said)
    name = found[1] if found else ""
    while name not in versions and "." in name:
        name = name.rpartition(".")[0]
    return versions.get(name, "")

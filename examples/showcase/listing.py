"""What a kernel was and what it became: source, IR, the loop where the time goes, and why."""

import inspect
from dataclasses import dataclass

from cubepy.inspection import Inspection
from cubepy.target import Topic
from examples.showcase.job import Launch

__all__ = ["Listing", "hot_loop", "listing_of"]

# What the page has room for.
TOPICS = (Topic.GANG, Topic.MEMORY, Topic.LOOP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The three texts of one kernel, and what the code generator decided."""

    name: str
    note: str
    source: str
    ir: str
    assembly: str
    decisions: tuple[str, ...]


def listing_of(launch: Launch) -> Listing:
    """The texts of the kernel as it is launched on the CPU."""
    stages = launch.launcher.inspect(*launch.arguments, target="cpu")
    return Listing(
        name=launch.kernel.source.name,
        note=launch.note,
        source=inspect.getsource(launch.kernel.function).rstrip(),
        ir=stages.optimized_ir.rstrip(),
        assembly=_in_columns(hot_loop(stages)),
        decisions=tuple(
            dict.fromkeys(str(each) for each in stages.own_decisions if each.topic in TOPICS)
        ),
    )


def hot_loop(stages: Inspection) -> str:
    """The innermost loop with most loops round it, of those the longest; all code without a loop.

    Loops for units at the edges of a launch do not count.
    """
    code = stages.machine_code
    assert code is not None
    lines = code.text.splitlines()
    inner = [loop for loop in code.loops if loop.innermost and not loop.edges]
    if not inner:
        return code.text
    hottest = max(inner, key=lambda loop: (loop.depth, len(loop.lines)))
    return "\n".join(lines[number - 1] for number in hottest.lines)


def _in_columns(assembly: str) -> str:
    """Mnemonics and operands below each other, whatever the width of a tab."""
    lines = (line.split("\t") for line in assembly.splitlines())
    return "\n".join(
        f"    {parts[1]:<15} {' '.join(parts[2:])}".rstrip() if len(parts) > 1 else parts[0]
        for parts in lines
    )

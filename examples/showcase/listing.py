"""What a kernel was and what it became, as text: source, IR, and the loop where the time goes."""

import inspect
from dataclasses import dataclass

from examples.showcase.job import Launch
from examples.showcase.loops import hot_loop

__all__ = ["Listing", "listing_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The three texts of one kernel."""

    name: str
    source: str
    ir: str
    assembly: str


def listing_of(launch: Launch) -> Listing:
    """The texts of the kernel as it is launched on the CPU."""
    stages = launch.launcher.inspect(*launch.arguments, target="cpu")
    return Listing(
        name=launch.kernel.source.name,
        source=inspect.getsource(launch.kernel.function).rstrip(),
        ir=stages.optimized_ir.rstrip(),
        assembly=hot_loop(stages.asm),
    )

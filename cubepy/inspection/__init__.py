"""Looking at a kernel: every stage of what it became, what was decided on the way, what it costs.

`inspect` runs the stages of the compiler for one specialization and keeps them; nothing here needs
a device, and nothing changes what is compiled.
"""

from typing import TYPE_CHECKING

from cubepy.inspection.cost import Cost, estimated_costs
from cubepy.inspection.highlight import STYLE, highlighted
from cubepy.inspection.inspection import Inspection, PassStep, inspect
from cubepy.inspection.line_times import LineTimes
from cubepy.inspection.listing import Line, lines_of_code, lines_of_kernel, lines_of_text
from cubepy.inspection.resources import Resources
from cubepy.inspection.signature import Examples, example_arguments
from cubepy.inspection.usage import axes_of_launch
from cubepy.late import door

if TYPE_CHECKING:
    from cubepy.inspection.assembly import HotLoop, asm_listing, hot_listing, hot_loop, loop_marks
    from cubepy.inspection.terminal import called, rendered
else:
    # What is printed brings a library for terminals with it.
    __getattr__ = door(
        __name__,
        assembly="HotLoop asm_listing hot_listing hot_loop loop_marks",
        terminal="called rendered",
    )

__all__ = [
    "STYLE",
    "Cost",
    "Examples",
    "HotLoop",
    "Inspection",
    "Line",
    "LineTimes",
    "PassStep",
    "Resources",
    "asm_listing",
    "axes_of_launch",
    "called",
    "estimated_costs",
    "example_arguments",
    "highlighted",
    "hot_listing",
    "hot_loop",
    "inspect",
    "lines_of_code",
    "lines_of_kernel",
    "lines_of_text",
    "loop_marks",
    "rendered",
]

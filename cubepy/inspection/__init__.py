"""Looking at a kernel: every stage of what it became, what was decided on the way, what it costs.

`inspect` runs the stages of the compiler for one specialization and keeps them; nothing here needs
a device, and nothing changes what is compiled.
"""

from cubepy.inspection.cost import Cost, estimated_costs
from cubepy.inspection.highlight import STYLE, highlighted
from cubepy.inspection.inspection import Inspection, PassStep, inspect
from cubepy.inspection.listing import Line, lines_of_code, lines_of_kernel, lines_of_text
from cubepy.inspection.resources import Resources
from cubepy.inspection.signature import example_arguments

__all__ = [
    "STYLE",
    "Cost",
    "Inspection",
    "Line",
    "PassStep",
    "Resources",
    "estimated_costs",
    "example_arguments",
    "highlighted",
    "inspect",
    "lines_of_code",
    "lines_of_kernel",
    "lines_of_text",
]

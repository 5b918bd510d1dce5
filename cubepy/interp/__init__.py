"""What the IR means, on NumPy: the machine, its reports, and the runtime `reference`.

It shares nothing with emitters but the op table, so that it stays an independent witness.
"""

from cubepy.interp.batch import Batch
from cubepy.interp.device import ReferenceDevice, ReferenceRuntime, runtime
from cubepy.interp.machine import goes_beyond_values, run
from cubepy.interp.masks import Mask, has_lane
from cubepy.interp.memory import HostMemory, Memory, at_lane
from cubepy.interp.state import Reports, State, Watch

__all__ = [
    "Batch",
    "HostMemory",
    "Mask",
    "Memory",
    "ReferenceDevice",
    "ReferenceRuntime",
    "Reports",
    "State",
    "Watch",
    "at_lane",
    "goes_beyond_values",
    "has_lane",
    "run",
    "runtime",
]

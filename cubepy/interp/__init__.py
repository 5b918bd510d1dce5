"""What the IR means, on NumPy: the machine, its reports, and the runtime `reference`.

It shares nothing with emitters but the op table, so that it stays an independent witness.
"""

from cubepy.interp.device import ReferenceDevice, ReferenceRuntime, runtime
from cubepy.interp.machine import run
from cubepy.interp.memory import HostMemory
from cubepy.interp.state import Reports

__all__ = ["HostMemory", "ReferenceDevice", "ReferenceRuntime", "Reports", "run", "runtime"]

"""The CPU runtime: machine code in this process, threads over cores, NumPy memory."""

from cubepy_cpu.device import CpuDevice, CpuRuntime, runtime
from cubepy_cpu.threads import num_threads, set_num_threads

__all__ = ["CpuDevice", "CpuRuntime", "num_threads", "runtime", "set_num_threads"]

"""The CPU runtime: machine code in this process, threads over cores, NumPy memory."""

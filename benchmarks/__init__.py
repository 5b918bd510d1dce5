"""Side by side with installed peers: measurements, never part of the library.

Each peer has a module that runs it and says so when it cannot. `python -m benchmarks` prints what
could be measured on this machine.
"""

"""`cb.profile()`: how long each launch took on its device, as a table and as a trace."""

from cubepy.profiling.profiler import Compiled, LaunchTime, Profile, Row, profile

__all__ = ["Compiled", "LaunchTime", "Profile", "Row", "profile"]

"""From a call with arguments to a launch; all launchers of a function share its resolver."""

from typing import TYPE_CHECKING

from cubepy.late import door
from cubepy.launcher import pickling
from cubepy.launcher.launcher import Launcher, PreparedLaunch, make_launcher
from cubepy.launcher.over import Over, make_over
from cubepy.launcher.resolver import Resolver
from cubepy.launcher.tracebacks import short_tracebacks
from cubepy.launcher.work import Work

if TYPE_CHECKING:
    from cubepy.launcher.host_call import HostCalls
else:
    __getattr__ = door(__name__, host_call="HostCalls")

__all__ = [
    "HostCalls",
    "Launcher",
    "Over",
    "PreparedLaunch",
    "Resolver",
    "Work",
    "make_launcher",
    "make_over",
    "pickling",
    "short_tracebacks",
]

"""From a call with arguments to a launch; all launchers of a function share its resolver."""

from cubepy.launcher.host_call import HostCalls
from cubepy.launcher.launcher import Launcher, PreparedLaunch
from cubepy.launcher.resolver import Resolver
from cubepy.launcher.work import Work

__all__ = ["HostCalls", "Launcher", "PreparedLaunch", "Resolver", "Work"]

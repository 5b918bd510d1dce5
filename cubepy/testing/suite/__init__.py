"""The suite that a runtime must pass, for pytest to collect.

A runtime's own tests are one class: it says which device, and is done when nothing fails. ::

    from cubepy.testing import RuntimeSuite

    class TestMine(RuntimeSuite):
        device = "mine:0"

What a device cannot do, by its features, is skipped by name.
"""

from cubepy.testing.suite.launches import LaunchSuite
from cubepy.testing.suite.memory import MemorySuite
from cubepy.testing.suite.rows import RowSuite
from cubepy.testing.suite.streams import StreamSuite

__all__ = ["RuntimeSuite"]


class RuntimeSuite(MemorySuite, LaunchSuite, StreamSuite, RowSuite):
    """Memory, launches, streams, and every row of the op table, on the device named `device`."""

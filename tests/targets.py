"""CPU targets as parameters of tests; one that this machine cannot run is skipped, and says so."""

from typing import Any

import pytest

from cubepy.testing import runs_here

__all__ = ["on_targets"]


def on_targets(*names: str) -> list[Any]:
    """Parameters for `pytest.mark.parametrize`."""
    return [
        pytest.param(
            name,
            marks=pytest.mark.skipif(
                not runs_here(name), reason=f"this processor does not run {name}"
            ),
        )
        for name in names
    ]

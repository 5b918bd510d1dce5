"""What the package says of itself and of names that it does not have."""

import importlib.metadata
import subprocess
import sys
from typing import Any

import pytest

import cubepy as cb
from cubepy.tools import main

TEXT: dict[str, Any] = {"capture_output": True, "text": True}


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    version = importlib.metadata.version("cubepy")
    assert cb.__version__ == version  # type: ignore[attr-defined]
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"cubepy {version}\n"


def test_a_name_that_was_meant_is_suggested() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'exq'"):
        _ = cb.exq  # type: ignore[attr-defined]
    ran = subprocess.run([sys.executable, "-c", "import cubepy; cubepy.exq"], check=False, **TEXT)
    assert "Did you mean: 'exp'" in ran.stderr


def test_devices_show_their_names() -> None:
    assert repr(cb.device("cpu")) == "<device cpu>"

"""`cubepy profile SCRIPT`: a program with its launches measured, and no line of it changed."""

from __future__ import annotations

import argparse
import runpy
import sys
import traceback
from pathlib import Path

from rich.console import Console

from cubepy.errors import CubeError
from cubepy.profiling import profile

__all__ = ["profile_script"]

_WIDTH = 120  # where the output is not a terminal


def profile_script(arguments: argparse.Namespace) -> int:
    """Run the script as `python` would, then print what its launches took.

    The table goes to standard error, beside whatever the script prints. It is there as well when
    the script fails, and the exit status is the script's.
    """
    path = Path(arguments.script)
    if not path.is_file():
        raise CubeError(f"{path}: no such file")
    sys.argv = [arguments.script, *arguments.rest]
    sys.path[0] = str(path.resolve().parent)
    measured = profile()
    try:
        with measured:
            runpy.run_path(arguments.script, run_name="__main__")
    except CubeError:  # the script's, which has a traceback as it would have alone
        traceback.print_exc()
        return 1
    finally:
        width = None if sys.stderr.isatty() else _WIDTH
        Console(stderr=True, width=width).print(measured)
        if arguments.trace:
            measured.trace(arguments.trace)
    return 0

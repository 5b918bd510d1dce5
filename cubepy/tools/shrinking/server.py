"""The process that attempts are forked from: it imports, and never runs a script itself.

A line of standard input asks for an attempt: a script, a file for what it says, seconds. The answer
is its exit status as `subprocess` counts it, or null if it did not end.
"""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import runpy
import signal
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path

__all__ = ["serve"]

# What scripts seldom need, or what runs something when it is imported.
_LEFT_OUT = ("cubepy.__main__", "cubepy.testing", "cubepy.tools")
_OTHERS = ("cubepy_cpu.llvm", "cubepy_cpu.device", "cubepy_cpu.entry", "rich.console")
_PATIENCE = (0.001, 0.02)  # seconds between two looks at an attempt, at first and at most


def serve() -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's, which is for whoever asks
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    _import()
    for line in sys.stdin:
        request = json.loads(line)
        process = os.fork()
        if not process:
            _run(request["script"], request["said"])
        print(json.dumps(_status(process, request["seconds"])), flush=True)


def _import() -> None:
    cubepy = import_module("cubepy")
    found = [module.name for module in pkgutil.walk_packages(cubepy.__path__, "cubepy.")]
    wanted = [name for name in found if not name.startswith(_LEFT_OUT)]
    for name in ("numpy", *wanted, *_OTHERS):
        with contextlib.suppress(ImportError):  # whoever needs it says so
            import_module(name)


def _run(script: str, said: str) -> None:
    """In the child: become the script."""
    status = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number, source in ((0, nothing), (1, nothing), (2, out)):
            os.dup2(source, number)
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        sys.argv = [script]
        sys.path[0] = str(Path(script).parent)
        status = _exit_status(script)
    finally:
        sys.stderr.flush()
        os._exit(status)


def _exit_status(script: str) -> int:
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
        return 1
    return 0


def _status(process: int, seconds: float) -> int | None:
    """Wait for the child, and end it with all that it started if it takes too long."""
    deadline, pause = time.monotonic() + seconds, _PATIENCE[0]
    try:
        while time.monotonic() < deadline:
            done, status = os.waitpid(process, os.WNOHANG)
            if done:
                process = 0
                return os.waitstatus_to_exitcode(status)
            time.sleep(pause)
            pause = min(2 * pause, _PATIENCE[1])
        return None
    finally:
        if process:
            _end(process)


def _end(process: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGKILL)
        os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)


if __name__ == "__main__":
    serve()

"""Running scripts again and again, each in a process of its own, without the imports of each.

Where processes can be forked, one process imports what kernels need and every attempt is a fork of
it: a few hundredths of a second in place of one. It has run nothing before, so that an attempt
finds what a new interpreter would. Elsewhere each attempt is a new interpreter.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType

from cubepy.errors import CubeError

__all__ = ["Attempts", "kept", "plain"]

_SERVER = "cubepy.tools.shrinking.server"
_ERROR = re.compile(r"^(\w+\.)*\w+(Error|Fault|Warning|Exception|Failed|Unavailable|Interrupt)\b.*")


class Attempts:
    """A context manager that runs scripts as if they lay where `path` does."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._path = path
        self._seconds = seconds
        self._folder = tempfile.TemporaryDirectory()
        self._server: subprocess.Popen[str] | None = None
        self.count = 0

    def __enter__(self) -> Attempts:
        if hasattr(os, "fork"):
            self._server = subprocess.Popen(
                [sys.executable, "-m", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                text=True, env=self._environment(),
            )  # fmt: skip
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.terminate()
            self._server.communicate()
        self._folder.cleanup()

    def complaint(self, text: str) -> str:
        """The last line of what a script says as it fails; "" if it does not."""
        self.count += 1
        script = Path(self._folder.name) / self._path.name
        script.write_text(text, encoding="utf-8")
        status, said = self._forked(script) if self._server else self._started(script)
        if status is None:
            return "the script does not end"
        if status < 0:
            return f"the process was ended by signal {-status}"
        return _last_error(said) if status else ""

    def _environment(self) -> dict[str, str]:
        places = [str(self._path.resolve().parent), *sys.path]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}

    def _started(self, script: Path) -> tuple[int | None, str]:
        try:
            done = subprocess.run(
                [sys.executable, str(script)], capture_output=True, text=True, check=False,
                timeout=self._seconds, env=self._environment(), stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stderr

    def _forked(self, script: Path) -> tuple[int | None, str]:
        server = self._server
        assert server is not None
        assert server.stdin is not None
        assert server.stdout is not None
        said = Path(self._folder.name) / "said"
        request = {"script": str(script), "said": str(said), "seconds": self._seconds}
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        answer = server.stdout.readline()
        if not answer:
            raise CubeError("the process that attempts are forked from has ended")
        status = json.loads(answer)
        return status, said.read_text("utf-8", errors="replace")


def _last_error(text: str) -> str:
    """The line that names the error, which lines of excerpts may follow."""
    lines = [line for line in text.splitlines() if line.strip()]
    named = [line for line in lines if _ERROR.match(line)]
    return (named or lines or ["it fails without a word"])[-1]


def plain(complaint: str, *, exact: bool) -> str:
    """A complaint as it is compared."""
    return complaint if exact else kept(complaint)


def kept(complaint: str) -> str:
    """A complaint without what changes as a script becomes smaller: places and numbers."""
    return re.sub(r"\S*\.py(:\d+)*:?|\d+", "…", complaint)

"""What compiling costs up to the text that a driver is given, for the kernels of the demo.

CPU time of the first time that a kernel is compiled, with the store on disk switched off, in a
process that has compiled another one: what Python reads and starts with is not in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.figures import Figure

__all__ = ["figures"]

_LIMIT_MS = 30
_SCRIPT = """
import time
import numpy as np
from benchmarks.launch import add
from examples import demo
from examples.showcase import load_digits, photograph
language = {language!r}
a = np.ones(64, np.float32)
add.over(64).inspect(a, a, a, target=language).artifact.text
for job in demo._jobs(photograph(), load_digits()):
    for launch in job.launches:
        try:
            start = time.process_time()
            launch.launcher.inspect(*launch.arguments, target=language).artifact.text
            print(1e3 * (time.process_time() - start), launch.kernel.source.name)
        except Exception as error:
            print("refused", launch.kernel.source.name, type(error).__name__)
"""


def figures() -> Iterator[Figure]:
    """The demo's slowest kernel and its median one, in each language."""
    for language in ("opencl", "wgsl:naga"):
        done = subprocess.run(
            [sys.executable, "-c", _SCRIPT.format(language=language)],
            env={**os.environ, "CUBEPY_CACHE": "false"}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        words = [line.split() for line in done.stdout.splitlines()]
        first: dict[str, float] = {}
        for taken, name, *_ in words:
            if taken != "refused":
                first.setdefault(name, float(taken))
        ordered = sorted((taken, name) for name, taken in first.items())
        for what, (milliseconds, name) in (
            ("median", ordered[len(ordered) // 2]), ("slowest", ordered[-1]),
        ):  # fmt: skip
            described = f"{language} text of the demo's {what} kernel, {name}"
            yield Figure(name=described, value=milliseconds, unit="ms", limit=_LIMIT_MS)

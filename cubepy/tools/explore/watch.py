"""`--watch`: the page on a server of this machine, made anew when a file it was made of changes.

Each page is made by a process of its own, so that it sees the files as they are now and a kernel
that does not compile, or does not end, harms nothing. Pages that are open are told by server-sent
events.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

__all__ = ["Watched", "imported_files", "serve", "watch"]

_POLL = 0.25  # seconds between looks at the files
_ALIVE = 10.0  # seconds after which a silent page is told something, to notice that it has gone
_EMPTY = "<!doctype html><meta charset=utf-8><title>cubepy explore</title><pre>{}</pre>{}"
_RELOAD = (
    "<script>new EventSource('events').addEventListener('page', () => location.reload())</script>"
)
Stamps = Mapping[Path, int]


class Watched:
    """The page as it is now. `words` are those of the command line, without --watch."""

    def __init__(self, words: Sequence[str], file: Path) -> None:
        self._words = tuple(words)
        self._files: set[Path] = {file.resolve()}
        self._readers: list[queue.Queue[tuple[str, str]]] = []
        self._lock = threading.Lock()
        self.page = ""
        self.complaint = ""

    def make(self) -> None:
        """Make the page, and tell those who are looking."""
        with tempfile.TemporaryDirectory() as folder:
            path, used = Path(folder) / "page.html", Path(folder) / "files.json"
            command = [sys.executable, "-m", "cubepy", *self._words]
            done = subprocess.run(
                [*command, "--live", str(used), "--output", str(path)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if used.exists():
                self._files |= {Path(each) for each in json.loads(used.read_text("utf-8"))}
            if done.returncode == 0:
                self.page, self.complaint = path.read_text("utf-8"), ""
                self._tell("page", "")
            else:
                self.complaint = done.stderr.strip() or f"exit status {done.returncode}"
                self._tell("broken", json.dumps(self.complaint))

    def stamps(self) -> Stamps:
        """When each file was changed last."""
        found = {}
        for file in self._files:
            try:
                found[file] = file.stat().st_mtime_ns
            except OSError:  # being replaced, perhaps
                found[file] = 0
        return found

    def follow(self, stop: threading.Event) -> None:
        """Make the page again whenever a file changes, until told to stop."""
        before = self.stamps()
        while not stop.wait(_POLL):
            now = self.stamps()
            if now != before and 0 not in now.values():
                self.make()
                now = {**self.stamps(), **now}
            before = now

    def shown(self) -> str:
        """What to show to somebody who comes now."""
        if self.page:
            return self.page
        escaped = self.complaint.replace("&", "&amp;").replace("<", "&lt;")
        return _EMPTY.format(escaped, _RELOAD)

    def events(self) -> Iterator[tuple[str, str]]:
        """What happens from now on; now and then nothing, ("", "")."""
        reader: queue.Queue[tuple[str, str]] = queue.Queue()
        with self._lock:
            self._readers.append(reader)
        try:
            if self.page and self.complaint:
                yield "broken", json.dumps(self.complaint)
            while True:
                try:
                    yield reader.get(timeout=_ALIVE)
                except queue.Empty:
                    yield "", ""
        finally:
            with self._lock:
                self._readers.remove(reader)

    def _tell(self, kind: str, data: str) -> None:
        with self._lock:
            for reader in self._readers:
                reader.put((kind, data))


def serve(watched: Watched, port: int) -> ThreadingHTTPServer:
    """A server for this machine alone; the caller runs it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/events":
                self._events()
            elif self.path == "/":
                self._answer("text/html; charset=utf-8", watched.shown().encode())
            else:
                self.send_error(404)

        def log_message(self, format: str, *values: object) -> None:
            """Say nothing of each request."""

        def _answer(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Cache-Control", "no-store")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _events(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            try:
                for kind, data in watched.events():
                    text = f"event: {kind}\ndata: {data}\n\n" if kind else ": alive\n\n"
                    self.wfile.write(text.encode())
                    self.wfile.flush()
            except OSError:  # the page was closed
                return

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    return server


def watch(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    file = Path(arguments.kernel)
    if not file.is_file():
        file = Path(arguments.kernel.rpartition(":")[0])
    watched = Watched(_words(arguments), file)
    watched.make()
    if watched.complaint:
        print(watched.complaint, file=sys.stderr)
    server = serve(watched, arguments.port)
    stop = threading.Event()
    threading.Thread(target=watched.follow, args=(stop,), daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}/ (ends with Ctrl-C)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        return 0
    finally:
        stop.set()
        server.server_close()
    return 0


def _words(arguments: argparse.Namespace) -> list[str]:
    """The command line that makes the page once."""
    words = ["explore", arguments.kernel]
    for name in ("signature", "over", "cube_dim", "cube_count", "check", "seconds", "arguments"):
        value = getattr(arguments, name)
        if value:
            words += [f"--{name.replace('_', '-')}", str(value)]
    for target in arguments.target or ():
        words += ["--target", target]
    return [*words, "--run"] if arguments.measure else words


def imported_files() -> list[str]:
    """The user's own files that this process has imported: of the working folder, or beside."""
    here = os.getcwd()  # noqa: PTH109 (as text, to be compared)
    found = []
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and "site-packages" not in file and not file.startswith(sys.prefix):
            path = Path(file).resolve()
            if str(path).startswith((here, str(Path(sys.path[0]).resolve()))):
                found.append(str(path))
    return found

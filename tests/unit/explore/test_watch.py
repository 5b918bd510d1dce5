"""The live mode: pages follow the file, a kernel that does not compile is told of."""

import functools
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from cubepy.tools.explore.watch import Watched, serve
from tests import browser
from tests.unit.explore.test_page import KERNELS

WORDS = ("--target", "cpu:x86-64-v3")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "live_kernels.py"
    path.write_text(KERNELS)
    return path


@pytest.fixture
def watched(file: Path) -> Iterator[tuple[Watched, str]]:
    made = Watched(["explore", f"{file}:looked_at", *WORDS], file)
    made.make()
    assert not made.complaint
    server = serve(made, 0)
    stop = threading.Event()
    threads = [
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}),
        threading.Thread(target=made.follow, args=(stop,)),
    ]
    for thread in threads:
        thread.start()
    yield made, f"http://127.0.0.1:{server.server_port}/"
    stop.set()
    server.shutdown()
    server.server_close()
    for thread in threads:
        thread.join()


def test_pages_follow_the_file(watched: tuple[Watched, str], file: Path) -> None:
    _, address = watched
    with browser.browser() as started:
        page = started.new_page()
        page.goto(address)
        page.keyboard.press("2")
        page.keyboard.press("[")
        passed = page.locator("#pass-name").inner_text()
        file.write_text(KERNELS.replace("own[0]", "own[0] + 7.0"))
        page.locator("#source .line", has_text="own[0] + 7.0").wait_for(timeout=60_000)
        assert page.locator("#pass-name").inner_text() == passed
        assert "define void" in page.locator("#text").inner_text()
        file.write_text(KERNELS.replace("own[0]", "own[0] + i"))
        broken = page.locator("#broken")
        broken.wait_for(timeout=60_000)
        assert "cannot add f32 and index" in broken.inner_text()
        file.write_text(KERNELS.replace("own[0]", "own[0] + 9.0"))
        page.locator("#source .line", has_text="own[0] + 9.0").wait_for(timeout=60_000)
        assert not broken.is_visible()


def test_only_its_page_is_served(watched: tuple[Watched, str]) -> None:
    _, address = watched
    with urllib.request.urlopen(address) as answer:
        assert b"looked_at" in answer.read()
    for path in ("pyproject.toml", "../etc/passwd", "live_kernels.py"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(address + path)


def test_imported_files_are_followed(tmp_path: Path) -> None:
    (tmp_path / "factor.py").write_text("FACTOR = 2.0\n")
    file = tmp_path / "scaled_kernels.py"
    file.write_text(
        "import cubepy as cb\nfrom cubepy import Array, f32\nfrom factor import FACTOR\n"
        "@cb.cube\ndef scaled(x: Array[f32]):\n    x[cb.ABSOLUTE_POS] *= FACTOR\n"
    )
    made = Watched(["explore", str(file), *WORDS], file)
    made.make()
    assert "2.0" in made.page
    assert tmp_path / "factor.py" in made.stamps()
    (tmp_path / "factor.py").write_text("FACTOR = 2.0 +\n")
    made.make()
    assert "SyntaxError" in made.complaint
    assert made.page == made.shown()


def test_the_command_ends_with_an_interrupt(file: Path) -> None:
    command = [sys.executable, "-m", "cubepy", "explore", f"{file}:looked_at", "--watch", *WORDS]
    assert shutil.which(sys.executable)
    # What a shell runs in the background ignores interrupts, and so would what it starts.
    attentive = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=attentive,  # noqa: PLW1509 (no thread of ours holds a lock)
    ) as running:
        try:
            assert running.stdout is not None
            address = running.stdout.readline().split()[0]
            with urllib.request.urlopen(address) as answer:
                assert answer.status == 200
            running.send_signal(signal.SIGINT)
            assert running.wait(30) == 0
        finally:
            running.kill()

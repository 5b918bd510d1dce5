"""A headless browser for pages, where there is one; else the test is skipped and says so."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

__all__ = ["browser", "opened"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@contextmanager
def browser(*settings: str) -> Iterator[Browser]:
    """Chromium as the system has it, with settings: nothing is fetched for the tests."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox", *settings])
        try:
            yield started
        finally:
            started.close()


@contextmanager
def opened(started: Browser, address: str, *, scheme: str = "light") -> Iterator[Page]:
    """A page that must neither complain nor ask for anything but itself."""
    page = started.new_page(
        viewport={"width": 1500, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto(address)
    try:
        yield page
        assert not complaints
    finally:
        page.close()

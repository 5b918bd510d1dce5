"""The site: it builds without a warning, its links lead somewhere, and it can be looked at.

Links are followed in the pages as written, apart from Sphinx, which has its own idea of them. In a
browser no page asks for anything from elsewhere, and none is wider than a narrow screen.
"""

import io
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser
from sphinx.application import Sphinx

from tests.browser import browser, opened
from tests.docs.documents import ROOT

# Those of Sphinx and of what it uses are for their authors.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it, without a warning."""
    folder = tmp_path_factory.mktemp("site")
    docs, made = ROOT / "docs", folder / "site"
    complaints = io.StringIO()
    Sphinx(docs, docs, made, folder / "trees", "html", status=None, warning=complaints).build()
    assert complaints.getvalue() == ""
    return made


class Links(HTMLParser):
    """What a page refers to, and the places in it that others may."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.append(value)
            elif name == "id" and value:
                self.places.add(value)


def links_of(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text(encoding="utf-8"))
    return links


def test_every_page_is_in_the_navigation(site: Path) -> None:
    home = links_of(site / "index.html")
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in documents()}
    pages.discard(Path("home.html"))
    assert {str(page) for page in pages} <= {target.split("#")[0] for target in home.targets}


def documents() -> Iterator[Path]:
    return (ROOT / "docs").rglob("*.md")


def test_links_lead_to_pages_and_places(site: Path) -> None:
    pages = {page: links_of(page) for page in site.rglob("*.html")}
    assert len(pages) > 20
    for page, links in pages.items():
        for target in links.targets:
            address = urlsplit(target)
            if address.scheme or not (address.path or address.fragment):
                assert address.scheme in ("", "https", "data"), (page.name, target)
                continue
            found = (page.parent / unquote(address.path)).resolve() if address.path else page
            assert found.exists(), (page.name, target)
            if address.fragment and found in pages:
                assert address.fragment in pages[found].places, (page.name, target)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


def test_pages_fetch_nothing_and_fit_a_narrow_screen(site: Path, chromium: Browser) -> None:
    with opened(chromium, (site / "index.html").as_uri()) as shown:
        shown.set_viewport_size({"width": 360, "height": 800})
        for page in sorted(site.rglob("*.html")):
            shown.goto(page.as_uri())
            width = shown.evaluate("document.documentElement.scrollWidth")
            assert width <= 360, f"{page.name} is {width} wide"


def test_dark_is_dark(site: Path, chromium: Browser) -> None:
    shades = {}
    for scheme in ("light", "dark"):
        with opened(chromium, (site / "start.html").as_uri(), scheme=scheme) as shown:
            colour = shown.evaluate("getComputedStyle(document.body).backgroundColor")
            shades[scheme] = sum(map(int, re.findall(r"\d+", colour)[:3]))
    assert shades["dark"] < 150
    assert shades["light"] > 600


def test_search_finds_a_page_without_a_server(site: Path, chromium: Browser) -> None:
    address = f"{(site / 'search.html').as_uri()}?q=tickets"
    with opened(chromium, address) as shown:
        shown.wait_for_selector("ul.search li a")
        found = shown.eval_on_selector_all("ul.search li a", "links => links.map(l => l.href)")
        assert any("memory.html" in link for link in found)

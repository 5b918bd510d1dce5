"""The page: one file with its style, its script and everything it shows; nothing is fetched."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import Any

from cubepy.inspection import STYLE

__all__ = ["page_of"]


def page_of(content: Mapping[str, Any], *, live: bool = False) -> str:
    """The HTML of what `content_of` gathered; a `live` page is told when there is a newer one."""
    folder = files(__package__)
    texts = {name: (folder / name).read_text("utf-8") for name in ("page.css", "page.js")}
    values = json.dumps({**content, "live": live}, separators=(",", ":"))
    return Template((folder / "page.html").read_text("utf-8")).substitute(
        title=html.escape(f"{content['kernel']}, cubepy explore"),
        style=STYLE + texts["page.css"],
        script=texts["page.js"],
        # The end of the element must not stand in its text.
        data=values.replace("</", "<\\/").replace("<!--", "<\\u0021--"),
    )

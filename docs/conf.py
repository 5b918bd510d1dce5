"""How Sphinx makes a site of these pages, which are Markdown for any reader first.

`make docs` writes build/site, which opens without a server, search included, and fetches nothing.
The order of the pages is in index.rst. A link to a file outside docs/ becomes a download.
"""

project = "cubepy"
author = "the cubepy authors"
copyright = "the cubepy authors, Apache-2.0"

extensions = ["myst_parser"]
# Pages with a part of their own in another page.
exclude_patterns = ["home.md"]
nitpicky = True
highlight_language = "none"
# Blocks are programs and what they print: tests run them, and no quote is to be made curly.
smartquotes = False

# Anchors of headings, as far down as pages link to them.
myst_heading_anchors = 3

html_theme = "furo"
html_title = "cubepy"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
# Summaries of what a search finds would be fetched from pages, which needs a server.
html_show_search_summary = False
pygments_style = "tango"
pygments_dark_style = "github-dark"
html_theme_options = {"navigation_with_keys": True}

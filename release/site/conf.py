"""The configuration of Sphinx. `build.py` prepares the sources; a page loads nothing from outside."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

project = "E-EON"
author = "The E-EON maintainers"
release = tomllib.loads((ROOT / "engine" / "Cargo.toml").read_text())["workspace"]["package"]["version"]
extensions = ["myst_parser"]
myst_heading_anchors = 6
myst_enable_extensions = ["attrs_inline"]
# Documents are also written for GitHub, where a heading may be followed by one two levels below.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
html_theme = "furo"
html_title = f"E-EON {release}"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"top_of_page_buttons": []}

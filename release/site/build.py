"""`make site`: builds the repository's documents as a site. A link without a target is an error.

Documents are written for readers of the repository. Each is copied to the same place below SOURCE, so that
links between documents stay valid; a link to any other file or folder is replaced by its text. Pictures are
copied. The sections are those of `sections.toml`.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

_FILE = HERE / "sections.toml"
SECTIONS: list[dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))["section"]
"""Each with a title, a purpose, and the paths of its pages from the root."""

_FENCED = r"^(?:```|~~~).*?^(?:```|~~~)[^\S\n]*$"
_LINK = r"(?<!\\)(?P<picture>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<to>[^()\s]+)\)"
_FENCED_OR_LINK = re.compile(f"{_FENCED}|{_LINK}", re.M | re.S)
_HTML_ANCHOR = re.compile(r'<a (?:id|name)="([^"]+)"')


def documents() -> list[str]:
    """Returns the paths of all pages, from the root, in the order of the sections."""
    return [page for section in SECTIONS for page in section["pages"]]


def lay_out(source: Path) -> None:
    """Writes every page, the sections' pages and the pictures below `source`."""
    for page in documents():
        to = source / page
        to.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / page).read_text(encoding="utf-8")
        to.write_text(_of_site(page, text, source), encoding="utf-8")
    names = []
    for section in SECTIONS:
        names.append(section["title"].lower().replace(" ", "-"))
        entries = "\n".join("/" + page.removesuffix(".md") for page in section["pages"])
        head = f"# {section['title']}\n\n{section['purpose']}\n\n"
        text = f"{head}```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n"
        (source / f"{names[-1]}.md").write_text(text, encoding="utf-8")
    front = (HERE / "front.txt").read_text(encoding="utf-8")
    _copy("docs/images/parts.svg", source)
    entries = "\n".join(names)
    front += f"\n```{{toctree}}\n:hidden:\n:maxdepth: 2\n\n{entries}\n```\n"
    (source / "index.md").write_text(front, encoding="utf-8")


def _of_site(page: str, text: str, source: Path) -> str:
    """Returns the text with links only to pages, pictures and other sites; of others it keeps the text."""

    def changed(link: re.Match[str]) -> str:
        if link["to"] is None:
            return link[0]  # a fence
        to = urlsplit(link["to"])
        if to.scheme or to.netloc:
            return link[0]
        path = _from_root(page, to.path) if to.path else page
        if link["picture"]:
            _copy(path, source)
            return link[0]
        if (ROOT / path).is_dir() and f"{path}/README.md" in documents():
            path = f"{path}/README.md"
        if path not in documents():
            return link["text"]
        there = text if path == page else (ROOT / path).read_text(encoding="utf-8")
        if to.fragment and to.fragment in _HTML_ANCHOR.findall(there):
            # Markdown links cannot refer to HTML anchors, so the link is HTML as well.
            html = "" if path == page else _way(page, path.removesuffix(".md") + ".html")
            return f'<a href="{html}#{to.fragment}">{link["text"]}</a>'
        fragment = f"#{to.fragment}" if to.fragment else ""
        return f"[{link['text']}]({_way(page, path) if path != page else ''}{fragment})"

    return _FENCED_OR_LINK.sub(changed, text)


def _from_root(page: str, link: str) -> str:
    return str((ROOT / page).parent.joinpath(unquote(link)).resolve().relative_to(ROOT))


def _way(page: str, to: str) -> str:
    return "../" * page.count("/") + to


def _copy(path: str, source: Path) -> None:
    (source / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / path, source / path)


class _Page(HTMLParser):
    """The references of a page: its anchors, its links, and the resources that a browser loads with it."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {name: value for name, value in attrs if value}
        self.anchors.update(of[name] for name in ("id", "name") if name in of)
        if tag == "a" and "href" in of:
            self.links.append(of["href"])
        elif tag == "link" and of.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(of.get("href", ""))
        elif "src" in of:
            self.loaded.append(of["src"])


def faults(site: Path) -> Iterator[str]:
    """Yields the links of built pages without a target, and resources that a page would load from outside."""
    pages: dict[Path, _Page] = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = _Page()
        pages[path].feed(path.read_text(encoding="utf-8"))
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in page.loaded + page.links:
            to = urlsplit(link)
            if to.scheme or to.netloc:
                if link in page.loaded and to.scheme != "data":
                    yield f"{name}: fetches {link}"
                continue
            there = (path.parent / unquote(to.path)).resolve() if to.path else path
            if there.is_dir():
                there = there / "index.html"
            if not there.is_file():
                yield f"{name}: {link}: no such file"
            elif to.fragment and there in pages and unquote(to.fragment) not in {"", *pages[there].anchors}:
                yield f"{name}: {link}: no such place"
    for path in sorted(site.rglob("*.css")):
        for address in re.findall(r"url\(['\"]?(https?:[^'\")]+)", path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)}: fetches {address}"


def main() -> int:
    """Builds the site into the folder in the first argument. Returns the exit status."""
    output = Path(sys.argv[1]).resolve()
    source, site = output / "source", output / "html"
    shutil.rmtree(output, ignore_errors=True)
    lay_out(source)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-c", str(HERE)]
    done = subprocess.run([*command, str(source), str(site)], check=False)
    if done.returncode:
        return done.returncode
    found = list(faults(site))
    print(*found, sep="\n")
    print(f"{len(found)} faults; {len(documents())} documents in {site}/index.html")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

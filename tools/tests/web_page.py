"""The elements of a page: whether they are closed, and what a browser would fetch."""

from collections import Counter
from html.parser import HTMLParser

_VOID = {"meta", "br", "img", "link", "input", "hr"}
_FETCHING = {"script", "link", "img", "iframe", "object"}


class WebPage(HTMLParser):
    """A page that was read. `fetched`: elements and addresses that need more than the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: Counter[str] = Counter()
        self.ids: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] += 1
        if tag not in _VOID:
            self.open.append(tag)
        if tag in _FETCHING:
            self.fetched.append(tag)
        for key, value in attrs:
            if key == "id" and tag in {"div", "h2"}:
                self.ids.append(value or "")
            if key in {"src", "href", "xlink:href"} and value and not value.startswith("#"):
                self.fetched.append(value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

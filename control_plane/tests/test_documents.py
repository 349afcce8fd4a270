"""The documents of the repository: their links lead somewhere, the glossary has each term once and in order, and
prose keeps to its limits; comments of functions begin with a verb.

Does not check addresses on the Internet, the truth of sentences, or whether a word in -s is a verb or a noun.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "GLOSSARY.md"
_NOT_OURS = {".venv", ".git", ".tools", "out", "target", "node_modules", ".pytest_cache"}
# "is no longer" and similar phrases are comparisons; other forms of "is no X" should be "is not a X".
_NEGATION = r"\b(?:is|are) no\b(?! (?:longer|later|larger|older))"
_PATTERNS = {r"\bso many\b": 0, r"\bwhoever\b": 0, r"\bto mend:": 0, _NEGATION: 30}
"""Patterns at which native readers stumble, and their permitted number in sources and documents."""
_PROSE = {".rs", ".py", ".p4", ".md", ".toml", ".yaml"}
_WITH_FILES = ("Set up and test", "Where a change goes")
"""The sections of CONTRIBUTING whose files must exist."""
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
_LINK = re.compile(r"(?<!\\)\]\(([^()\s]+)\)")
# The code is formatted, so that a pattern can find functions; a parser takes nine times as long.
_FUNCTIONS = {
    ".py": re.compile(
        r"^( *)(?:async )?def (?:.*\n(?:\1[ )\]].*\n)*?\1[)\]])?.*:(?: +#.*)?\n"
        r'\1    r?"""(?P<comment>.*)',
        re.M,
    ),
    ".rs": re.compile(
        r"^ */// ?(?P<comment>.*)\n(?: *///.*\n)*(?: *#\[.*\n)*"
        r" *(?:pub(?:\(\w+\))? )?(?:const )?(?:async )?(?:unsafe )?fn ",
        re.M,
    ),
}
"""The pattern of a function with a doc comment, by file suffix."""
_VERB = re.compile(r"[A-Z][a-z]+s(?!\S)")
_NO_CALL = re.compile(r"^ *@.*(?:property|setter|command|group|fixture|overload)", re.M)
"""A decorator whose function is not called by name: its comment describes a value, or is click's help."""
_SOURCES = {".py", ".rs", ".p4", ".toml", ".yaml", ".txtpb", ".pyi", ".json"}


def files(folder: Path = ROOT) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name not in _NOT_OURS:
                yield from files(path)
        else:
            yield path


def anchors(document: str) -> set[str]:
    """Returns the anchors of GitHub for a document's headings, and those in the document."""
    text = _FENCED.sub("", document)
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for heading in re.findall(r"^#{1,6} +(.+?)\s*#*$", text, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        numbered = (f"{slug}-{number}" for number in range(1, 1000))
        found.add(slug if slug not in found else next(one for one in numbered if one not in found))
    return found


@cache
def anchors_of(path: Path) -> set[str]:
    return anchors(path.read_text(encoding="utf-8"))


def broken_links(path: Path) -> Iterator[str]:
    text = _FENCED.sub("", path.read_text(encoding="utf-8"))
    for link in _LINK.findall(text):
        file, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (path.parent / file).resolve() if file else path
        if not target.exists():
            yield f"{path.relative_to(ROOT)}: no file {link}"
        elif anchor and target.suffix == ".md" and anchor not in anchors_of(target):
            yield f"{path.relative_to(ROOT)}: no heading {link}"


def rows(title: str) -> list[list[str]]:
    """Returns the cells of the first table below a heading, without the header."""
    below = GLOSSARY.read_text(encoding="utf-8").partition(f"{title}\n")[2]
    table = re.search(r"^\|.*?(?=^(?!\|))", below, re.M | re.S)
    assert table is not None
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table[0].splitlines()[2:]]


def test_every_link_of_every_document_leads_to_a_file_and_a_heading():
    documents = [path for path in files() if path.suffix == ".md"]
    assert ROOT / "README.md" in documents
    assert [link for path in documents for link in broken_links(path)] == []


def test_a_missing_file_and_a_missing_heading_are_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# Two `words`\n## Two words\n[a](gone.md) [b](#two-words-1) [c](#three) [d](https://x.org)\n"
    )
    assert list(broken_links(page)) == ["page.md: no file gone.md", "page.md: no heading #three"]


def test_terms_of_the_glossary_stand_once_and_in_alphabetical_order():
    terms = [row[0].casefold() for row in rows("# Glossary")]
    assert len(terms) > 10
    assert terms == sorted(set(terms))


def test_every_term_has_a_meaning_and_a_source():
    incomplete = [row[0] for row in rows("# Glossary") if len(row) != 4 or not row[1] or not row[2]]
    assert incomplete == []


def test_every_name_in_code_that_the_glossary_gives_is_in_the_sources():
    named = [name for row in rows("# Glossary") for name in re.findall(r"`([^`]+)`", row[3])]
    assert len(named) > 100
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for path in files()
        if path.suffix in _SOURCES and path != Path(__file__) and path.stat().st_size < 500_000
    )
    words = set(re.findall(r"\w+", sources))
    guides = "\n".join(
        path.read_text(encoding="utf-8")
        for path in ROOT.glob("docs/**/*.md")
        if path != GLOSSARY and "results" not in path.parts
    )
    missing = [
        name for name in named if name not in words and name not in (guides if " " in name else sources)
    ]
    assert missing == []


def test_readme_of_packet_tests_has_a_row_for_each_group():
    folder = ROOT / "ptf_tests"
    groups = {path.stem for path in (folder / "tests").glob("*.py") if path.stem != "__init__"}
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert groups == set(re.findall(r"^\| `(\w+)` \| .* \| .* \|$", page, re.M)) & groups


def test_files_that_contributing_names_for_a_change_or_a_test_exist():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sections = [page.partition(f"## {title}\n")[2].partition("\n## ")[0] for title in _WITH_FILES]
    named = re.findall(r"`([\w.]+(?:/[\w.]+)+\.\w+)`", "".join(sections))
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).is_file()] == []


def long_lines(document: str) -> list[str]:
    """Returns the lines above 160 characters, outside tables and code; of links, only the text counts."""
    prose = re.sub(r"^ *(```|~~~).*?^ *\1", "", document, flags=re.M | re.S)
    lines = re.sub(r"\]\([^)]*\)", "]", prose).splitlines()
    return [line for line in lines if len(line) > 160 and not line.startswith(("|", "    "))]


def test_patterns_that_a_native_reader_stumbles_over_stay_below_their_limits():
    # Pages of results quote measurements; this file quotes the patterns.
    texts = [
        path.read_text(encoding="utf-8")
        for path in files()
        if path.suffix in _PROSE and path != Path(__file__) and ROOT / "docs" / "results" not in path.parents
    ]
    found = {pattern: sum(len(re.findall(pattern, text, re.I)) for text in texts) for pattern in _PATTERNS}
    assert {pattern: count for pattern, count in found.items() if count > _PATTERNS[pattern]} == {}


def test_lines_of_documents_have_at_most_160_characters():
    found = {str(path): long_lines(path.read_text("utf-8")) for path in files() if path.suffix == ".md"}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_long_line_is_found_outside_tables_and_code():
    long = "word " * 40
    assert long_lines(f"{long}\n| {long} |\n    {long}\n```\n{long}\n```\nshort") == [long]


def without_verb(path: Path) -> Iterator[str]:
    """Yields the doc comments of a source file's functions that do not begin with a verb."""
    text = path.read_text(encoding="utf-8")
    for function in _FUNCTIONS[path.suffix].finditer(text):
        comment = function["comment"].removesuffix('"""')
        above = text[text.rfind("\n\n", 0, function.start()) + 1 : function.start()]
        if not _VERB.match(comment) and not _NO_CALL.search(above):
            line = text.count("\n", 0, function.start("comment")) + 1
            yield f"{path.relative_to(ROOT)}:{line}: {' '.join(comment.split()[:6])}"


def test_doc_comments_of_functions_begin_with_a_verb():
    sources = [
        path
        for path in files()
        if path.suffix in _FUNCTIONS
        and path.name != "json_types.py"
        and not any(part.startswith(("tests", "benches")) for part in path.relative_to(ROOT).parts)
    ]
    assert len(sources) > 500
    found = [comment for path in sources for comment in without_verb(path)]
    assert found == [], "\n".join(found)


def test_a_doc_comment_that_begins_with_a_noun_is_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    python, rust = tmp_path / "a.py", tmp_path / "a.rs"
    python.write_text(
        'def f(\n    x: int,\n) -> int:\n    """The number of x."""\n\n\n'
        'class C:\n    @property\n    def g(self) -> int:\n        """The number."""\n\n'
        '    def h(self) -> int:  # of x\n        """Returns the number."""\n'
    )
    rust.write_text("/// Returns x.\nfn f() {}\n\n/// All of x\n/// here.\n#[inline]\npub(crate) fn g() {}\n")
    assert [*without_verb(python), *without_verb(rust)] == ["a.py:4: The number of x.", "a.rs:4: All of x"]

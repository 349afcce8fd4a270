"""docs/run/guide.md as a program: files to write, commands to run in terminals, and their output.

The info string of a fenced block defines its kind:

    ```yaml file=fabric.yaml        a file in the reader's folder
    ```console                      commands after `$ `, each with its output
    ```console exit=2               its last command ends with this exit code
    ```console on=fabric until="ends"   in a terminal of that name; it goes on. The block ends at this text
    ```console on=fabric            without a `$ `: what that terminal printed since, up to `until` or its end
    ```console signal=INT on=fabric the same, after Ctrl-C in that terminal (or KILL, after `kill -9`)
    ```console loose                every line shown but `...` is printed, in any order, perhaps with others
    ```console needs=openssl        left out where a program is not on PATH
    ```console columns=200          in a terminal of that width, not of 80: names of a machine fold it
    ```console in=examples/new_aqm  from here on in a copy of that folder of the repository
    ```console quiet                what is printed does not matter
    ```console manual               not run

Commands of `eeon` alone run in this process, because each would import for a second; `fabric exec`, which
would end it, and all others run in bash. `guide_reader` runs the guide; `guide_refresh` (`make guide`)
updates its outputs.
"""

import re
import shlex
from dataclasses import dataclass

_FENCE = re.compile(r"^```(console|yaml)(?: ([^\n`]*))?\n(.*?)^```$", re.M | re.S)

_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?"), "TIME"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "DIGEST"),
    (re.compile(r"\b\d+(?:\.\d+)?m?s\b(?= +ready)"), "SPAN"),
    # Time in low-power idle, and its share: both grow with the run time of the switches.
    (re.compile(r"\b\d+(?:\.\d+)?m?s +\d+\.\d%"), "SPAN SHARE"),
    (re.compile(r"\bpid \d+"), "pid N"),
    (re.compile(r"\bseconds=[\d.]+"), "seconds=N"),
    (re.compile(r"to be confirmed; .* left"), "to be confirmed; TIME left"),
    (re.compile(r"(disconnected switch=\w+) reason=.*"), r"\1 reason"),
    (re.compile(r"\b\d+\.\d+(?:\.\d+)+(?:\.\d+)?\b(?!:)"), "VERSION"),
)
_ANY_ORDER = re.compile(r"\w+: (?:program loaded|written|read back as intended|undone)")


@dataclass
class Block:
    """A fenced block of the document; `start` and `end` delimit the text between the fences."""

    kind: str
    words: dict[str, str]
    text: str
    start: int
    end: int

    @property
    def commands(self) -> list[tuple[str, str]]:
        """Returns (command, output below it); a block without `$ ` is one output without a command."""
        parts: list[tuple[str, str]] = []
        lines = iter(self.text.splitlines())
        for line in lines:
            if line.startswith("$ "):
                while line.endswith("\\"):
                    line = f"{line}\n{next(lines)}"
                parts.append((line[2:], ""))
            else:
                command, output = parts.pop() if parts else ("", "")
                parts.append((command, f"{output}{line}\n"))
        return parts or [("", "")]

    def agrees(self, shown: str, printed: str) -> bool:
        """Returns whether the output of a command of this block is what the document shows."""
        return "quiet" in self.words or alike(shown, printed, loose="loose" in self.words)


def blocks(document: str) -> list[Block]:
    """Returns all fenced blocks of consoles and files, in order."""
    found = []
    for match in _FENCE.finditer(document):
        words = {
            word.partition("=")[0]: word.partition("=")[2] or "yes" for word in shlex.split(match[2] or "")
        }
        found.append(Block(match[1], words, match[3], match.start(3), match.end(3)))
    return found


def alike(shown: str, printed: str, *, loose: bool) -> bool:
    """Returns whether two outputs differ only in parts that change from run to run."""
    ours, theirs = _settled(shown), _settled(printed)
    if loose:
        return set(ours) <= {*theirs, "..."} and (bool(ours) or not theirs)
    return ours == theirs


def _settled(output: str) -> list[str]:
    lines = []
    for line in output.rstrip().splitlines():
        for pattern, word in _VOLATILE:
            line = pattern.sub(word, line)
        lines.append(re.sub(r"\s+", " ", line).rstrip())  # the width of columns depends on their values
    settled: list[str] = []
    unordered: list[str] = []
    for line in [*lines, ""]:
        if _ANY_ORDER.fullmatch(line):
            unordered.append(line)
            continue
        settled += [*sorted(unordered), line]
        unordered = []
    return settled[:-1]

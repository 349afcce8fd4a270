"""Runs a guide's commands, and replaces the outputs that have changed: `make guide`."""

import sys
import tempfile
from pathlib import Path

from guide_document import blocks
from guide_reader import Reader


def refresh(path: Path, reader: Reader) -> list[str]:
    """Runs the document's commands and replaces outputs that differ. Returns what differed: outputs, exit
    codes, and a command that did not come to its end, after which no other is run."""
    document = path.read_text(encoding="utf-8")
    pieces, done_to, found = [], 0, []
    for block in blocks(document):
        place = f"{path.name}:{document.count(chr(10), 0, block.start)}: "
        try:
            outputs = reader.do(block)
        except AssertionError as error:
            found.append(f"{place}stopped: {error}")
            break
        if outputs is None:
            continue
        new = "".join(f"$ {command}\n{text}" if command else text for command, text, _ in outputs)
        same = all(
            block.agrees(shown, printed)
            for (_, shown), (_, printed, _) in zip(block.commands, outputs, strict=True)
        )
        if not same:
            found.append(f"{place}prints now:\n{new}")
        expected = [0] * (len(outputs) - 1) + [int(block.words.get("exit", "0"))]
        for (command, printed, code), wanted in zip(outputs, expected, strict=True):
            if code != wanted:
                found.append(f"{place}{command}: exit code {code}, not {wanted}:\n{printed}")
        pieces += [document[done_to : block.start], block.text if same else new]
        done_to = block.end
    path.write_text("".join([*pieces, document[done_to:]]), encoding="utf-8")
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home, Reader(Path(home)) as reader:
        print("\n".join(refresh(Path(sys.argv[1]), reader)))

"""Runs a guide's commands, and replaces the outputs that have changed: `make guide`."""

import sys
import tempfile
from pathlib import Path

from guide_document import blocks
from guide_reader import Reader


def refresh(path: Path) -> int:
    """Runs the document's commands and replaces outputs that differ. Returns the number of changed blocks."""
    document = path.read_text(encoding="utf-8")
    pieces, done_to, changed = [], 0, 0
    with tempfile.TemporaryDirectory() as home, Reader(Path(home)) as reader:
        try:
            for block in blocks(document):
                outputs = reader.do(block)
                if outputs is None:
                    continue
                pieces.append(document[done_to : block.start])
                done_to = block.end
                new = "".join(f"$ {command}\n{text}" if command else text for command, text, _ in outputs)
                same = all(
                    block.agrees(shown, printed)
                    for (_, shown), (_, printed, _) in zip(block.commands, outputs, strict=True)
                )
                expected = int(block.words.get("exit", "0"))
                if outputs[-1][2] != expected:
                    print(f"{outputs[-1][0]}: exit code {outputs[-1][2]}, not {expected}:\n{new}")
                pieces.append(block.text if same else new)
                changed += not same
        except AssertionError as error:
            print(f"stopped at line {document.count(chr(10), 0, block.start)}: {error}")
    path.write_text("".join([*pieces, document[done_to:]]), encoding="utf-8")
    return changed


if __name__ == "__main__":
    print(f"{refresh(Path(sys.argv[1]))} blocks changed")

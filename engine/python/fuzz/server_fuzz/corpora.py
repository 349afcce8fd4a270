"""Inputs in files: one packed file for each target of either language, folders for libFuzzer, and inputs
mutated with a fixed seed.

    python corpora.py unpack TARGET...    fills the folders of libFuzzer from the packed files
    python corpora.py pack TARGET...      packs what is in the folders
"""

import random
import sys
from collections.abc import Iterable
from pathlib import Path

ENGINE_FUZZ = Path(__file__).resolve().parents[3] / "fuzz"
PACKED = ENGINE_FUZZ / "corpora"
FOLDERS = ENGINE_FUZZ / "corpus"
REGRESSIONS = Path(__file__).resolve().parents[1] / "regressions"


def pack(inputs: Iterable[bytes]) -> bytes:
    """Packs inputs into one file, short ones first, each preceded by its length in four bytes."""
    return b"".join(
        len(item).to_bytes(4, "big") + item for item in sorted(set(inputs), key=lambda i: (len(i), i))
    )


def unpack(file: bytes) -> list[bytes]:
    """Returns the inputs of a packed corpus. Raises `ValueError` if it is truncated."""
    inputs = []
    at = 0
    while at < len(file):
        length = int.from_bytes(file[at : at + 4], "big")
        item = file[at + 4 : at + 4 + length]
        if len(file) < at + 4 or len(item) < length:
            raise ValueError("the corpus breaks off")
        inputs.append(item)
        at += 4 + length
    return inputs


def committed(target: str) -> list[bytes]:
    """Returns the inputs of a target's packed corpus."""
    return unpack((PACKED / f"{target}.corpus").read_bytes())


def unfold(target: str) -> None:
    """Writes a target's packed corpus into its folder, a file for each input."""
    folder = FOLDERS / target
    folder.mkdir(parents=True, exist_ok=True)
    for at, item in enumerate(committed(target)):
        (folder / f"seed-{at:04}").write_bytes(item)


def keep(target: str, folder: Path | None = None) -> None:
    """Packs the inputs of a folder, by default the target's."""
    packed = PACKED / f"{target}.corpus"
    packed.write_bytes(pack(path.read_bytes() for path in (folder or FOLDERS / target).iterdir()))
    print(f"{packed.name}: {packed.stat().st_size} bytes")


def regressions(target: str) -> list[bytes]:
    """Returns inputs that once revealed a fault, from files named TARGET-what."""
    return [path.read_bytes() for path in sorted(REGRESSIONS.glob(f"{target}-*"))]


def changed(item: bytes, other: bytes, rng: random.Random) -> bytes:
    """Returns an input with one to four mutations: bits, bytes, extreme numbers, parts removed, repeated, or
    replaced with parts of another input."""
    data = bytearray(item)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(data))
        length = rng.randint(1, 16)
        match rng.randrange(6):
            case 0 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 1 if data:
                data[at % len(data)] = rng.randrange(256)
            case 2:
                data[at : at + length] = rng.choice([b"\0", b"\xff", b"\x7f\xff\xff\xff", b"\x80\0\0\0"])
            case 3:
                del data[at : at + length]
            case 4:
                data[at:at] = data[at : at + length]
            case _:
                start = rng.randint(0, len(other))
                data[at : at + length] = other[start : start + length]
    return bytes(data)


if __name__ == "__main__":
    for name in sys.argv[2:]:
        {"unpack": unfold, "pack": keep}[sys.argv[1]](name)

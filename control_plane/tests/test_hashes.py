"""The pins with hashes equal those without, and are generated from pip's report."""

import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

hashes = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / ".ci" / "hashes.py")))


def test_every_pin_has_a_hash_and_nothing_else_has_one():
    pinned, hashed = hashes.PINS.read_text(), hashes.HASHED.read_text()
    assert len(hashes.pins(pinned)) == len([line for line in pinned.splitlines() if "==" in line]) > 90
    assert hashes.differences(pinned, hashed) == []
    lines = [line for line in hashed.splitlines() if not line.startswith("#")]
    # No address: this file must not determine the registry.
    assert all(re.fullmatch(r"[a-z0-9-]+==[^ ]+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)


def test_a_pin_that_was_changed_or_added_without_its_hash_is_named():
    assert hashes.differences("a==1.1\nb_c==2\n", "a==1.0 --hash=sha256:0\nb-c==2 --hash=sha256:0\n") == [
        "a: constraints.txt has 1.1, constraints-hashed.txt 1.0"
    ]
    assert hashes.differences("a==1\n", "") == ["a: constraints.txt has 1, constraints-hashed.txt None"]


def test_a_report_of_pip_becomes_lines_in_the_order_of_names():
    report = {
        "install": [
            {
                "metadata": {"name": name, "version": "1"},
                "download_info": {"archive_info": {"hashes": {"sha256": digest}}},
            }
            for name, digest in (("B_b", "0" * 64), ("a", "1" * 64))
        ]
    }
    lines = hashes.hashed(json.dumps(report)).splitlines()
    assert lines[-2:] == [f"a==1 --hash=sha256:{'1' * 64}", f"b-b==1 --hash=sha256:{'0' * 64}"]

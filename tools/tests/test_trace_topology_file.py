"""A trace for a user's topology: its readers find the topology's file."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from eeon_control import data
from eeon_tools.cli.trace import trace
from eeon_tools.errors import TraceError
from eeon_tools.trace import manifest as manifests

pytestmark = pytest.mark.system


def made(topology: str, output: Path) -> Path:
    words = ["shuffle", "-t", topology, "-o", str(output), "--maps", "4", "--split", "100KB"]
    done = CliRunner().invoke(trace, words)
    assert done.exit_code == 0, done.output
    return output


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Returns the file of a topology, relative to the working folder."""
    text = (data.folder("topologies") / "leaf-spine-4.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("name: leaf-spine-4", "name: mine"))
    monkeypatch.chdir(tmp_path)
    return "mine.yaml"


def test_a_trace_names_the_file_of_its_topology_from_its_own_folder(
    mine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = made(mine, tmp_path / "out" / "a.pcap")
    document = json.loads(manifests.manifest_path(output).read_text())
    assert (document["topology"], document["topology_file"]) == ("mine", "../mine.yaml")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = manifests.topology_of(output)
    assert found is not None and Path(found).samefile(tmp_path / "mine.yaml")


def test_a_file_that_has_gone_is_named_with_what_to_do(mine: str, tmp_path: Path) -> None:
    output = made(mine, tmp_path / "a.pcap")
    (tmp_path / mine).unlink()
    with pytest.raises(TraceError, match=r"mine\.yaml, .* does not exist; give -t FILE"):
        manifests.topology_of(output)


def test_a_topology_that_ships_is_named_and_has_no_file(tmp_path: Path) -> None:
    output = made("leaf-spine-4", tmp_path / "a.pcap")
    assert "topology_file" not in json.loads(manifests.manifest_path(output).read_text())
    assert manifests.topology_of(output) == "leaf-spine-4"

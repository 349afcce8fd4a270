"""Topology files: the packaged ones, the derived values, and the message about every mistake."""

import re
from pathlib import Path

import pytest
from eeon_control import config, data, topology
from eeon_control.errors import InputError
from eeon_control.topology import phy
from eeon_control.units import Bytes, DataRate, Duration
from expected_rows import bases, value

ROWS = Path(__file__).parent / "expected" / "topology.yaml"


def test_every_topology_that_ships_has_a_row():
    assert data.names("topologies") == sorted(value(ROWS.read_text("utf-8"))["topologies that ship"]["rows"])


def test_file_that_is_too_large_or_deep_or_not_text_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"f\.yaml: error: not YAML: nested more than 24 levels deep"):
        topology.from_text("[" * 5000, "f.yaml")
    path = tmp_path / "big.yaml"
    path.write_text("#" * (1 << 20) + "\n")
    with pytest.raises(InputError, match="the limit is"):
        topology.load(path)
    path.write_bytes(b"name: \xff\n")
    with pytest.raises(InputError, match="not UTF-8"):
        topology.load(path)


def test_what_a_file_of_containerlab_assumes_is_a_warning_until_it_is_kept():
    clos = topology.from_text(bases(ROWS)["containerlab"], "clos.clab.yml")
    (warning,) = config.check(config.load("mark_threshold"), clos, Duration(1000))
    assert str(warning) == f"clos.clab.yml: warning: {clos.assumed}"
    again = topology.from_value(dict(clos.document), "revision 1")
    assert (again.links, again.hosts, again.assumed) == (clos.links, clos.hosts, "")


def test_a_link_is_its_ends_and_values_wherever_it_was_written():
    first = topology.load("leaf-spine-4").links[0]
    ends = topology.Endpoint("leaf1", 1), topology.Endpoint("h1", 0)
    assert first == topology.Link(*ends, DataRate.parse("1Gbps"), Duration.parse("500ns"), Bytes(24))


def test_phy_times_are_those_of_thesis_table_2_1():
    times = {one.name: (str(one.wake), str(one.sleep)) for one in phy.KNOWN}
    assert times == {
        "100BASE-TX": ("30.5us", "200us"),
        "1000BASE-T": ("16.5us", "182us"),
        "10GBASE-T": ("4.48us", "2.88us"),
    }
    # Table 2.1, efficiency of a single 1500-byte frame: frame / (frame + Tw + Ts)
    for one, percent in zip(phy.KNOWN, (34.2, 5.7, 14.0), strict=True):
        frame = 1500 * 8 * 10**12 / one.rate
        assert 100 * frame / (frame + one.wake + one.sleep) == pytest.approx(percent, abs=0.06)
    assert phy.of_rate(topology.load("flow-chasing-36").links[0].rate) is None


def test_examples_in_the_topologies_readme_are_legal():
    readme = Path(data.folder("topologies") / "README.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)
    assert [topology.from_text(block).name for block in blocks] == ["tiny", "leaf-spine-4", "pods"]

"""SONiC's CONFIG_DB: import, export, and refusals that name the field."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from eeon_command import eeon
from eeon_control import config, sonic, topology
from eeon_control.cli import main
from eeon_control.errors import EeonError, InputError
from eeon_control.sonic import database as databases
from eeon_control.sonic import yang
from hypothesis import given
from hypothesis import strategies as st

LEAF1 = topology.load("leaf-spine-4").switches["leaf1"]
SPEEDS = [str(int(port.rate) // 10**6) for port in LEAF1.ports]
# sonic-buildimage, files/build_templates/qos_config.j2.
SHIPPED = {
    "wred_green_enable": "true",
    "wred_yellow_enable": "true",
    "wred_red_enable": "true",
    "ecn": "ecn_all",
    **{
        f"{colour}_{field}": value
        for colour in ("green", "yellow", "red")
        for field, value in (
            ("max_threshold", "2097152"),
            ("min_threshold", "1048576"),
            ("drop_probability", "5"),
        )
    },
}


def tables(**more: object) -> dict[str, object]:
    """Returns a switch whose ports all have SONiC's default WRED and a static buffer."""
    ports = {f"Ethernet{4 * n}": {"lanes": f"{4 * n + 1}", "speed": speed} for n, speed in enumerate(SPEEDS)}
    return {
        "PORT": ports,
        "WRED_PROFILE": {"AZURE_LOSSLESS": dict(SHIPPED)},
        "QUEUE": {f"{','.join(ports)}|3": {"wred_profile": "AZURE_LOSSLESS"}},
        "BUFFER_PROFILE": {"q": {"pool": "egress_lossy_pool", "size": "1024", "static_th": "3000000"}},
        "BUFFER_QUEUE": {f"{port}|3": {"profile": "q"} for port in ports},
        **more,
    }


def read(content: object) -> sonic.Database:
    return sonic.parse(json.dumps(content).encode(), "config_db.json")


def patched(database: sonic.Database) -> dict[str, dict]:
    """Returns the patch of what is imported from a database."""
    value, _ = sonic.import_(database, LEAF1)
    return sonic.export(database, config.from_value(value, "imported"), LEAF1, source="imported")


def problems(text: bytes) -> list[str]:
    """Returns the refusals of an import, without the file's name."""
    with pytest.raises(InputError) as caught:
        sonic.import_(sonic.parse(text, "config_db.json"), LEAF1)
    return [str(one).removeprefix("config_db.json: error: ") for one in caught.value.problems]


def test_what_is_not_read_refuses_no_file():
    text = json.dumps(tables())[:-1] + ', "ACL_RULE": {"r": {"P": "1", "P": "2"}, "r": {}, "s": []}'
    text += ', "ACL_RULE": 1, "platform": "x86_64-arista_7050_qx32", "note": ["by hand"]}'
    value, notes = sonic.import_(sonic.parse(b"\xef\xbb\xbf" + text.encode(), "config_db.json"), LEAF1)
    assert value == sonic.import_(read(tables()), LEAF1)[0]
    assert notes == ["not tables, not read: ACL_RULE, platform, note"]


def test_no_field_is_exported_that_a_release_of_sonic_does_not_have():
    """The fields of a profile: today's WRED, by colour, and `ecn`."""
    ((_, profile),) = patched(read(tables()))["WRED_PROFILE"].items()
    assert set(profile) == {*SHIPPED}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"[" * 100_000, "is not JSON"),
        (b'{"PORT": ' + b"1" * 10_000 + b"}", "is not JSON"),
        (b"\xff", "is not JSON"),
        (
            b" " * (databases.MAX_BYTES + 1),
            f"{databases.MAX_BYTES + 1} bytes; the limit is {databases.MAX_BYTES}. Keep the tables of ports and "
            "queues only",
        ),
    ],
)
def test_a_file_that_is_not_json_or_too_large_is_refused_by_name(text: bytes, expected: str):
    told = problems(text)
    assert any(one.startswith(expected) for one in told), told


def test_so_many_problems_are_told_as_people_read():
    content = tables(QUEUE={f"x{number}|3": {"wred_profile": "y"} for number in range(5000)})
    told = problems(json.dumps(content).encode())
    assert len(told) == databases.MAX_PROBLEMS + 1
    assert told[0].startswith("has 49") and told[0].endswith(
        "more problems than these; correct these and try again"
    )


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(tables())), st.data())
def test_whatever_stands_in_a_table_it_is_mapped_or_refused(table: str, data: st.DataObject):
    content = tables()
    rows = content[table]
    assert isinstance(rows, dict)
    key = data.draw(st.sampled_from(sorted(rows)) | st.text(max_size=12))
    row = rows.get(key, {})
    field = data.draw(st.sampled_from(sorted(row)) | st.text(max_size=8)) if row else "speed"
    rows[key] = data.draw(_ANY | _ANY.map(lambda value: {**row, field: value}))
    try:
        value, _ = sonic.import_(read(content), LEAF1)
    except InputError:
        return
    config.from_value(value, "imported")


@st.composite
def _databases(draw: st.DrawFn) -> dict[str, object]:
    """Returns files that can be mapped completely."""
    content = tables(WRED_PROFILE={}, QUEUE={}, BUFFER_PROFILE={}, BUFFER_QUEUE={})
    for number in range(draw(st.integers(1, 3))):
        low, high = sorted(draw(st.tuples(*[st.integers(0, 2**31 - 1)] * 2)))
        probability = draw(st.integers(0, 100))
        fields = SHIPPED | {"ecn": draw(st.sampled_from(["ecn_all", "ecn_none"]))}
        for colour in ("green", "yellow", "red"):
            fields |= {f"{colour}_min_threshold": str(low), f"{colour}_max_threshold": str(high)}
            fields[f"{colour}_drop_probability"] = str(probability)
        content["WRED_PROFILE"][f"W{number}"] = fields
        limits = {"size": "0", "static_th": str(draw(st.integers(1, 2**32 - 1)))}
        content["BUFFER_PROFILE"][f"B{number}"] = {"pool": "egress_lossy_pool", **limits}
    for port in content["PORT"]:
        if draw(st.booleans()):
            content["QUEUE"][f"{port}|0"] = {
                "wred_profile": draw(st.sampled_from(sorted(content["WRED_PROFILE"])))
            }
        name = draw(st.sampled_from(sorted(content["BUFFER_PROFILE"])))
        content["BUFFER_QUEUE"][f"{port}|0"] = {"profile": name}
    return content


def _of_ports(content: dict[str, object]) -> dict[str, tuple[object, object]]:
    """Returns the settings of each port's queue, independent of the profiles' names."""
    return {
        port: (
            content.get("WRED_PROFILE", {}).get(
                content.get("QUEUE", {}).get(f"{port}|0", {}).get("wred_profile")
            ),
            content["BUFFER_PROFILE"][content["BUFFER_QUEUE"][f"{port}|0"]["profile"]],
        )
        for port in tables()["PORT"]
    }


@given(_databases())
def test_what_is_imported_and_exported_again_is_the_same(content: dict[str, object]):
    assert _of_ports(patched(read(content))) == _of_ports(content)


def test_a_database_may_come_from_a_pipe(tmp_path: Path):
    text = json.dumps(tables())
    (tmp_path / "config_db.json").write_text(text)
    where = ["-t", "leaf-spine-4", "--switch", "leaf1"]
    piped = CliRunner().invoke(main, ["sonic", "import", "-", *where], input=text)
    assert piped.stdout == eeon("sonic", "import", f"{tmp_path}/config_db.json", *where, code=0).stdout


@pytest.mark.system
@pytest.mark.parametrize("is_right", [True, False])
def test_libyang_accepts_a_patch_and_refuses_one_with_a_field_that_sonic_does_not_have(is_right: bool):
    models = os.environ.get("SONIC_YANG_MODELS")
    if models is None or not yang.is_installed():
        pytest.skip("SONIC_YANG_MODELS names no folder of SONiC's YANG models, or yanglint is not on PATH")
    database = read(tables())
    patch = patched(database)
    if is_right:
        sonic.check(patch, database, Path(models))
        return
    patch["WRED_PROFILE"]["AZURE_LOSSLESS"]["ecn_min_threshold"] = "1"
    with pytest.raises(EeonError, match="ecn_min_threshold"):
        sonic.check(patch, database, Path(models))

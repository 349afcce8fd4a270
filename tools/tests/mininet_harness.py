"""What public Mininet harnesses need here: Mininet itself, P4Runtime's messages, and a switch under the names
of BMv2's programs: ours, or BMv2 if it is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SWITCHES = ("eeon-switch", "BMv2")
MININET = Path("/usr/lib/python3/dist-packages/mininet")

P4_CONFIG = """
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

file = descriptor_pb2.FileDescriptorProto(name="p4/tmp/p4config.proto", package="p4.tmp", syntax="proto3")
message = file.message_type.add(name="P4DeviceConfig")
message.field.add(name="reassign", number=1, label=1, type=8)
message.field.add(name="device_data", number=3, label=1, type=12)
pool = descriptor_pool.Default()
pool.Add(file)
P4DeviceConfig = message_factory.GetMessageClass(pool.FindMessageTypeByName("p4.tmp.P4DeviceConfig"))
"""
"""PI's `p4/tmp/p4config.proto`, which is in no package on PyPI."""

GENERATED = (
    "v1/p4runtime_pb2",
    "v1/p4runtime_pb2_grpc",
    "v1/p4data_pb2",
    "config/v1/p4info_pb2",
    "config/v1/p4types_pb2",
)


def skip_without(*tools: str) -> None:
    """Skips a test if root, Mininet or one of the programs is missing."""
    if os.geteuid() != 0:
        pytest.skip("Mininet needs root")
    if not MININET.is_dir():
        pytest.skip("Debian's package mininet is not installed")
    for tool in ("p4c-bm2-ss", "unshare", "ping", "ethtool", "tc", *tools):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not on PATH")


def bindings(folder: Path) -> Path:
    """Creates a folder with the harnesses' imports: Mininet, P4Runtime's messages, BMv2's Python."""
    for module in GENERATED:
        path = folder / "p4" / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"from finsy.proto.p4.{module.replace('/', '.')} import *\n")
    (folder / "p4/tmp").mkdir()
    (folder / "p4/tmp/p4config_pb2.py").write_text(P4_CONFIG)
    (folder / "bmpy_utils.py").write_text("from bm_cli.bmpy_utils import *\n")
    (folder / "mininet").symlink_to(MININET)
    return folder


P4C = """\
#!/bin/sh
# p4c's driver as p4-utils calls it: SOURCE ... -o FOLDER [--p4runtime-files FILE]
source=$1 more=
while [ $# -gt 1 ]; do
  case $1 in
    -o) folder=$2 ;;
    --p4runtime-files) more="--p4runtime-files $2" ;;
  esac
  shift
done
exec p4c-bm2-ss --std p4-16 --arch v1model $more -o "$folder/$(basename "$source" .p4).json" "$source"
"""


def programs(folder: Path, switch: str) -> Path:
    """Creates a folder with `sudo`, `p4c`, `simple_switch` and `simple_switch_grpc`."""
    folder.mkdir()
    if switch == "eeon-switch":
        eeon = Path(sys.executable).with_name("eeon-switch")
        subprocess.run([eeon, "--install-names", folder], check=True, capture_output=True)
    else:
        for name in ("simple_switch", "simple_switch_grpc"):
            bmv2 = shutil.which(name)
            if bmv2 is None:
                pytest.skip(f"{name} is not on PATH")
            (folder / name).symlink_to(bmv2)
    for name, script in (("sudo", '#!/bin/sh\nexec env "$@"\n'), ("p4c", P4C)):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    return folder


def environment(folder: Path, switch: str) -> dict[str, str]:
    """Returns the environment for a harness, with `programs` and `bindings` made in a folder."""
    path = (
        programs(folder / "bin", switch),
        Path(sys.executable).parent,
        os.environ["PATH"],
        "/usr/sbin:/sbin",
    )
    return {
        **os.environ,
        "PATH": ":".join(map(str, path)),
        "PYTHONPATH": f"{bindings(folder / 'lib')}:{os.environ.get('PYTHONPATH', '')}",
    }

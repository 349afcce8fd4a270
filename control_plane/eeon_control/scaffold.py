"""Files of a new fabric: topology, configuration, targets, each with comments, all checked. Pure."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from eeon_control import config as configs
from eeon_control import topology as topologies
from eeon_control.config.presets import BUFFER_PRESETS
from eeon_control.errors import EeonError, InputError, Severity
from eeon_control.port_settings.mark_threshold import default_threshold
from eeon_control.sources import parse_yaml
from eeon_control.targets import Targets, resolve
from eeon_control.units import Bytes, DataRate, Duration

TOPOLOGY, CONFIG, TARGETS = "topology.yaml", "config.yaml", "targets.yaml"
_LAST_TCP_PORT = 65535


@dataclass(frozen=True)
class Plan:
    """The requested fabric. `hosts`: per leaf. `first_port`: of the first switch; the others follow."""

    name: str
    leaves: int
    spines: int
    hosts: int
    host_rate: DataRate
    uplink_rate: DataRate
    delay: Duration
    first_port: int


def files(plan: Plan) -> dict[str, str]:
    """Returns the texts by file name. Raises EeonError for an impossible fabric."""
    texts = {TOPOLOGY: _topology(plan), CONFIG: _config(max(plan.host_rate, plan.uplink_rate))}
    try:
        topology = topologies.from_text(texts[TOPOLOGY], TOPOLOGY)
    except InputError as error:
        # The file does not exist yet, so its line number would help nobody.
        if rules := [one.rule for one in error.problems if one.key == "name"]:
            raise EeonError(f"folder {plan.name}: its name is the fabric's, and {rules[0]}") from None
        raise
    config = configs.from_text(texts[CONFIG], CONFIG)
    if plan.first_port + len(topology.switches) - 1 > _LAST_TCP_PORT:
        raise EeonError(
            f"--first-port {plan.first_port}: {len(topology.switches)} switches need ports up to "
            f"{plan.first_port + len(topology.switches) - 1}; the limit is {_LAST_TCP_PORT}"
        )
    texts[TARGETS] = _targets(topology.switches, plan.first_port)
    targets = Targets.from_value(parse_yaml(texts[TARGETS], TARGETS).value, TARGETS)
    resolve(topology, targets.switches)
    found = configs.check(config, topology, targets.tick)
    if errors := [one for one in found if one.severity is Severity.ERROR]:
        raise InputError(errors)
    return texts


def _topology(plan: Plan) -> str:
    return f"""\
# What there is. Every leaf has the same hosts and a link to every spine:
# leaf1:1 is the first host of leaf1, and the ports behind the hosts' are
# those to spines. Three tiers, and fabrics of any other form, are described
# in topologies/README.md; `eeon topology import` reads NetBox.
name: {json.dumps(plan.name, ensure_ascii=False)}
description: {plan.leaves} leaves x {plan.hosts} hosts, {plan.spines} spines
# 5 m of cable take 25ns; the rest is the switch and the NIC.
defaults: {{delay: {plan.delay}}}
leaf_spine:
  leaves: {plan.leaves}
  hosts_per_leaf: {plan.hosts}
  spines: {plan.spines}
  host_link: {{rate: {plan.host_rate}}}
  uplink: {{rate: {plan.uplink_rate}}}
# Leaf L has 10.0.L.0/24 and fd00:0:0:L::/64, unless another prefix is given:
# addressing: {{ipv4: 10.0.0.0/8, ipv6: fd00::/48}}
"""


def _config(fastest: DataRate) -> str:
    return f"""\
# How queues and links behave. `eeon config explain leaf1:1` says of a port
# where each of its settings comes from. All keys: docs/run/configuration.md.
description: marking threshold on all ports
profiles:
  queue:
    marking:
      # A port's buffer: shallow is 300KB, deep 3MB; or a size such as 1MB.
      buffer: {_buffer(fastest)}
      # ECT packets above the threshold are marked, and nothing is dropped
      # before the buffer is full. `auto` follows each port's rate. Others:
      # drop_tail, {{mark_threshold: 97.5KB}}, {{autored: 500us, protect: ack_syn}}
      aqm: {{mark_threshold: auto}}
roles:
  # Profiles by role; `switches` and `ports` may name others for some.
  host_facing: {{queue: marking}}
  # Links that sleep when idle (IEEE 802.3az), 100 Mbps to 10 Gbps: write
  # {{queue: marking, eee: 120us100}}
  uplink: {{queue: marking}}
  spine: {{queue: marking}}
routing:
  ecmp: true
"""


def _buffer(fastest: DataRate) -> str:
    """Returns the smallest of the papers' buffers, else a size, of at least twice the marking threshold."""
    wanted = 2 * default_threshold(fastest)
    fitting = (name for name, size in BUFFER_PRESETS.items() if Bytes.parse(size) >= wanted)
    return next(fitting, f"{-(-wanted // 10**6)}MB")


def _targets(switches: Iterable[str], first_port: int) -> str:
    lines = [f"  {name}: 127.0.0.1:{first_port + number}" for number, name in enumerate(switches)]
    return "\n".join([_TARGETS_HEAD, *lines, ""])


_TARGETS_HEAD = """\
# Where each switch serves P4Runtime: put your switches' addresses here. On
# other machines they want TLS, see docs/run/security.md. `eeon fabric up`
# writes such a file for its own switches.
# The unit of the switches' timestamps: 1ns of eeon-switch with
# --timestamp-unit ns, 1us of BMv2.
tick: 1ns
switches:"""

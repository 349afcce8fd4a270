"""The E-EON controller: configures the switches of a fabric from one YAML file.

Reading order: `units` (numbers with units), `topology` (switches, hosts, links), `config` (the intended
behaviour), `plan` (pure: the resulting table entries), `fabric` (P4Runtime: read, diff, apply, undo), `cli`.

Not here: packet processing (p4src/), switches and simulation (engine/), traces and replays (tools/).
"""

__version__ = "0.1.0"

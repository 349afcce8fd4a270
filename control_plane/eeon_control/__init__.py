"""The E-EON controller: what a fabric should do, in one YAML file, and how it gets into the switches.

Reading order: `units` (numbers with units), `topology` (what is there), `config` (what it should do),
`plan` (pure: which table entries that means), `fabric` (P4Runtime: read, diff, apply, undo), `cli`.

Not here: packet processing (p4src/), switches and simulation (engine/), traces and replays (tools/).
"""

__version__ = "0.1.0"

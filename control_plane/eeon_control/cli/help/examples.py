"""Examples of the commands, and exit codes other than 0 and 1, for commands whose help text has none.

The keys are command paths without `eeon`. Text in a command's own help takes precedence.
"""

FABRIC = "-t leaf-spine-4 -T targets.yaml"

EXAMPLES: dict[str, tuple[str, ...]] = {
    "init": ("eeon init my-fabric", "eeon init my-fabric --yes --leaves 4 --hosts 8 --uplink-rate 100Gbps"),
    "completion": (
        "eeon completion bash > ~/.local/share/bash-completion/completions/eeon",
        'eeon completion zsh > "${fpath[1]}/_eeon"',
        "eeon completion fish > ~/.config/fish/completions/eeon.fish",
    ),
    "config apply": (
        f"eeon config apply -c red_ack_syn -c eee_120us100 {FABRIC}",
        "eeon config apply thursday.plan --confirm 10m --comment 'lower thresholds'",
    ),
    "config confirm": ("eeon config confirm -t leaf-spine-4",),
    "config drift": ("eeon config drift -t leaf-spine-4", "eeon config drift -t leaf-spine-4 -o json"),
    "config history": ("eeon config history -t leaf-spine-4",),
    "config list": ("eeon config list",),
    "config plan": (
        f"eeon config plan -c my.yaml {FABRIC}",
        f"eeon config plan -c my.yaml {FABRIC} --out thursday.plan",
    ),
    "config recover": ("eeon config recover -t leaf-spine-4",),
    "config rollback": ("eeon config rollback -t leaf-spine-4", "eeon config rollback 3 -t leaf-spine-4"),
    "config schema": ("eeon config schema config > config.schema.json",),
    "config show": ("eeon config show -t leaf-spine-4", "eeon config show -t leaf-spine-4 --diff 2 3"),
    "controller run": ("eeon controller run -t leaf-spine-4 --metrics-address 9464",),
    "help": ("eeon help config apply", "eeon help --man ~/.local/share/man/man1"),
    "sonic export": (
        "eeon sonic export config_db.json -c my.yaml -t leaf-spine-4 --switch leaf1 --yang yang-models",
    ),
    "sonic import": (
        "eeon sonic import config_db.json -t leaf-spine-4 --switch leaf1",
        "eeon sonic import config_db.json -t leaf-spine-4 --switch leaf1 --queue 3 --without SCHEDULER",
    ),
    "topology import netbox": (
        "eeon topology import netbox inventory.json --leaf tor --ignore pdu > fabric.yaml",
    ),
}

EXIT_CODES: dict[str, tuple[tuple[int, str], ...]] = {
    "config drift": ((0, "the switches hold the revision"), (2, "they differ"), (1, "an error")),
    "config plan": ((0, "nothing to change"), (2, "changes"), (1, "an error")),
    "tune attack": ((0, "no promise was broken"), (2, "a promise was broken"), (1, "an error")),
}

USUAL_EXIT_CODES: tuple[tuple[int, str], ...] = (
    (0, "done"),
    (1, "an error, wrong usage included"),
    (130, "stopped by Ctrl-C or SIGTERM"),
)

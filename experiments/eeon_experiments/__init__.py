"""Experiments: closed-loop runs of the twin over settings, stored as rows, and reported.

    files     experiment.yaml: settings, axes, sweeps, seeds, the quick form
    settings  one run as data (RunSettings), its parts in `tcp`, `workloads`, `quantities`
    expand    converts a file to points, each with a checked, resolved run
    run       one run: a twin, the controller, a workload, a row
    sweep     many runs in several processes, or on a Dask cluster; can be resumed
    store     rows as a table with a manifest
    folder    an experiment's folder: its claims and figures
    claims    claims, and comparisons of rows
    report    the page of results
    readme    README.md of each experiment

docs/experiments.md explains their use. Each experiment that ships has a folder beside this package
(`shipped`).
"""

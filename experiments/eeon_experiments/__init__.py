"""Experiments: closed-loop runs of the twin, swept over settings, kept as rows, and reported.

    files     experiment.yaml: settings, axes, sweeps, seeds, the quick form
    settings  one run as data (RunSettings), its parts in `tcp`, `workloads`, `quantities`
    expand    from a file to points, each with a checked, resolved run
    run       one run: a twin, the controller, a workload, a row
    sweep     many runs in several processes, or on a Dask cluster; resumes
    store     rows as a table with a manifest
    folder    an experiment's folder: its claims and figures
    claims    what a claim is, and how rows are compared
    report    the page of results
    readme    README.md of each experiment

docs/experiments.md says how to use them. Each experiment that ships has a folder beside this package
(`shipped`).
"""

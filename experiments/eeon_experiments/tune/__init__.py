"""`eeon tune`: searches a fabric's settings, and reports the confidence of the answer.

    files       the tune file: fabric, workloads, knobs, objectives
    knobs       the values that a knob may take, and settings made of them
    scores      converts rows of runs to losses against the baseline and violations of limits
    search      chooses the next setting to run: Optuna's samplers behind ask and tell
    confidence  evaluates held-back seeds: differences seed by seed, values without a difference
    rules       rules of thumb and shipped profiles as settings
    targets     finds knobs that the program or a target lacks
    today       a running fabric as the baseline: its ports' settings and its hosts' load
    bench       runs settings with the experiments' points, workers and store
    tuning      the whole process: search, held-back seeds, scan of each knob
    attack      the adversary: the smallest traffic that breaks a promise
    answer      the answer in words, as JSON and as a configuration; `page` has the web page

Only `bench` and `attack` run anything, and only `today` connects to switches. `search` imports Optuna when a
search begins.
"""

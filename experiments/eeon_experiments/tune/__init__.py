"""`eeon tune`: search a fabric's settings, and say how sure the answer is.

    files       the tune file: fabric, workloads, knobs, what is wanted
    knobs       the values that a knob may take, and settings made of them
    scores      from rows of runs to losses against the baseline, and limits that are broken
    search      which setting to run next: Optuna's samplers behind ask and tell
    confidence  what held-back seeds say: differences seed by seed, values that are the same
    rules       rules of thumb and shipped profiles as settings
    targets     knobs that the program or a target lacks
    today       a running fabric as the baseline: its ports' settings and its hosts' load
    bench       runs of settings, by the experiments' points, workers and store
    tuning      the whole: search, held-back seeds, scan of each knob
    attack      the adversary: the smallest traffic that breaks a promise
    answer      the answer in words, as JSON and as a configuration; `page` as a page

Only `bench` and `attack` run anything, and `today` alone talks to switches. `search` imports Optuna when a
search begins.
"""

"""Phases and QCN in an experiment's file: the engine's input, refusals, and runs."""

import pytest
from eeon_experiments.fabric import spec_of
from eeon_experiments.run import run_one
from eeon_experiments.versions import versions
from eeon_experiments.workloads.phases import Step
from made_experiments import TEXTS, points


def test_a_torus_has_six_neighbours_in_three_dimensions():
    step = Step.model_validate({"pattern": "torus", "size": "1KB", "grid": [4, 4, 4]})
    messages = set(step.messages(64))
    assert len(messages) == 64 * 6 == step.count(64)
    assert {other for rank, other in messages if rank == 21} == {5, 37, 17, 25, 20, 22}


@pytest.mark.system
@pytest.mark.parametrize(
    ("settings", "limit", "messages"), [("with QCN", "qcn", "cnms"), ("with DCQCN", "dcqcn", "cnps")]
)
def test_hosts_obey_congestion_messages_only_where_told(tmp_path, settings, limit, messages):
    text = TEXTS["two senders"].format(settings=TEXTS[settings], limit=limit)
    obeying, ignoring = points(tmp_path, text, versions=versions())
    nics = [one["nic"] for one in spec_of(*obeying.run.parts(), seed=1)["hosts"]]
    assert all(limit in nic for nic in nics)
    assert all(limit not in host["nic"] for host in spec_of(*ignoring.run.parts(), seed=1)["hosts"])
    limited, free = (run_one(point.run).measured for point in (obeying, ignoring))
    assert limited["status"] == free["status"] == "finished"
    assert limited[messages] > 10 and free[messages] is None
    assert limited["queue_max_bytes_host_facing"] < free["queue_max_bytes_host_facing"]
    if limit == "qcn":
        assert all(nic["qcn"]["min_bps"] == 1_000_000 for nic in nics)
        assert limited["limiters_max"] >= 1
    else:
        assert limited["cnps"] == limited["cnps_sent"] and limited["cnp_limiters_max"] == 1
        assert limited["mark_reductions"] == free["mark_reductions"] == 0

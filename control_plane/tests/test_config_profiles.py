"""Default thresholds of profiles, and what is not offered; the rest is in `expected/*.yaml`."""

import pytest
from eeon_control import config
from eeon_control.errors import InputError
from eeon_control.port_settings.mark_threshold import bandwidth_delay_share, default_threshold
from eeon_control.units import DataRate, Duration
from hypothesis import given
from hypothesis import strategies as st


@given(rate=st.integers(1, 10**12), rtt=st.integers(1, 10**10))
def test_default_threshold_is_never_below_its_bandwidth_delay_share(rate, rtt):
    threshold = default_threshold(DataRate(rate), Duration(rtt))
    assert threshold >= bandwidth_delay_share(DataRate(rate), Duration(rtt))
    assert threshold % 1500 == 0


def test_a_threshold_without_a_unit_is_not_offered_packets_which_would_be_refused():
    with pytest.raises(InputError, match="write for example 300KB") as refused:
        config.from_text("profiles: {queue: {q: {buffer: 300KB, aqm: {mark_threshold: 50}}}}")
    assert "pkt" not in str(refused.value)

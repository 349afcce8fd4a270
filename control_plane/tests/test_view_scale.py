"""The common unit of a column's numbers."""

import pytest
from eeon_control.views.scale import (
    bit_rate,
    bytes_exact,
    bytes_measured,
    per_second,
    rate_exact,
    time_exact,
    time_measured,
    whole,
)


@pytest.mark.parametrize(
    ("texts", "values", "written"),
    [
        (bytes_measured, [12_112, 0, None], ["12.11KB", "0.00KB", "-"]),
        (bytes_measured, [97_500, 0], ["97.5KB", "0.0KB"]),
        (bytes_measured, [999, 1], ["999B", "1B"]),
        (bytes_measured, [0, 0], ["0B", "0B"]),
        (bytes_measured, [], []),
        (bytes_measured, [123_456_789_000, 1], ["123.5GB", "<0.1GB"]),
        (bytes_exact, [300_000, 97_500, 1_000_000], ["0.3MB", "0.0975MB", "1MB"]),
        (bytes_exact, [0, None], ["0B", "-"]),
        (time_exact, [182_000_000, 200_000_000, 0], ["182us", "200us", "0us"]),
        (time_exact, [30_500_000], ["30.5us"]),
        (time_measured, [0, 0], ["0s", "0s"]),
        (time_measured, [710_860_000_000, 42], ["710.9ms", "<0.1ms"]),
        (rate_exact, [10**10, 10**9], ["10Gbps", "1Gbps"]),
        (bit_rate, [1_250_000_000.0, 1.0], ["10Gbps", "<1Gbps"]),
        (per_second, [1263.2, 632.9, 0.0], ["1.263k/s", "0.633k/s", "0.000k/s"]),
        (per_second, [12.0, None], ["12/s", "-"]),
        (whole, [20_457, 0, None], ["20,457", "0", "-"]),
    ],
)
def test_the_largest_chooses_the_unit(texts, values, written):
    assert texts(values) == written

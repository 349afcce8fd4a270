"""TCP's settings in users' units, and in the engine's form."""

from typing import get_args

from eeon_engine import TCP_NAMES
from eeon_experiments.tcp import Tcp


def test_the_algorithms_are_those_of_the_engine():
    assert set(get_args(Tcp.model_fields["algorithm"].annotation)) == set(TCP_NAMES)


def test_a_time_in_users_units_is_the_engines_in_picoseconds():
    times = [name for name, field in Tcp.model_fields.items() if "Duration" in str(field.annotation)]
    assert {"max_ack_delay", "tsq"} < {*times}
    found = Tcp.model_validate(dict.fromkeys(times, "3us")).engine()
    assert found == {f"{name}_ps": 3_000_000 for name in times}

"""Every request of the scripts gets its code, and a refused one changes nothing and has a short message.
Sequences, refusals of all kinds: P4Runtime 1.5 §9, §12."""

import pytest
from p4rt_requests import ALL, Script

pytestmark = pytest.mark.system


@pytest.mark.parametrize("script", ALL, ids=lambda script: script.name)
def test_requests_have_their_codes_and_refused_ones_change_nothing(
    request: pytest.FixtureRequest, script: Script
) -> None:
    client = request.getfixturevalue("client" if script.program == "everything" else "resources")
    for step in script.steps:
        before = client.state()
        code, message = step.answer(client)
        assert (code, step.said in message) == (step.code, True), (step, message)
        assert len(message) < 300
        if code != "OK":
            assert client.state() == before, step

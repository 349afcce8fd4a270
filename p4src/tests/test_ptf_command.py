"""Refusals of the command that runs the packet tests."""

import pytest

from ptf_tests.run import engine, suite


@pytest.mark.parametrize(
    ("request_of", "says"),
    [
        (lambda file: suite.Request(output=file), "no folder for logs: File exists; --output names another"),
        (lambda file: suite.Request(output=file / "logs"), "no folder for logs: Not a directory; --output"),
        (lambda file: suite.Request(program=file.with_name("x.json")), "x.json: no such file; `make p4`"),
    ],
)
def test_what_is_not_there_or_in_the_way_is_named(tmp_path, capsys, request_of, says):
    file = tmp_path / "file"
    file.touch()
    assert suite.run("engine", request_of(file), (), {}) == 1
    assert says in capsys.readouterr().err


@pytest.mark.system
@pytest.mark.slow
def test_an_exception_that_names_no_case_is_refused(tmp_path, capsys):
    request = suite.Request(cases=("packet_io", "^packet_io", "^nosuch"), output=tmp_path)
    assert engine.run(request) == 1
    assert "^nosuch: no such case" in capsys.readouterr().err

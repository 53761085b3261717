"""How the command ends."""

import signal

import pytest

from maxmargin.cli import app as module
from maxmargin.cli import errors


@pytest.mark.parametrize(
    ("came", "code", "expected"),
    [
        (set(), 130, 130),
        ({signal.SIGTERM}, 130, 143),
        ({signal.SIGTERM}, 143, 143),
        ({signal.SIGTERM}, 0, 0),
    ],
)
def test_a_termination_outside_of_a_command_has_its_own_code(monkeypatch, came, code, expected):
    def ended():
        raise SystemExit(code)

    monkeypatch.setattr(module, "obey_termination", lambda: None)
    monkeypatch.setattr(module, "app", ended)
    errors.came.update(came)
    try:
        with pytest.raises(SystemExit) as end:
            module.run()
    finally:
        errors.came.clear()
    assert end.value.code == expected

"""What a command prints does not depend on the machine: a slow one would be told how far it is."""

import pytest


@pytest.fixture(autouse=True)
def no_line_of_progress(monkeypatch):
    """A test of these lines sets its own times."""
    monkeypatch.setattr("softlookup.cli.terminal._FIRST", 10**6)  # seconds

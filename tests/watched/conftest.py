"""What most tests here look at: a causal lookup of thirteen tokens, and two layers of it."""

import pytest
from feeding import drawn, generated


@pytest.fixture
def whole():
    return drawn(causal=True)


@pytest.fixture
def seen(whole):
    return generated(whole)

"""What every refusal is: one line that names the argument, the real numbers and the next step."""

import pytest


def assert_refuses(call, kind, argument, fragments):
    """Assert that `call` raises exactly `kind`, of `argument`, and says all of `fragments`."""
    with pytest.raises(kind) as refused:
        call()
    error = refused.value
    assert type(error) is kind
    assert error.argument == argument
    assert str(error).startswith(f"{argument}: ")
    for fragment in fragments:
        assert fragment in str(error), f"{fragment!r} is not in: {error}"
    assert str(error).endswith((".", "?")), error
    assert "\n" not in str(error)

"""Which backend answers where nobody names one."""

import numpy as np

import softlookup as sl
from softlookup.backends import blocked, registry

ROWS = np.eye(3)


class Quick:
    """A backend that answers, and shows nothing."""

    NAME = "quick"

    def missing(self):
        return None

    def unsupported(self, _, facts):
        return "It knows no facts." if facts.tallied or facts.received else None

    def offers(self, _, *, alone):
        return alone

    def forward(self, problem, facts):
        found = blocked.forward(problem, facts)
        return found._replace(out=found.out + 1)


def test_all_verbs_of_a_lookup_have_one_backend_and_the_answer_alone_the_quickest(monkeypatch):
    monkeypatch.setattr(registry, "backends", lambda: (Quick(), blocked))
    plain = sl.attend(ROWS, ROWS, ROWS, backend="blocked")
    assert np.array_equal(sl.attend(ROWS, ROWS, ROWS), plain + 1)
    look = sl.Lookup(ROWS, ROWS, ROWS)
    assert np.array_equal(look.attend(), plain)
    assert np.array_equal(look.inspect().out, plain)
    assert np.array_equal(look.inspect(entropy=True).out, plain)
    named = sl.Lookup(ROWS, ROWS, ROWS, backend="quick")
    assert np.array_equal(named.attend(), plain + 1)

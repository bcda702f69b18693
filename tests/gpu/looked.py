"""Lookups of tensors by the backend `cuda`, and what they give as arrays."""

import sent

import softlookup as sl
from softlookup.inspection import Top


class Brought:
    """What was found, as arrays."""

    def __init__(self, found):
        self.found = found

    def __getattr__(self, name):
        fact = getattr(self.found, name)
        if isinstance(fact, Top):
            return Top(*map(sent.brought, fact))
        return sent.brought(fact)


def look_of(*arrays, backend="cuda", **options):
    """Return the lookup of arrays, sent."""
    options = {name: sent.sent(option) for name, option in options.items()}
    return sl.Lookup(*map(sent.sent, arrays), **options, backend=backend)


def inspect(look, **asked):
    """Return what a lookup finds, as arrays."""
    return Brought(look.inspect(**asked))

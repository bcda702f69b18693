"""Captures: a recorded lookup with its tokens, and the files that hold one.

Two forms hold exactly one lookup, under the names of :class:`softlookup.Lookup`:

``.json``
    One object. ``query``, ``key`` and ``value`` are nested lists of numbers and become float64;
    ``mask`` is nested lists of true and false; a hidden pair of ``bias`` is ``null`` or
    ``"-inf"``. The texts ``"NaN"``, ``"Infinity"`` and ``"-Infinity"`` stand for those numbers.
``.npz``
    What ``numpy.savez(path, query=..., key=..., value=...)`` writes. Arrays keep their dtype;
    tokens are an array of text; an open side of ``window`` is ``nan``. Nothing is ever unpickled.

Optional in both: ``value``, ``tokens``, ``key_tokens``, ``title`` and the options ``scale``,
``causal``, ``q_offset``, ``window``, ``softcap``, ``sinks``, ``mask``, ``bias``, ``kv_lens``.
"""

from softlookup.captures.capture import Capture, label
from softlookup.captures.files import load

__all__ = ["Capture", "label", "load"]

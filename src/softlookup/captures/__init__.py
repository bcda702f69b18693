"""Captures: recorded lookups with their tokens, and the files that hold them.

``.safetensors``
    Any number of layers of a model, all their heads or chosen ones, as :meth:`Capture.save` and
    ``softlookup capture`` write them. One metadata entry, ``softlookup``, is a JSON manifest with
    a format version; arrays are mapped, not read.

Three more forms hold exactly one lookup, under the names of :class:`softlookup.Lookup`, or ``q``,
``k`` and ``v`` for its arrays:

``.json``
    One object. ``query``, ``key`` and ``value`` are nested lists of numbers and become float64;
    ``mask`` is nested lists of true and false; a hidden pair of ``bias`` is ``null`` or
    ``"-inf"``. The texts ``"NaN"``, ``"Infinity"`` and ``"-Infinity"`` stand for those numbers.
``.npz``
    What ``numpy.savez(path, query=..., key=..., value=...)`` writes. Arrays keep their dtype;
    tokens are an array of text; an open side of ``window`` is ``nan``.
``.safetensors`` without a manifest
    Arrays as in ``.npz``; tokens and title stand in the metadata, as JSON; options there, or as
    arrays.

Optional in all: ``value``, ``tokens``, ``key_tokens``, ``title`` and the options ``scale``,
``causal``, ``q_offset``, ``window``, ``softcap``, ``sinks``, ``mask``, ``bias``, ``kv_lens``.
Nothing is ever unpickled.
"""

from softlookup.captures.capture import Axis, Capture, Layer, label
from softlookup.captures.files import load

__all__ = ["Axis", "Capture", "Layer", "label", "load"]

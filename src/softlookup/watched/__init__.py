"""Watched: the results of watching a model, one object over all its runs, layers and steps."""

from softlookup.watched.glance import Glance
from softlookup.watched.layer import LayerSeen
from softlookup.watched.listing import Listing
from softlookup.watched.recorded import watch_capture
from softlookup.watched.row import RowSeen
from softlookup.watched.stored import load
from softlookup.watched.watched import Watched

__all__ = ["Glance", "LayerSeen", "Listing", "RowSeen", "Watched", "load", "watch_capture"]

"""The weight map: exact pooled levels of one head's weights, from the whole to a single one."""

from softlookup.weightmap.answers import Block, Estimate, Link, MapTile, Received, Row
from softlookup.weightmap.checks import POOLS
from softlookup.weightmap.files import is_map
from softlookup.weightmap.levels import BASE
from softlookup.weightmap.map import LIMIT, WeightMap, check_buildable

__all__ = [
    "BASE",
    "LIMIT",
    "POOLS",
    "Block",
    "Estimate",
    "Link",
    "MapTile",
    "Received",
    "Row",
    "WeightMap",
    "check_buildable",
    "is_map",
]

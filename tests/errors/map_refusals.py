"""The part of the table of refusals that is about maps."""

import numpy as np

import softlookup as sl
from softlookup.errors import DtypeError, FileError, OptionError

SMALL = sl.Lookup(np.zeros((3, 4), np.float32), np.zeros((5, 4), np.float32))
LARGE = sl.Lookup(np.zeros((9000, 1), np.float32), np.zeros((9000, 1), np.float32))
HEADS = sl.Lookup(np.zeros((3, 5, 4)), np.zeros((3, 5, 4)))
SEVERAL = sl.Lookup(np.zeros((2, 8, 3, 4)), np.zeros((2, 2, 5, 4)))
MADE = SMALL.map()

MAPS = {
    "a map of several heads": (SEVERAL.map, OptionError, "map",
        ["8 heads", "(2,)", "look.head(0, batch=(0,)).map()."]),
    "a map of heads without leading axes": (HEADS.map, OptionError, "map",
        ["has 3 heads. Take look.head(0).map()."]),
    "a map of two entries of one head": (sl.Lookup(*np.zeros((2, 5, 2, 1, 3, 4))).map, OptionError,
        "map", ["1 head and leading axes (5, 2)", "look.head(0, batch=(0, 0)).map()."]),
    "a map of no head": (sl.Lookup(*np.zeros((2, 0, 3, 4))).map, OptionError, "map",
        ["0 heads. Take a lookup that has one."]),
    "pools of another name": (lambda: SMALL.map(pools=("max", "mean")), OptionError, "pools",
        ["max, share", "'mean'"]),
    "no pools": (lambda: SMALL.map(pools=()), OptionError, "pools", ["max, share", "()"]),
    "pools as a number": (lambda: SMALL.map(pools=2), OptionError, "pools", ["max, share", "2"]),
    "build as a number": (lambda: SMALL.map(build=1), DtypeError, "build", ["True or False", "1"]),
    "limit below nothing": (lambda: SMALL.map(limit=-1), OptionError, "limit",
        ["at least 0; got -1. Raise it."]),
    "limit as a float": (lambda: SMALL.map(limit=2.0**30), DtypeError, "limit", ["integer"]),
    "a map over the limit": (lambda: LARGE.map(limit=10**6), OptionError, "limit",
        ["1,000,000 bytes", "9,000 x 9,000", "seconds", "Raise limit", "build=False"]),
    "a level beyond the last": (lambda: MADE.tile(4, 0, 0), OptionError, "level",
        ["0 ... 3", "got 4"]),
    "a level as a flag": (lambda: MADE.tile(True, 0, 0), DtypeError, "level", ["integer", "True"]),
    "a whole level of too many cells": (lambda: LARGE.map(build=False).level(0), OptionError,
        "level", ["67,108,864", "9,000 x 9,000", "tiles"]),
    "a tile beyond the last row": (lambda: MADE.tile(0, 1, 0), OptionError, "i",
        ["0 ... 0", "the tiles of 256 cells a side", "level 0", "its queries", "got 1"]),
    "a tile before the first column": (lambda: MADE.tile(0, 0, -1), OptionError, "j", ["got -1"]),
    "a tile of no size": (lambda: MADE.tile(0, 0, 0, 0), OptionError, "size",
        ["1 ... 4,096", "got 0"]),
    "seconds below nothing": (lambda: MADE.step(-1), OptionError, "seconds", ["from 0 on", "-1"]),
    "seconds as a text": (lambda: MADE.prepare(0, "1"), OptionError, "seconds", ["number", "'1'"]),
    "a query beyond the last": (lambda: MADE.at(3, 0), OptionError, "query", ["0 ... 2", "got 3"]),
    "a key before the first": (lambda: MADE.at(0, -1), OptionError, "key", ["0 ... 4", "got -1"]),
    "a weight where there is none": (
        lambda: sl.Lookup(np.zeros((0, 4)), np.zeros((5, 4))).map().at(0, 0), OptionError, "query",
        ["length", "got 0"]),
    "a rectangle with gaps": (lambda: MADE.block(slice(0, 3, 2)), DtypeError, "rows",
        ["neighbouring", "slice(0, 3, 2)", "slice(0, 64)"]),
    "a rectangle of a list": (lambda: MADE.strongest(keys=[0, 1]), DtypeError, "keys",
        ["neighbouring", "[0, 1]"]),
    "a rectangle of one row beyond": (lambda: MADE.strongest(3), OptionError, "rows",
        ["0 ... 2", "got 3"]),
    "no strongest": (lambda: MADE.strongest(k=0), OptionError, "k", ["got 0"]),
    "a map under another ending": (lambda: MADE.save("m.npz"), FileError, "m.npz",
        [".safetensors", "'.npz'"]),
    "a map where there is none": (lambda: sl.WeightMap.open("none.safetensors", SMALL), FileError,
        "none.safetensors", ["there is none", "Check the path"]),
    "a map in a folder": (lambda: sl.WeightMap.open(".", SMALL), FileError, ".", ["folder"]),
    "a map of arrays": (lambda: sl.WeightMap.open("none.safetensors", np.ones((3, 4))), DtypeError,
        "look", ["must be a Lookup", "ndarray"]),
    "a map to show": (lambda: sl.show(MADE), DtypeError, "look",
        ["got WeightMap", "sl.show(look): the page has the map."]),
    "a map without its lookup": (lambda: sl.WeightMap.open("none.safetensors"), DtypeError,
        "look", ["must be a Lookup", "got NoneType", "the one that the map was made of"]),
}  # fmt: skip

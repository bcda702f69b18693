"""What a view is told of a survey: the heads, and how their numbers are spread over the texts."""

from typing import TYPE_CHECKING

import numpy as np

from softlookup.facts import bin_ranges
from softlookup.surveys.block import MEASURES
from softlookup.surveys.distributions import BINS, POINTS
from softlookup.tokens import listed, readable
from softlookup.viewer.information import Json

if TYPE_CHECKING:
    from softlookup.surveys.reading import Survey

MOST_LINES = 200  # of those that were skipped
_LONGEST = 200  # characters of why one was


def told(survey: "Survey") -> tuple[Json, bytes]:
    """Return the heads of a survey, and their numbers as float32.

    The bytes are, of each measure and head, its points; of each measure and head the histogram; of
    each head its mean share of each distance, and of each label.
    """
    found = survey.distributions
    lines = survey.skipped[:MOST_LINES]
    json: Json = {
        "title": readable(survey.title),
        "model": readable(str(survey.manifest.model["name"])),
        "texts": survey.texts,
        "lines": int(survey.manifest.texts["lines"]),
        "whole": survey.whole,
        "skipped": len(survey.skipped),
        "skipped_lines": [[one.line, listed(one.reason, _LONGEST)] for one in lines],
        "heads": [
            {"part": readable(one.part) if one.part else "", "layer": one.layer, "head": one.head}
            for one in found.heads
        ],
        "keys": [[readable(word) if count else "", count] for word, count in found.keys],
        "measures": list(MEASURES),
        "points": list(POINTS),
        "tops": list(found.tops),
        "bins": BINS,
        "distances": [list(span) for span in bin_ranges(found.distance.shape[1])],
        "labels": found.groups.shape[1],
    }
    arrays = (found.points, found.histograms, found.distance, found.groups)
    return json, b"".join(np.ascontiguousarray(one, "<f4").tobytes() for one in arrays)

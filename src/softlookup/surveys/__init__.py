"""Surveys: what every head does with every text of a corpus, measured on many workers."""

from softlookup.surveys.reading import Survey, open_survey
from softlookup.surveys.surveying import survey

__all__ = ["Survey", "open_survey", "survey"]

"""The lesson: the worked example, its words, its exercises.

``sections()``, ``recap()`` and ``checklist()`` are the text, ``as_text()`` all of it for a
terminal; ``exercise(skill, seed)`` asks and ``check(skill, seed, answer)`` judges, for the terminal
(`softlookup.lesson.quiz`) and the page alike.
"""

from softlookup.lesson.exercises import LARGEST_SEED, SKILLS, check, exercise
from softlookup.lesson.parts import Box, Section, Table
from softlookup.lesson.printing import as_text
from softlookup.lesson.questions import Exercise, Verdict
from softlookup.lesson.words import checklist, recap, sections
from softlookup.lesson.worked import example

__all__ = [
    "LARGEST_SEED",
    "SKILLS",
    "Box",
    "Exercise",
    "Section",
    "Table",
    "Verdict",
    "as_text",
    "check",
    "checklist",
    "example",
    "exercise",
    "recap",
    "sections",
]

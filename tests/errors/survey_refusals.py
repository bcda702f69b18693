"""The part of the table of refusals that is about surveys; none needs a model, or Dask."""

import softlookup as sl
from softlookup.errors import DtypeError, FileError, OptionError
from softlookup.surveys import open_survey
from softlookup.watched import watch_capture


def _survey(model="model", texts="texts.jsonl", out="out", **options):
    return lambda: sl.survey(model, texts, out, **{"workers": 0} | options)


SURVEYS = {
    "a survey of no lines at once": (_survey(lines=0), OptionError, "lines",
        ["1 ... 65,536", "got 0"]),
    "a survey of lines as a text": (_survey(lines="9"), DtypeError, "lines", ["whole", "'9'"]),
    "a survey with too many keys": (_survey(top=65), OptionError, "top", ["0 ... 64", "65"]),
    "a survey of texts of no token": (_survey(longest=0), OptionError, "longest", ["got 0"]),
    "a survey of a field without a name": (_survey(field=""), DtypeError, "field",
        ["''", "Leave it out: text"]),
    "a survey of no layer": (_survey(layers=[]), OptionError, "layers", ["at least one"]),
    "a survey by too many": (_survey(workers=1025), OptionError, "workers", ["0 ... 1,024"]),
    "a survey by half a worker": (_survey(workers=0.5), DtypeError, "workers", ["whole", "0.5"]),
    "a survey by a scheduler without address": (_survey(scheduler=8786), DtypeError, "scheduler",
        ["tcp://10.0.0.1:8786", "8786"]),
    "a survey of a loaded model": (_survey(model=3), DtypeError, "model",
        ["a text or a path", "int", "by its name"]),
    "a survey that is nowhere": (lambda: open_survey("nowhere"), FileError, "nowhere",
        ["holds no manifest", "softlookup survey"]),
    "repeats as a number": (lambda: watch_capture(_capture(), repeats=1), DtypeError, "repeats",
        ["True or False", "1"]),
}  # fmt: skip


def _capture():
    from softlookup.lesson import example

    return example()

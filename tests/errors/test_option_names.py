"""Names that are no option here: what is meant by them is told, and it exists."""

import inspect
import re

import numpy as np
import pytest

import softlookup as sl
from softlookup import errors, options
from softlookup.errors import DtypeError

Q, K, V = np.ones((3, 4)), np.ones((5, 4)), np.ones((5, 2))
NAMES = {
    "casual": "Did you mean causal=?",
    "soft_cap": "Did you mean softcap=?",
    "Scale": "Did you mean scale=?",
    "zzz": "The names are query, key, value, causal, q_offset, window, mask, bias, ",
    "is_causal": "Write causal=True; where lengths differ with q_offset=",
    "attn_mask": "Write mask= for bools (True = may look), bias= for numbers",
    "window_size": "Write window=(left, right), both inclusive",
    "softmax_scale": "Write scale=.",
}


@pytest.mark.parametrize("verb", [sl.attend, sl.Lookup])
@pytest.mark.parametrize("name", NAMES)
def test_an_option_of_another_name_is_told_what_it_is_called_here(verb, name):
    with pytest.raises(errors.OptionNameError) as refused:
        verb(Q, K, V, **{name: True})
    assert str(refused.value).startswith(f"{name}: is no option here. {NAMES[name]}")
    assert isinstance(refused.value, TypeError), "what Python raises for an unknown name"
    assert refused.value.argument == name


@pytest.mark.parametrize(("name", "meant"), [("topk", "top"), ("Entropy", "entropy"),
                                             ("normalized", "normalised")])  # fmt: skip
def test_a_fact_of_another_name_is_told_what_it_is_called_here(name, meant):
    with pytest.raises(errors.OptionNameError, match=f"Did you mean {meant}=") as refused:
        sl.Lookup(Q, K, V).inspect(**{name: True})
    assert refused.value.argument == name


def test_other_errors_of_type_stay_what_they_are():
    with pytest.raises(TypeError, match="'value'") as missing:
        sl.attend(Q, K, causal=True)
    assert not isinstance(missing.value, errors.OptionNameError)
    with pytest.raises(errors.OptionNameError, match="causal=True"):
        sl.attend(Q, K, is_causal=True)  # the name comes first: it is what must be mended
    with pytest.raises(DtypeError, match="causal"):
        sl.attend(Q, K, V, causal=1)


def test_what_other_names_are_told_is_an_option_that_exists():
    known = set(inspect.signature(sl.attend).parameters)
    for name, meant in options._ELSEWHERE.items():
        assert name not in known
        assert meant.startswith("nothing: ") or set(re.findall(r"(\w+)=", meant)) <= known

"""What may be typed as a number, and what it is read as."""

from fractions import Fraction

import pytest

from softlookup.errors import OptionError
from softlookup.lesson.answers import read_number, split_numbers


@pytest.mark.parametrize(
    ("text", "value", "decimals"),
    [
        ("0.40", "0.4", 2),
        (".4", "0.4", 1),
        ("4.", "4", 0),
        ("0,401", "0.401", 3),
        ("1,000", "1", 3),
        ("+2", "2", 0),
        ("\u22120.5", "-0.5", 1),
        ("\u2013 3", "-3", 0),
        (" [0.4] ", "0.4", 1),
        ("(7)", "7", 0),
        ("1/2", "1/2", None),
        ("-3 / 4", "-3/4", None),
        ("1\u20442", "1/2", None),
        ("4e-1", "0.4", 1),
        ("1E3", "1000", 0),
        ("-0", "0", 0),
    ],
)
def test_tolerant_readings(text, value, decimals):
    typed = read_number(text)
    assert (typed.value, typed.decimals) == (Fraction(value), decimals)


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "key 1 is empty"),
        ("  []", "key 1 is empty"),
        ("four", 'key 1 must be a number; got "four"'),
        ("nan", "must be a number"),
        ("inf", "must be a number"),
        ("-Infinity", "must be a number"),
        ("1e999", "must be a number below 1,000,000,000"),
        ("1e99999", "must be a number"),
        ("1.000,5", "must be a number"),
        ("1,2,3", "must be a number"),
        ("0.4.1", "must be a number"),
        ("1 2", "must be a number"),
        ("1/0", "must not divide by zero"),
        ("9" * 20 + "/1", "must be a number below"),
        ("--1", "must be a number"),
        ("0x10", "must be a number"),
        ("sqrt(2)", 'key 1 must be worked out to one number; got "sqrt(2)"'),
        ("3/√2", "must be worked out"),
        ("1 + 2", "must be worked out"),
        ("2*3", "must be worked out"),
        ("e^2", "must be worked out"),
        ("exp(1)", "must be worked out"),
        ("1_000", "must be a number"),
        ("٣", "must be a number"),
        ("\u202e1\n", "⟨202e⟩1⏎"),
        ("7" * 5000, "…"),
    ],
)
def test_refusals_are_one_sentence_that_quotes_the_text(text, fragment):
    with pytest.raises(OptionError) as error:
        read_number(text, "key 1")
    assert fragment in str(error.value)
    assert str(error.value).endswith("Type a number such as 0.401 or 1/2.")
    assert len(str(error.value)) < 160


@pytest.mark.parametrize(
    ("text", "count", "pieces"),
    [
        ("[0.4, 0.2, 0.4]", 3, ["0.4", "0.2", "0.4"]),
        ("0,4 0,2", 2, ["0,4", "0,2"]),
        ("0,4; 0,2", 2, ["0,4", "0,2"]),
        ("0,4, 0,2", 2, ["0,4", "0,2"]),
        ("[1,0]", 2, ["1", "0"]),
        ("0.401,0.198", 2, ["0.401", "0.198"]),
        ("- 1  2", 2, ["-1", "2"]),
        ("1 / 2  3", 2, ["1/2", "3"]),
        ("", 2, []),
    ],
)
def test_rows_are_cut_into_numbers(text, count, pieces):
    assert split_numbers(text, count) == pieces

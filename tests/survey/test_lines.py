"""What a line may hold, and the sentence for each that is skipped. No line raises."""

import json

import pytest

from softlookup.surveys.corpus import Line
from softlookup.surveys.lines import Prompt, Span, read_line

SKIPPED = {
    b"": "must be JSON; it is empty",
    b"  \t": "must be JSON; it is empty",
    b"the bank": "must be JSON; it is not, at character 0",
    b'{"text": "a"': "must be JSON; it is not, at character 12",
    b"\xff\xfe": "must be UTF-8; byte 0 is not",
    b'["text"]': "must be an object; it is a list",
    b'"text"': "must be an object; it is a text",
    b"3": "must be an object; it is a number",
    b"null": "must be an object; it is null",
    b"{}": "must have a field 'text'; it has nothing",
    b'{"a": 1, "b\\u202e": 2}': "must have a field 'text'; it has 'a', 'b⟨202e⟩'",
    b'{"text": 5}': "'text' must be a text; it is a number",
    b'{"text": true}': "'text' must be a text; it is true or false",
    b'{"text": null}': "'text' must be a text; it is null",
    b'{"text": ["a"]}': "'text' must be a text; it is a list",
    b'{"text": ""}': "'text' must hold a few words; it is empty",
    b'{"text": " \\n"}': "'text' must hold a few words; it is empty",
    b'{"text": "\\ud800"}': "'text' must be whole characters; it has half of a surrogate pair",
    b'{"text": "a", "id": "\\udfff"}': "'id' must be whole characters",
    b'{"text": "a", "id": [1]}': "'id' must be a text or a whole number; it is a list",
    b'{"text": "a", "id": true}': "'id' must be a text or a whole number; it is true or false",
    b'{"text": "a", "id": 1.5}': "'id' must be a text or a whole number; it is no whole one",
    b'{"text": "a", "groups": 1}': "'groups' must be a list of labels, or of [start, stop, label]",
    b'{"text": "a", "groups": []}': "'groups' must be a list of labels",
    b'{"text": "a", "groups": [256]}': "'groups' must be labels below 256",
    b'{"text": "a", "groups": [0.5]}': "'groups' must be labels below 256",
    b'{"text": "a", "groups": [true]}': "'groups' must be labels below 256",
    b'{"text": "a", "groups": [[0, 1]]}': "'groups' must be labels below 256",
    b'{"text": "abc", "groups": [[0, 4, 1]]}': "within the text's 3 characters",
    b'{"text": "abc", "groups": [[2, 2, 1]]}': "[2, 2, 1] does not",
    b'{"text": ' + b"[" * 100_000: "must be plain JSON; it holds what nobody can read",
    b'{"text": ' + b"9" * 5000 + b"}": "must be plain JSON; it holds what nobody can read",
}


@pytest.mark.parametrize("content", SKIPPED, ids=lambda one: repr(one[:40]))
def test_what_is_skipped_says_why(content):
    found = read_line(Line(3, content), "text")
    assert isinstance(found, str)
    assert SKIPPED[content] in found
    assert len(found) < 200


def test_a_line_that_was_not_kept():
    assert "must have at most 4,194,304 bytes" in read_line(Line(1, None), "text")


@pytest.mark.parametrize(("line", "expected"), [
    ({"text": "a b"}, Prompt("a b", None, None)),
    ({"text": "a", "id": "x", "more": {}}, Prompt("a", "x", None)),
    ({"text": "a", "id": 7}, Prompt("a", "7", None)),
    ({"text": "a", "groups": [0, -1, 255]}, Prompt("a", None, [0, -1, 255])),
    ({"text": "abc", "groups": [[0, 2, 3]]}, Prompt("abc", None, [Span(0, 2, 3)])),
])  # fmt: skip
def test_what_a_line_asks_for(line, expected):
    assert read_line(Line(1, json.dumps(line).encode()), "text") == expected


def test_a_mark_at_the_begin_of_a_file_and_its_line_ends_are_no_text():
    assert read_line(Line(1, b'\xef\xbb\xbf{"t": "a"}\r'), "t") == Prompt("a", None, None)

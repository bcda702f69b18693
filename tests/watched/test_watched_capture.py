"""What keep=True kept is one lookup a layer: its weights are those of the whole text."""

import numpy as np
import pytest
from feeding import IDS, PADDED, PATH, STEPS, drawn, feed, spelt, steps_of, watched

import oracle
import softlookup as sl
from budget import assert_within_budget
from captured import assert_same
from softlookup import viewer
from softlookup.captures import Axis
from softlookup.errors import OptionError
from softlookup.watched import Glance, Watched

RNG = np.random.default_rng(3)


def kept(whole, cuts=STEPS, **options):
    """Return the capture of a whole lookup that was watched in steps."""
    return feed(watched(), whole, cuts, keep=True, ids=IDS, **options).capture()


def assert_weights(capture, whole, **more):
    """Assert that the only layer of a capture has the weights and the answer of a whole lookup."""
    look = capture.lookup()
    exact, naive = (
        oracle.lookup(*whole.arrays, **{**whole.options, **more}, dtype=dtype)
        for dtype in (np.float64, np.float32)
    )
    assert_within_budget(look.weights(), exact.weights, naive.weights, "weights")
    assert_within_budget(look.attend(), exact.out, naive.out, "out")


RULES = {
    "plain": {"causal": True},
    "window": {"causal": True, "window": (4, 0)},
    "softcap": {"causal": True, "softcap": 3.0, "scale": 0.7},
    "sinks": {"causal": True, "sinks": np.linspace(-1, 1, 6, dtype=np.float32)},
    "left padding": {"causal": True, "mask": ~PADDED[:, None, None]},
}


@pytest.mark.parametrize("cuts", [None, STEPS, (0, 5, 6, 11, 13)])
@pytest.mark.parametrize("options", RULES.values(), ids=RULES.keys())
def test_steps_are_joined_by_their_rule(options, cuts):
    whole = drawn(**options)
    capture = kept(whole, cuts)
    assert_weights(capture, whole)
    problem = capture.lookup().problem
    assert problem.causal
    assert problem.window == ((4, None) if "window" in options and cuts else options.get("window"))
    mask = problem.mask
    assert (mask is None) == ("mask" not in options)
    assert mask is None or mask.array.shape[1:] == (1, 1, 13), "a mask over keys stays one"


def test_a_capture_says_where_the_prompt_ends(tmp_path):
    seen = feed(watched(), drawn(causal=True), STEPS, keep=True, ids=IDS)
    assert seen.capture().layers[0].queries[0].prompt is None
    seen.add_prompt(0, 7)
    made = seen.capture()
    made.save(tmp_path / "run.safetensors")
    for capture in (made, sl.load(tmp_path / "run.safetensors")):
        layer = capture.layers[0]
        assert {axis.prompt for axis in (*layer.queries, *layer.keys)} == {7}


def test_a_decoding_step_without_a_rule_is_under_the_rule_of_its_prompt():
    """Models mask nothing where one row sees all keys: no rule at all is causal there."""
    whole, seen = drawn(causal=True), watched()
    query, key, value = whole.arrays
    for rows, keys, ruled in steps_of(whole, STEPS):
        look = ruled
        if rows[1] - rows[0] == 1:
            look = sl.Lookup(
                query[:, :, slice(*rows)], key[:, :, : keys[1]], value[:, :, : keys[1]]
            )
        seen.add(PATH.format(0), 0, "", Glance(
            whole.heads, (0, 0, 1, 1, 2, 2), 0, rows[0], 0, look.inspect(), look=look
        ))  # fmt: skip
    capture = seen.capture()
    assert_weights(capture, whole)
    assert capture.lookup().problem.causal
    assert capture.lookup().problem.mask is None


def test_a_cropped_cache_is_a_window():
    whole = drawn(causal=True, window=(4, 0))
    capture = kept(whole, crop=5)
    assert_weights(capture, whole)
    assert capture.lookup().problem.window == (4, None)
    assert capture.lookup().problem.mask is None


@pytest.mark.parametrize("crop", [None, 5])
def test_single_rows_without_a_rule_are_causal(crop):
    """A decoder that begins with one token never makes a step that needs a rule."""
    whole, seen = drawn(causal=True, window=crop and (crop - 1, 0)), watched()
    query, key, value = whole.arrays
    for row in range(13):
        first = max(0, row + 1 - crop) if crop else 0
        parts = query[:, :, row : row + 1], *(one[:, :, first : row + 1] for one in (key, value))
        look = sl.Lookup(*parts)
        seen.add(PATH.format(0), 0, "", Glance(
            whole.heads, (0, 0, 1, 1, 2, 2), 0, row, first, look.inspect(), look=look
        ))  # fmt: skip
    capture = seen.capture()
    assert_weights(capture, whole)
    problem = capture.lookup().problem
    assert problem.causal
    assert problem.mask is None
    assert problem.window == (None if crop is None else (4, None))


def test_a_cache_that_forgot_more_than_its_rule_says_is_a_mask():
    whole = drawn(causal=True)
    hidden = np.ones((13, 13), bool)
    for row in range(7, 13):
        hidden[row, : row - 2] = False  # the prompt's rows saw more than that
    capture = kept(whole, crop=3)
    assert_weights(capture, whole, mask=hidden)
    assert capture.lookup().problem.mask.array.shape == (1, 1, 13, 13)


def test_masks_over_pairs_and_biases_are_joined():
    bias = RNG.standard_normal((1, 6, 13, 13), dtype=np.float32)
    mask = (RNG.random((2, 1, 13, 13)) > 0.3) | np.eye(13, dtype=bool)
    for options in ({"mask": mask}, {"bias": bias}, {"mask": mask, "bias": bias}):
        whole = drawn(causal=True, **options)
        assert_weights(kept(whole), whole)


def test_lengths_are_joined_as_a_mask():
    whole = drawn(causal=True, kv_lens=np.array([13, 9]))
    seen = watched()
    for rows, keys, step in steps_of(drawn(causal=True), STEPS):
        parts = step.problem
        look = sl.Lookup(
            parts.query, parts.key, parts.value, causal=True, q_offset=rows[0],
            kv_lens=np.minimum([13, 9], keys[1]),
        )  # fmt: skip
        seen.add(PATH.format(0), 0, "", Glance(
            whole.heads, (0, 0, 1, 1, 2, 2), 0, rows[0], 0, look.inspect(), look=look
        ))  # fmt: skip
    assert_weights(seen.capture(), whole)


def test_a_cross_layer_has_the_rows_of_all_steps_over_the_keys_of_one():
    whole = drawn(3, q_len=5, kv_len=11, mask=RNG.random((2, 1, 1, 11)) > 0.3)
    capture = feed(watched(), whole, (0, 1, 2, 3, 4, 5), part="cross", keep=True).capture()
    assert_weights(capture, whole)
    assert capture.lookup().problem.q_offset is None


def test_bands_of_rows_of_one_call_are_one_lookup():
    whole = drawn()  # two-sided: every band sees all keys
    assert_weights(kept(whole, (0, 5, 10, 13)), whole)


def test_keys_and_values_are_not_copied_where_the_last_step_has_them_all():
    whole = drawn(causal=True)
    look = kept(whole).lookup()
    assert np.shares_memory(look.problem.key, whole.arrays[1])
    assert np.shares_memory(look.problem.value, whole.arrays[2])


def test_it_knows_its_tokens_and_its_padding():
    whole = drawn(causal=True, mask=~PADDED[:, None, None])
    capture = kept(whole, padding=PADDED)
    (layer,) = capture.layers
    assert (layer.name, layer.number, layer.part, layer.heads) == (
        PATH.format(0),
        0,
        "",
        whole.heads,
    )
    assert capture.about == {"model": "made up"}
    assert layer.query_axis(1).tokens == spelt(IDS[1], None).tokens
    assert layer.key_axis(1).padding == ((0, 4),)
    assert layer.key_axis(0).padding == ()
    assert layer.key_axis(0).words == tuple(range(13))


def test_without_token_ids_there_are_positions():
    capture = feed(watched(), drawn(causal=True), STEPS, keep=True).capture()
    assert capture.layers[0].query_axis().tokens == tuple(map(str, range(13)))


def test_it_is_saved_and_read_back(tmp_path):
    for options in ({}, {"mask": ~PADDED[:, None, None]}):
        capture = kept(drawn(causal=True, **options))
        capture.save(tmp_path / "run.safetensors")
        assert_same(capture, sl.load(tmp_path / "run.safetensors"))


def test_a_run_is_chosen():
    seen, other = watched(), drawn(9, causal=True, q_len=11)
    feed(seen, drawn(causal=True), STEPS, keep=True)
    feed(seen, other, run=1, keep=True)
    assert_weights(seen.capture(1), other)
    assert_weights(seen.run(1).capture(), other)
    with pytest.raises(OptionError, match=r"run: must lie in 0 ... 1; got 2"):
        seen.capture(2)


def test_show_and_export_take_what_was_kept(tmp_path):
    seen = feed(watched(), drawn(causal=True), STEPS, keep=True, ids=IDS)
    assert_weights(viewer.item_of(seen).load(), drawn(causal=True))
    page = sl.export_html(seen, tmp_path / "page.html")
    assert b"model.layers.0.self_attn" in page.read_bytes()
    with pytest.raises(OptionError, match="a capture has its own"):
        viewer.item_of(seen, tokens=["a"])


def test_the_page_is_titled_by_the_model_and_how_its_text_begins():
    """As `softlookup show --model NAME --text TEXT` is; a title that was given stays."""
    whole = drawn(causal=True)
    for title, expected in (
        (None, "made up: w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w…"),
        ("own", "own"),
    ):
        seen = Watched({"model": "made up"}, title=title, read=spelt)
        feed(seen, whole, STEPS, keep=True, ids=IDS)
        assert viewer.item_of(seen).title == expected
        assert seen.title == (title or "made up")
    unread = feed(Watched({"model": "made up"}), whole, STEPS, keep=True, ids=IDS)
    assert unread.capture().title == "made up"


PIECES = {
    "wordpiece": (["[CLS]", "The", "un", "##real", "bank", "[SEP]"], (-1, 0, 1, 1, 2, -1)),
    "byte-level": (["<s>", "The", " un", "real", " bank"], (-1, 0, 1, 1, 2)),
    "given": (["The", "unreal", "bank"], None),
}


@pytest.mark.parametrize("kind", PIECES)
def test_a_text_is_told_as_it_was_written(kind):
    texts, words = PIECES[kind]
    look = sl.Lookup(*np.ones((3, 1, 1, len(texts), 4)))
    seen = Watched(read=lambda ids, _: Axis(tuple(texts), words))
    seen.add("a", 0, "", Glance((0,), (0,), 0, 0, 0, look.inspect(), look=look))
    seen.add_ids(0, "", 0, [range(len(texts))])
    assert seen.capture().title == "a watched model: The unreal bank"


def test_more_texts_than_were_read_are_left_out():
    """After a cache that was filled before, nobody counts the texts that the caller gave."""
    look = sl.Lookup(*np.ones((3, 1, 1, 4, 4)))
    seen = Watched(read=lambda ids, _: Axis(("x",) * len(ids), range(len(ids))), tokens=[*"abcdef"])
    seen.add("a", 0, "", Glance((0,), (0,), 0, 0, 0, look.inspect(), look=look))
    seen.add_ids(0, "", 2, [[7, 8]])
    assert seen.capture().title == "a watched model: a b c d"
    assert seen.tokens() == (*"abcd",)


def test_nothing_kept_is_said():
    seen = feed(watched(), drawn(causal=True), STEPS)
    for ask in (seen.capture, lambda: viewer.item_of(seen)):
        with pytest.raises(OptionError, match=r"keep: must have been True .* keep=True"):
            ask()


def add_step(seen, start, key_start=0, *, length=1, keys=None, **options):
    """Add a kept step of ones."""
    keys = start + length - key_start if keys is None else keys
    look = sl.Lookup(
        np.ones((1, 1, length, 4), options.pop("dtype", np.float32)),
        *np.ones((2, 1, 1, keys, 4), np.float32),
        **options,
    )
    seen.add("a.0", 0, "", Glance((0,), (0,), 0, start, key_start, look.inspect(), look=look))


@pytest.mark.parametrize(
    ("steps", "fragment"),
    [
        ([{"start": 0, "length": 3}, {"start": 5}], "row 5 came after row 2"),
        ([{"start": 0, "length": 3}, {"start": 2}], "row 2 came after row 2"),
        ([{"start": 0, "length": 3}, {"start": 3, "scale": 0.2}], "scale is 0.5 at first and 0.2"),
        ([{"start": 0, "length": 3}, {"start": 3, "softcap": 2.0}], "softcap is None at first"),
        (
            [{"start": 0, "length": 3}, {"start": 3, "sinks": np.ones(1)}],
            "the sinks change at row 3",
        ),
        (
            [{"start": 0, "length": 3, "keys": 2}, {"start": 3, "key_start": 3}],
            "no step has the key before position 3",
        ),
    ],
)
def test_steps_that_make_no_lookup_are_refused(steps, fragment):
    seen = watched()
    for one in steps:
        add_step(seen, **one)
    with pytest.raises(OptionError) as refused:
        seen.capture()
    text = str(refused.value)
    assert fragment in text
    assert text.startswith("run: must have steps that make one lookup; in a.0 of run 0, ")
    assert text.endswith("Look at one forward pass instead.")

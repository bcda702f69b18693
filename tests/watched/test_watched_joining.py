"""What was seen in steps is what one look at the whole shows: the oracle over joined arrays."""

import numpy as np
import pytest
from feeding import ASKED, PATH, as_found, drawn, feed, left_padding, steps_of, watched

import softlookup as sl
from cases import Call
from looking import assert_facts
from softlookup.errors import ShapeError
from softlookup.watched import Glance

STEPS = (0, 7, 8, 9, 10, 11, 12, 13)  # a prompt of seven, then a token at a time
CHUNKS = (0, 5, 6, 11, 13)


def assert_whole(layer, whole, asked, **more):
    """Assert that a layer shows what the oracle finds in a whole lookup."""
    call = Call(*whole.arrays, {**whole.options, **more})
    problem = sl.Lookup(*whole.arrays, **call.options).problem
    assert_facts(as_found(layer), asked, call, problem)
    assert layer.queries.tolist() == list(range(problem.q_len))
    assert layer.keys.tolist() == list(range(problem.kv_len))


@pytest.mark.parametrize("cuts", [None, STEPS, CHUNKS], ids=["forward", "generate", "chunks"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"window": (4, 0)},
        {"softcap": 3.0, "scale": 0.7},
        {"sinks": np.linspace(-1, 1, 6, dtype=np.float32)},
        {"mask": ~left_padding([13, 9], 13)[:, None, None]},
        {"bias": np.random.default_rng(3).standard_normal((1, 6, 13, 13), dtype=np.float32)},
    ],
    ids=["plain", "window", "softcap", "sinks", "left padding", "bias"],
)
def test_steps_show_what_one_look_at_the_whole_shows(cuts, options):
    whole = drawn(causal=True, **options)
    asked = {**ASKED, "sink": "sinks" in options, "distance": True}
    layer = feed(watched(), whole, cuts, asked=asked)[0]
    assert_whole(layer, whole, asked, q_offset=0)
    assert layer.heads == (0, 1, 2, 3, 4, 5)
    assert layer.kv_heads == (0, 0, 1, 1, 2, 2)


def test_keys_of_a_cropped_cache_are_token_positions():
    window = 4
    whole = drawn(causal=True, window=(window, 0))
    seen = feed(watched(), whole, STEPS, crop=window + 1)
    starts = [keys[0] for _, keys, _ in steps_of(whole, STEPS, crop=window + 1)]
    assert starts == [0, 3, 4, 5, 6, 7, 8], "the cache was cropped"
    assert_whole(seen[0], whole, ASKED)
    assert seen[0].row(12)["top"].keys.min() == 8


def test_groups_and_rows_that_count_go_on_over_the_steps():
    whole = drawn(causal=True)
    rng = np.random.default_rng(5)
    asked = {
        **ASKED,
        "groups": np.sort(rng.integers(-1, 4, (2, 13))),  # later steps know more labels
        "from_rows": rng.random((2, 13)) > 0.4,
    }
    assert_whole(feed(watched(), whole, STEPS, asked=asked)[0], whole, asked)


def test_an_encoder_and_what_a_decoder_reads_of_it():
    seen = watched()
    encoder = drawn(1, q_len=11)
    decoder = drawn(2, causal=True, q_len=5)
    cross = drawn(3, q_len=5, kv_len=11)
    cuts = (0, 1, 2, 3, 4, 5)
    feed(seen, encoder, part="encoder", path="model.encoder.layers.0.self_attn")
    feed(seen, decoder, cuts, part="decoder", path="model.decoder.layers.0.self_attn")
    feed(seen, cross, cuts, part="cross", path="model.decoder.layers.0.encoder_attn")
    assert [layer.label for layer in seen] == [
        "encoder layer 0", "decoder layer 0", "cross layer 0"
    ]  # fmt: skip
    for part, whole in (("encoder", encoder), ("decoder", decoder), ("cross", cross)):
        assert_whole(seen[part, 0], whole, ASKED)


def test_runs_stand_apart():
    seen, first, second = watched(), drawn(1, causal=True), drawn(2, causal=True, q_len=11)
    feed(seen, first, STEPS, run=0)
    feed(seen, second, run=1)
    assert seen.runs == 2
    assert_whole(seen[0], first, ASKED)
    assert_whole(seen.run(1)[0], second, ASKED)
    assert seen.run(1).runs == 1
    assert [layer.run for layer in seen.run(1)] == [1]


def test_what_is_read_during_a_run_goes_on_growing():
    whole, seen = drawn(causal=True), watched()
    for (start, stop), (_, keys), look in steps_of(whole, STEPS):
        found = look.inspect(**ASKED)
        seen.add(PATH.format(0), 0, "", Glance(
            heads=whole.heads, kv_heads=(0, 0, 1, 1, 2, 2), run=0, start=start, key_start=0,
            found=found, keys=keys,
        ))  # fmt: skip
        assert len(seen[0].queries) == stop
        assert seen[0].received.sum().round(3) == stop * 12  # of six heads in two batch entries
    assert_whole(seen[0], whole, ASKED)


def test_chosen_heads_add_up_to_the_kv_heads_that_they_read():
    whole = drawn(causal=True)
    query, key, value = whole.arrays
    chosen = (1, 2, 3)  # of kv heads 0, 1 and 1
    theirs = [0, 1, 1]
    some = whole._replace(arrays=(query[:, chosen], key[:, theirs], value[:, theirs]))
    layer = feed(watched(), some, STEPS, heads=chosen)[0]
    everything = feed(watched(), whole, STEPS)[0]
    assert layer.kv_heads == (0, 1, 1)
    per_kv_head = layer.received_per_kv_head
    np.testing.assert_allclose(per_kv_head[:, 0], everything.received[:, 1], rtol=1e-6)
    both = everything.received[:, 2] + everything.received[:, 3]
    np.testing.assert_allclose(per_kv_head[:, 1], both, rtol=1e-6)
    assert layer.place(3) == 2
    with pytest.raises(sl.SoftlookupError, match=r"of 1, 2, 3; got 0"):
        layer.place(0)


def test_one_forward_is_never_copied():
    whole = drawn(causal=True)
    found = sl.Lookup(*whole.arrays, causal=True).inspect(**ASKED)
    seen = watched()
    seen.add("a.0", 0, "", Glance(whole.heads, (0, 0, 1, 1, 2, 2), 0, 0, 0, found))
    layer = seen[0]
    for mine, theirs in (
        (layer.entropy, found.entropy), (layer.top.keys, found.top.keys),
        (layer.received, found.received), (layer.lse, found.lse),
    ):  # fmt: skip
        assert np.shares_memory(mine, theirs)


def test_steps_are_let_go_once_they_are_joined():
    seen = feed(watched(), drawn(causal=True), STEPS)
    calls = seen[0]._calls
    assert len(calls._pieces) == 7
    joined = seen[0].entropy
    assert len(calls._pieces) == 1
    assert np.shares_memory(seen[0].entropy, joined), "joined once"


def test_the_output_is_not_kept():
    seen = feed(watched(), drawn(causal=True), STEPS)
    (piece, *_) = seen[0]._calls._pieces
    assert set(piece.facts) == {"lse", "entropy", "max_score", "top_keys", "top_weights"}


@pytest.mark.parametrize(
    ("change", "fragments"),
    [
        ({"heads": (0, 1, 2, 3, 4, 6)}, ["heads [0, 1, 2, 3, 4, 5]", "heads [0, 1, 2, 3, 4, 6]"]),
        ({"found": drawn(batch=3).arrays}, ["2 batch entries", "3 batch entries"]),
        ({"asked": {}}, ["entropy, lse", "heads [0, 1, 2, 3, 4, 5], lse in float32"]),
    ],
)
def test_a_step_unlike_those_before_it_is_refused(change, fragments):
    seen = feed(watched(), drawn(causal=True), STEPS)
    look = sl.Lookup(*change.get("found", drawn().arrays))
    glance = Glance(
        heads=change.get("heads", (0, 1, 2, 3, 4, 5)), kv_heads=(0, 0, 1, 1, 2, 2), run=0, start=13,
        key_start=0, found=look.inspect(**change.get("asked", ASKED)),
    )  # fmt: skip
    with pytest.raises(ShapeError) as refused:
        seen.add(PATH.format(0), 0, "", glance)
    for fragment in [*fragments, PATH.format(0), "Number the runs apart."]:
        assert fragment in str(refused.value)


def test_facts_without_a_heads_axis_are_refused():
    found = sl.Lookup(np.ones((3, 4)), np.ones((3, 4))).inspect()
    with pytest.raises(ShapeError, match=r"must be over \(batch, 1 heads, rows\); got \(3,\)"):
        watched().add("a.0", 0, "", Glance((0,), (0,), 0, 0, 0, found))

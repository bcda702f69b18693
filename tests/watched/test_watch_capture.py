"""A capture is looked over as a running model is."""

from types import SimpleNamespace

import numpy as np
import pytest

import softlookup as sl
from captured import assert_same, two_stacks
from softlookup.captures import Axis, Capture, Layer, label, shipped
from softlookup.errors import DtypeError, OptionError
from softlookup.watched import watch_capture


def test_its_layers_show_what_their_lookups_show():
    capture = two_stacks()
    seen = watch_capture(capture, top=2, sink=True, max_score=True)
    assert [one.label for one in seen] == [one.label for one in capture.layers]
    for layer, recorded in zip(seen, capture.layers, strict=True):
        sinks = recorded.look.problem.sinks is not None
        rows = np.ones((2, recorded.look.problem.q_len), bool)
        for batch, start, stop in (
            (b, *span) for b in (0, 1) for span in recorded.query_axis(b).padding
        ):
            rows[batch, start:stop] = False
        found = recorded.look.inspect(
            top=2, entropy=True, received=True, sink=sinks, from_rows=rows
        )
        np.testing.assert_array_equal(layer.entropy, found.entropy)
        np.testing.assert_array_equal(layer.top.keys, found.top.keys)
        np.testing.assert_array_equal(layer.received, found.received)
        np.testing.assert_array_equal(layer.received_per_kv_head, found.received_per_kv_head)
        assert ("sink" in layer.asked) == sinks
        assert layer.heads == recorded.heads
        for batch in range(2):
            shown = [text or "" for text in recorded.query_axis(batch).tokens]
            assert layer.tokens(batch) == tuple(shown)
            shown = [text or "" for text in recorded.key_axis(batch).tokens]
            assert layer.key_tokens(batch) == tuple(shown)


def test_it_knows_what_is_padding_and_what_is_causal():
    seen = watch_capture(two_stacks())
    assert seen["decoder", 0].counted.tolist() == [[False, False, True, True, True], [True] * 5]
    assert seen["decoder", 0].padding.tolist() == [[True, True, False, False, False], [False] * 5]
    assert seen["cross", 0].key_padding.tolist() == [[False, False, True]] * 2
    assert [layer.causal for layer in seen] == [True, True, False, False]
    assert not watch_capture(shipped.load("sentence"))[0].causal
    arrays = np.random.default_rng(1).standard_normal((3, 1, 1, 5, 3))
    masked = sl.Lookup(*arrays, mask=np.tril(np.ones((5, 5), bool)))
    assert watch_capture(label(masked))[0].causal, "by its mask"
    assert not watch_capture(label(sl.Lookup(*arrays, mask=np.eye(5, 5, 1, dtype=bool))))[0].causal


HIDING = {
    "rule": {"causal": True, "window": (2, None)},
    "rule, both ways": {"window": (2, 1)},
    "mask": {"mask": np.tri(13, dtype=bool) & ~np.tri(13, k=-3, dtype=bool)},
    "mask, both ways": {"mask": np.tri(13, k=1, dtype=bool) & ~np.tri(13, k=-3, dtype=bool)},
    "everything": {"mask": np.zeros((13, 13), bool)},
}


@pytest.mark.parametrize("hiding", HIDING)
def test_means_are_over_the_rows_that_a_rule_or_a_mask_lets_see_the_key(hiding):
    arrays = np.random.default_rng(2).standard_normal((3, 2, 13, 5))
    look = sl.Lookup(*arrays[:, None], **HIDING[hiding])
    seen = watch_capture(label(look))
    for key in range(13):
        for one in seen.rank_heads(reads=key):
            weights = look.weights()[0, one.head, :, key]
            mean = weights.sum() / max((weights > 0).sum(), 1)
            assert one.share == pytest.approx(mean, rel=1e-5)


def test_it_gives_the_capture_back():
    capture = shipped.load("causal")
    seen = watch_capture(capture)
    again = seen.capture()
    for layer, other in zip(capture.layers, again.layers, strict=True):
        assert layer.look is other.look
        assert layer.queries[0].tokens == other.queries[0].tokens
    assert_same(Capture(again.title, again.layers, again.about), again)


def test_it_knows_where_the_prompt_ended():
    axis = (Axis(tuple("abcde"), prompt=3),)
    look = sl.Lookup(*np.ones((3, 2, 5, 4)), causal=True)
    capture = Capture("written", (Layer(look, axis, axis),))
    seen = watch_capture(capture)
    assert seen[0].prompt == 3
    assert seen.capture().layers[0].keys == axis
    assert watch_capture(two_stacks())["decoder", 0].prompt is None


def test_rows_that_go_on_in_the_text_of_their_keys_stand_there():
    """As where generate() went on from a cache: two rows of five tokens, the last one written."""
    rng = np.random.default_rng(3)
    look = sl.Lookup(rng.normal(size=(2, 4)), *rng.normal(size=(2, 5, 4)), causal=True, q_offset=3)
    layer = Layer(look, (Axis(("d", "e"), prompt=1),), (Axis(tuple("abcde"), prompt=4),))
    seen = watch_capture(Capture("goes on", (layer,)))
    assert seen[0].queries.tolist() == [3, 4]
    assert (seen[0].tokens(), seen[0].key_tokens()) == (("d", "e"), tuple("abcde"))
    assert (seen[0].written.tolist(), seen[0].key_written.tolist()) == (
        [False, True],
        [False] * 4 + [True],
    )
    again = seen.capture().layers[0]
    assert (again.queries, again.keys) == (layer.queries, layer.keys)


APART = {  # rows of two texts, each with its own prompt, and how they look at eight keys
    "other offsets": (("ef", "GH"), 1, {"causal": True, "q_offset": [4, 6], "kv_lens": [6, 8]}),
    "no positions": (("gh", "GH"), 1, {}),
    "another text": (("xy", "XY"), None, {"causal": True, "q_offset": 6}),
}


@pytest.mark.parametrize("case", APART)
def test_rows_that_stand_at_no_key_of_all_texts_leave_the_keys_theirs(case):
    texts, prompt, options = APART[case]
    rng = np.random.default_rng(4)
    look = sl.Lookup(*(rng.normal(size=(2, 1, length, 4)) for length in (2, 8, 8)), **options)
    words = (0, 0, 1, 1, 2, 2, 3, 3)
    keys = tuple(Axis(tuple(text), words, prompt=5) for text in ("abcdefgh", "ABCDEFGH"))
    layer = Layer(look, tuple(Axis(tuple(text), prompt=prompt) for text in texts), keys)
    whole = Layer(sl.Lookup(*rng.normal(size=(3, 2, 1, 3, 4))), *((Axis(tuple("uvw")),),) * 2)
    seen = watch_capture(Capture("apart", (whole, layer, whole)))
    for batch in (0, 1):
        assert seen["@1"].tokens(batch) == tuple(texts[batch])
        assert seen["@1"].key_tokens(batch) == keys[batch].tokens
        assert seen["@0"].key_tokens(batch) == tuple("uvw")
    assert seen["@1"].prompt == prompt
    assert seen["@1"].key_written.tolist() == [False] * 5 + [True] * 3
    assert not seen["@1"].causal, "no row is at a key that would say so"
    again = seen.capture().layers[1]
    assert (again.look, again.queries, again.keys) == (layer.look, layer.queries, layer.keys)


def test_lookups_with_any_leading_axes_are_looked_over():
    rng = np.random.default_rng(2)
    for lead in ((), (3,), (2, 2, 3)):  # plain, heads alone, two leading axes and heads
        look = sl.Lookup(*rng.standard_normal((3, *lead, 5, 7)))
        seen = watch_capture(label(look), top=1)
        found = look.inspect(entropy=True)
        assert seen[0].entropy.ravel().tolist() == found.entropy.ravel().tolist()
        assert seen[0].entropy.shape == (4 if lead == (2, 2, 3) else 1, 3 if lead else 1, 5)


def test_layers_of_one_name_stay_apart():
    look = sl.Lookup(*np.ones((2, 1, 1, 3, 4)))
    axes = (Axis(("a", "b", "c")),)
    capture = Capture("two", tuple(Layer(look, axes, axes, "same", n) for n in (0, 1)))
    assert [layer.path for layer in watch_capture(capture)] == ["same@0", "same@1"]


def test_options_are_those_of_inspect():
    with pytest.raises(OptionError, match=r"Did you mean entropy=\?"):
        watch_capture(two_stacks(), entrpy=True)
    seen = watch_capture(
        shipped.load("causal"), groups=np.arange(37) // 13, distance=True, entropy=False
    )
    assert seen[0].groups.shape[-1] == 3
    assert "entropy" not in seen[0].asked
    assert seen[0].distance_bins[-1] == (32, 63)


def test_a_model_is_no_capture():
    with pytest.raises(DtypeError, match=r"capture: must be a Capture.*got SimpleNamespace.*watch"):
        watch_capture(SimpleNamespace())


def test_groups_label_the_tokens_of_the_input():
    """As in watch: a decoder's own text, of another length, has no labels."""
    seen = watch_capture(two_stacks(), groups=[0, 1, 1])
    labelled = {layer.label for layer in seen if "groups" in layer.asked}
    assert labelled == {"encoder layer 0", "cross layer 0"}

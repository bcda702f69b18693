"""A model's mask as a rule: for every pair what its own mask function says, and no matrix of it."""

import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from transformers import masking_utils as theirs  # noqa: E402 (it needs torch)

from softlookup.integrations import masks  # noqa: E402
from softlookup.integrations.masks import LazyMask  # noqa: E402

pytestmark = pytest.mark.models
PACKED = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2], [0] * 5 + [1] * 6])


def in_prefix(batch, head, query, key):
    return key < 3


FUNCTIONS = {
    "causal": theirs.causal_mask_function,
    "both ways": theirs.bidirectional_mask_function,
    "window": theirs.sliding_window_causal_mask_function(3),
    "two-sided window": theirs.sliding_window_bidirectional_mask_function(2),
    "chunks": theirs.chunked_causal_mask_function(4, torch.tensor([0, 3])),
    "packed": theirs.and_masks(
        theirs.causal_mask_function, theirs.packed_sequence_mask_function(PACKED)
    ),
    "prefix": theirs.or_masks(theirs.causal_mask_function, in_prefix),
}
RULED = {"causal", "both ways", "window", "two-sided window"}
# q_length, kv_length, q_offset, kv_offset: a pass, a step, a chunk of one, slots of a static cache
# that no token has filled, a cache that was cropped to its window
PLACES = {
    "pass": (11, 11, 0, 0),
    "step": (1, 11, 10, 0),
    "chunk": (4, 11, 7, 0),
    "static": (5, 11, 2, 0),
    "cropped": (2, 5, 9, 6),
}
PADDED = {
    "none": None,
    "left": [[0] * 3 + [1] * 8, [1] * 11],
    "right": [[1] * 7 + [0] * 4, [1] * 11],
    "holes": [[1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1], [1] * 11],
    "short": [[1] * 7, [0, 1, 1, 1, 1, 1, 1]],
}


def asked(function, place, padding=None, **more):
    names = ("q_length", "kv_length", "q_offset", "kv_offset")
    return {
        "batch_size": 2,
        "mask_function": FUNCTIONS[function],
        "attention_mask": None if padding is None else torch.tensor(padding).bool(),
        **dict(zip(names, place, strict=True)),
        **more,
    }


def shown(sight, q_len):
    """Return which keys the lookups made of a sight see, (batch, q_len, keys)."""
    parts = []
    for rows, options in sight.rows(q_len):
        count = rows.stop - rows.start
        query, key = torch.zeros(2, 1, count, 2), torch.zeros(2, 1, sight.stop, 2)
        parts.append(sl.Lookup(query, key, **options).in_numpy().weights()[:, 0] > 0)
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_pair_is_as_the_models_function_says(function, place, padding):
    given = asked(function, PLACES[place], PADDED[padding])
    sight = LazyMask(given).sight
    expected = theirs.sdpa_mask(**given, allow_is_causal_skip=False)[:, 0].numpy()
    assert not expected[..., sight.stop :].any()
    np.testing.assert_array_equal(shown(sight, expected.shape[1]), expected[..., : sight.stop])
    if function in RULED and expected.any(-1).all():
        assert sight.bands is None
    ahead = np.arange(sight.stop) > np.arange(expected.shape[1])[:, None] + (
        given["q_offset"] - given["kv_offset"]
    )
    unpadded = theirs.sdpa_mask(**given | {"attention_mask": None}, allow_is_causal_skip=False)
    assert sight.causal == (not (unpadded[:, 0, :, : sight.stop].numpy() & ahead).any())


@pytest.mark.parametrize(
    ("function", "place", "padding", "options"),
    [
        ("causal", "pass", "none", {"causal": True}),
        ("both ways", "pass", "none", {}),
        ("window", "pass", "none", {"causal": True, "window": (2, None)}),
        ("two-sided window", "pass", "none", {"window": (2, 2)}),
        ("window", "cropped", "none", {"causal": True, "window": (2, None)}),
        ("causal", "step", "none", {}),
        ("causal", "pass", "right", {"causal": True, "kv_lens": [7, 11]}),
    ],
)
def test_a_rule_is_what_a_person_would_write(function, place, padding, options):
    given = asked(function, PLACES[place], PADDED[padding])
    sight = LazyMask(given).sight
    offset = given["q_offset"] - given["kv_offset"]
    found = {k: v.tolist() if k == "kv_lens" else v for k, v in sight.options.items()}
    assert found == {"q_offset": offset, **options}


def test_padding_at_the_left_is_a_mask_over_keys_alone():
    sight = LazyMask(asked("causal", PLACES["pass"], PADDED["left"])).sight
    assert sight.options["mask"].shape == (2, 1, 1, 11)


def test_slots_that_no_token_has_filled_are_no_keys():
    given = asked("causal", PLACES["static"])
    assert LazyMask(given).sight.stop == 7
    of_another_text = given | {"mask_function": FUNCTIONS["both ways"]}
    other = LazyMask(of_another_text | {"allow_is_bidirectional_skip": True})
    assert other.sight.stop == 11


def test_a_rule_that_holds_for_all_rows_but_one_is_none(monkeypatch):
    monkeypatch.setattr(masks, "_PAIRS", 22)  # two rows at once

    def but_one(batch, head, query, key):
        return (key <= query) & ~((query == 6) & (key == 4))

    given = asked("causal", PLACES["pass"]) | {"mask_function": but_one}
    sight = LazyMask(given).sight
    assert sight.bands is not None
    assert [rows.stop - rows.start for rows, _ in sight.rows(11)] == [1] * 11
    np.testing.assert_array_equal(
        shown(sight, 11), theirs.sdpa_mask(**given, allow_is_causal_skip=False)[:, 0].numpy()
    )


def test_a_function_that_indexes_is_mapped_over_every_pair():
    allowed = torch.rand(11, 11) > 0.5

    def by_table(batch, head, query, key):
        return allowed[query, key]

    given = asked("causal", PLACES["pass"], PADDED["left"], use_vmap=True)
    given |= {"mask_function": theirs.or_masks(theirs.causal_mask_function, by_table)}
    expected = theirs.sdpa_mask(**given, allow_is_causal_skip=False)[:, 0].numpy()
    np.testing.assert_array_equal(shown(LazyMask(given).sight, 11), expected)


def test_what_a_bias_hides_stays_hidden_in_every_band():
    sight = LazyMask(asked("chunks", PLACES["pass"])).sight
    hidden = torch.ones(1, 1, 11, 11, dtype=torch.bool)
    hidden[..., 2] = False
    both = sight._replace(options=sight.options | {"mask": hidden})
    expected = shown(sight, 11)
    expected[..., 2] = False
    np.testing.assert_array_equal(shown(both, 11), expected)


def test_its_size_does_not_grow_with_the_pairs():
    most = 0
    inner = theirs.sliding_window_causal_mask_function(1000)

    def counted(batch, head, query, key):
        nonlocal most
        most = max(most, query.numel() * key.numel())
        return inner(batch, head, query, key)

    given = asked("causal", (20_000, 20_000, 0, 0)) | {"mask_function": counted}
    sight = LazyMask(given).sight
    assert sight.options == {"q_offset": 0, "causal": True, "window": (999, None)}
    assert most <= masks._PAIRS


def test_a_static_caches_count_is_read_at_once():
    count = torch.tensor(2)
    lazy = LazyMask(asked("causal", (5, 11, count, 0)), theirs.sdpa_mask)
    count += 5
    assert (lazy.start, lazy.sight.stop) == (2, 7)
    expected = theirs.sdpa_mask(**asked("causal", (5, 11, 2, 0)))
    assert torch.equal(lazy.made_by(lazy.theirs), expected)

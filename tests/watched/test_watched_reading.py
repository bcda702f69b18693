"""What a person asks of what was seen: rows, heads, tokens, and how they print."""

import copy
import pickle

import numpy as np
import pytest
from feeding import (
    ASKED,
    IDS,
    PADDED,
    STEPS,
    drawn,
    exact_weights,
    feed,
    steps_of,
    watched,
)

import softlookup as sl
from softlookup.errors import DtypeError, OptionError, ShapeError
from softlookup.watched import Glance, RowSeen

# rows


def test_a_layer_goes_by_its_number_path_or_label(seen):
    layer = seen[3]
    assert seen["model.layers.3.self_attn"].path == layer.path == "model.layers.3.self_attn"
    assert seen["layer 3"].number == seen["", 3].number == 3
    assert [one.number for one in seen] == [0, 3]
    assert len(seen) == 2
    assert bool(seen)
    assert not watched()


def test_a_number_that_several_parts_have_is_refused():
    made = watched()
    for part in ("decoder", "cross"):
        feed(made, drawn(causal=True), part=part, path=f"{part}.0")
    with pytest.raises(OptionError, match=r"2 are called 0\. Choose one of \('decoder', 0\), \('c"):
        made[0]
    assert made["cross", 0].path == "cross.0"


def test_layers_of_a_part_stand_together():
    made, whole = watched(), drawn(causal=True)
    for number in (0, 1):
        for part in ("decoder", "cross"):  # as a model calls them
            feed(made, whole, part=part, number=number, path=f"{part}.{number}")
    assert [one.path for one in made] == ["decoder.0", "decoder.1", "cross.0", "cross.1"]


@pytest.mark.parametrize(
    ("ask", "fragments"),
    [
        (lambda seen: seen[1], ["must be one that was seen, of layer 0, layer 3; got 1"]),
        (lambda seen: watched()[0], ["of none; got 0"]),
        (lambda seen: watched().run(0), ["run: must be one that was watched; none was yet"]),
        (lambda seen: seen.run(1), ["run: must be 0, the only one; got 1"]),
        (lambda seen: seen[0].row(), ["position: must be given, or producing="]),
        (lambda seen: seen[0].row(1, producing=2), ["position: must be given", "got both."]),
        (lambda seen: seen[0].row(13), ["row of model.layers.0.self_attn, 0 ... 12; got 13"]),
        (lambda seen: seen[0].row(-14), ["0 ... 12; got -14"]),
        (lambda seen: seen[0].row(producing=0), ["producing: must be", "1 ... 13; got 0"]),
        (lambda seen: seen[0].row(" wonder"), ["position: there is no token"]),
        (lambda seen: seen[0].row(producing=" wonder"), ["producing: there is no token"]),
        (lambda seen: seen.rank_heads(" wonder"), ["row: there is no token"]),
        (lambda seen: seen.rank_heads(1, reads="w"), ["reads: there is no token"]),
        (lambda seen: seen.rank_heads(reads="w"), ["reads: there is no token"]),
        (lambda seen: seen.rank_heads(producing="@99"), ["producing: must be", "got @99"]),
        (lambda seen: seen.rank_heads(1, reads=99), ["reads: must be", "0 ... 12; got 99"]),
        (lambda seen: seen.rank_heads("w3 w4"), ["It is the tokens @3 ... @4 together."]),
        (lambda seen: seen[0].row(producing="w3 w4"), ["It is the tokens @3 ... @4 together."]),
        (lambda seen: seen.rank_heads("w105"), ["Batch entry 1 has it: batch=1."]),
        (lambda seen: seen[0].sink, ["sink: was not looked at;", "Write watch(model, sink=True)."]),
        (lambda seen: seen[0].groups, ["Write watch(model, groups=[...])."]),
        (lambda seen: seen[0].row(3).sink, ["sink: was not looked at;"]),
        (lambda seen: seen.rank_heads(), ["row: must be given, or producing=, or reads="]),
        (lambda seen: seen.rank_heads(1, producing=2), ["row: must be given", "got both."]),
        (lambda seen: seen.rank_heads(1, batch=2), ["batch: must lie in 0 ... 1; got 2"]),
        (lambda seen: seen.rank_heads(reads=13), ["reads: must be", "got 13"]),
        (lambda seen: seen.rank_heads(1, part="cross"), ["part: must be left out"]),
        (lambda seen: seen.rank_tokens(0, 6), ["head: must be one that was looked at", "got 6"]),
        (lambda seen: seen.tokens(5), ["batch: must lie in 0 ... 1; got 5"]),
        (lambda seen: seen[0].tokens(-1), ["batch: must lie in 0 ... 1; got -1"]),
        (lambda seen: seen[0].key_tokens(7), ["batch: must lie in 0 ... 1; got 7"]),
        (lambda seen: seen[0].produced(2), ["batch: must lie in 0 ... 1; got 2"]),
        (lambda seen: seen[0].row(3).reads(0, 2), ["batch: must lie in 0 ... 1; got 2"]),
        (lambda seen: seen[0].row(3, batch=2), ["batch: must lie in 0 ... 1; got 2"]),
        (lambda seen: seen.rank_tokens(batch="x"), ["batch: must be a whole number", "'x'"]),
        (lambda seen: seen.run("a"), ["run: must be a whole number", "'a'"]),
        (lambda seen: seen[True], ["layer: must be a layer's number, its path", "got True"]),
        (lambda seen: seen[:2], ["layer: must be a layer's number, its path", "slice"]),
        (lambda seen: seen["", None], ["layer: must be a layer's number, its path", "None"]),
        (lambda seen: seen.rank_tokens(0, True), ["head: must be a head's number; got True"]),
        (lambda seen: seen.summary().by("frist"), ["column: must be one of", "got frist"]),
        (lambda seen: seen.summary().by("induction"), ["first", "got induction, in which nothing"]),
    ],
)
def test_what_is_not_there_is_refused(seen, ask, fragments):
    with pytest.raises(sl.SoftlookupError) as refused:
        ask(seen)
    for fragment in fragments:
        assert fragment in str(refused.value)


def test_a_position_is_a_whole_number(seen):
    for wrong in (1.5, True, None.__class__):
        with pytest.raises(DtypeError, match="must be a token position, or a token's text"):
            seen[0].row(wrong)


def test_a_row_has_its_facts_by_name(seen):
    layer = seen[0]
    for row in (layer.row(9), layer.row(-4), layer.row(producing=10), layer.row(" w9")):
        assert row.position == 9
        np.testing.assert_array_equal(row["entropy"], layer.entropy[:, :, 9])
        np.testing.assert_array_equal(row.top.keys, layer.top.keys[:, :, 9])
        assert dict(row).keys() == {"lse", "entropy", "max_score", "top"}
    assert layer.row("w109", batch=1).position == 9
    assert layer.row(producing=" w13").position == 12, "the last one made the token after it"


def test_a_row_that_several_tokens_could_mean_is_refused(whole):
    made = feed(watched(), whole, ids=np.zeros((2, 13), int))
    with pytest.raises(ShapeError, match="13 are shown like that"):
        made[0].row(" w0")
    assert made[0].row("@5").position == 5
    with pytest.raises(OptionError, match=r"must be a number where no texts are known; got 'a'"):
        feed(watched(), whole)[0].row("a")


def test_a_head_lists_what_it_reads_in_a_row(seen, whole):
    for batch in (0, 1):
        exact = exact_weights(whole)[batch, 4, 9]
        reads = seen[0].row(9).reads(4, batch)
        assert [one.key for one in reads] == np.argsort(-exact)[:3].tolist()
        assert [one.token for one in reads] == [f" w{100 * batch + one.key}" for one in reads]
        assert [one.weight for one in reads] == pytest.approx(sorted(exact)[:-4:-1], rel=1e-5)
    assert len(seen[0].row(1).reads(0)) == 2, "it sees no more"
    assert repr(reads).startswith("head 4 of layer 0 in row 9, batch 1 reads\nkey  token")
    with pytest.raises(OptionError, match="head: must be one that was looked at"):
        seen[0].row(9).reads(6)
    with pytest.raises(OptionError, match="top: was not looked at"):
        feed(watched(), whole, asked={"entropy": True})[0].row(9).reads(0)


def test_a_row_prints_what_its_heads_read(seen, whole):
    printed = repr(seen[0].row(9))
    assert "layer 0, row 9 ' w9', produced ' w10', batch 0" in printed
    assert "layer 0, row 9 ' w109', produced ' w110', batch 1" in printed
    exact = exact_weights(whole)[1, 5, 9]
    best = int(exact.argmax())
    assert f"reads {best} ' w{100 + best}' {exact[best]:.3f}" in printed.splitlines()[-1]
    assert "lse" in repr(seen[0])
    with pytest.raises(KeyError):
        seen[0].row(9)["received"]
    with pytest.raises(AttributeError, match="a row has no 'weights'; it has lse, entropy"):
        seen[0].row(9).weights  # noqa: B018


# texts


def test_rows_know_their_tokens_and_what_they_produced(seen):
    layer = seen[3]
    assert layer.tokens(1) == tuple(f" w{i}" for i in range(100, 113))
    assert layer.produced(1) == tuple(f" w{i}" for i in range(101, 114))
    assert layer.key_tokens() == seen.tokens() == tuple(f" w{i}" for i in range(13))


def test_an_encoder_produces_nothing():
    made = feed(watched(), drawn(), ids=IDS)
    assert made[0].produced() is None
    assert made[0].tokens() is not None


def test_a_decoder_and_its_cross_layer_read_two_texts():
    made = watched()
    feed(made, drawn(1, q_len=11), part="encoder", path="e.0", ids=IDS[:, :11])
    feed(made, drawn(2, causal=True, q_len=5), part="decoder", path="d.0", ids=IDS[:, :5] + 500)
    feed(made, drawn(3, q_len=5, kv_len=11), part="cross", path="c.0")
    cross = made["cross", 0]
    assert cross.tokens() == tuple(f" w{i}" for i in range(500, 505))
    assert cross.key_tokens() == tuple(f" w{i}" for i in range(11))
    assert cross.produced(1) == (" w601", " w602", " w603", " w604", "")
    assert made["decoder", 0].key_tokens(1)[0] == " w600"
    assert made["encoder", 0].tokens(1)[0] == " w100"
    assert made["encoder", 0].produced() is None


def test_the_callers_texts_come_first_and_ids_go_on(whole):
    texts = [[f"a{i}" for i in range(7)], [f"b{i}" for i in range(7)]]
    made = feed(watched(tokens=texts), whole, STEPS, ids=IDS)
    assert made[0].tokens(1)[:8] == (*texts[1], " w107")
    feed(made, whole, STEPS, run=1, ids=IDS)
    assert made.run(1)[0].tokens(1)[0] == " w100", "they are of the first run"
    shared = feed(watched(tokens=texts[0]), whole, STEPS, ids=IDS)
    assert shared[0].tokens(1)[:7] == tuple(texts[0])
    axis = sl.watched.Watched(tokens=texts)._store.texts.axis(0, "", 1, 2)
    assert axis.tokens == tuple(texts[1])


def test_a_text_that_is_continued_several_times_is_read_by_all_its_entries():
    """generate(num_return_sequences=2): entries 0 and 1 are of text 0, 2 and 3 of text 1."""
    texts = [[f"{name}{i}" for i in range(11)] for name in "ab"]
    for made in (watched(), watched(tokens=texts)):
        feed(made, drawn(1, q_len=11), part="encoder", path="e.0", ids=IDS[:, :11])
        own = np.arange(4)[:, None] * 10 + np.arange(5)
        feed(made, drawn(2, batch=4, causal=True, q_len=5), part="decoder", path="d.0", ids=own)
        feed(made, drawn(3, batch=4, q_len=5, kv_len=11), part="cross", path="c.0")
        of_texts = [made["encoder", 0].key_tokens(text) for text in (0, 0, 1, 1)]
        assert [made["cross", 0].key_tokens(entry) for entry in range(4)] == of_texts
        assert made["cross", 0].tokens(3) == made["decoder", 0].tokens(3)
        assert made["cross", 0].tokens(3) == tuple(f" w{i}" for i in range(30, 35))


def test_numpys_numbers_are_numbers(seen):
    assert seen[np.int64(3)].number == seen["", np.int32(3)].number == 3
    assert seen.run(np.int64(0)).layers[0].number == 0
    assert seen[0].place(np.int64(4)) == 4
    assert seen[0].row(np.int64(9)).reads(np.int64(4), np.int64(1)) is not None


def test_a_row_at_padding_is_ranked_for_nobody():
    mask = ~PADDED[:, None, None]
    made = feed(watched(), drawn(causal=True, mask=mask), STEPS, padding=PADDED)
    assert len(made.rank_heads(1)) == 6
    with pytest.raises(OptionError, match="row: must be a token of the text; position 1 of batch"):
        made.rank_heads(1, batch=1)
    with pytest.raises(OptionError, match="producing: must be a token of the text; position 0"):
        made.rank_heads(producing=1, batch=1, reads=9)


def test_the_text_that_was_asked_for_is_printed_first(seen):
    assert repr(seen[0].row("w105", batch=1)).startswith("layer 0, row 5 ' w105'")
    assert repr(seen[0].row(5)).startswith("layer 0, row 5 ' w5'")


def test_what_was_received_so_far_stays_as_it_was(whole):
    """A reader in the middle of a run keeps the numbers that he was given; sums are float64."""
    whole = whole._replace(arrays=tuple(array.astype(np.float64) for array in whole.arrays))
    made = feed(watched(), whole, (0, 7, 8))
    found = made[0].received
    before = found.copy()
    feed(made, whole, (8, 9, 10))
    np.testing.assert_array_equal(found, before)
    assert made[0].received.sum() > before.sum()


@pytest.mark.parametrize(
    ("tokens", "error", "fragment"),
    [
        ("a text", DtypeError, "must be a list of texts"),
        ([1, 2], DtypeError, "must hold texts; item 0 is a int"),
        ([["a"], "b"], DtypeError, "got one string"),
        (["a"] * 6, ShapeError, "each of the input's tokens, 7; got 6"),
        ([["a"] * 7] * 3, ShapeError, "2 batch entries; got 3 lists"),
    ],
)
def test_texts_that_do_not_fit_are_refused(whole, tokens, error, fragment):
    with pytest.raises(error) as refused:
        feed(watched(tokens=tokens), whole, STEPS, ids=IDS)
    assert fragment in str(refused.value)


# printing


def test_a_listing_is_sorted_cut_and_counted(seen):
    records = seen.summary().by("first")
    assert [one.first for one in records] == sorted((one.first for one in records), reverse=True)
    assert [one.first for one in records.by("first", ascending=True)] == sorted(
        one.first for one in records
    )
    assert len(records[:3]) == 3
    assert records[0].first == records[:3][0].first
    assert repr(records[:2]).splitlines()[0].endswith("2 texts together, by first")
    assert repr(watched().summary()).endswith("0 layers: nothing")


def test_a_long_listing_says_how_much_is_left_out():
    made = watched()
    for number in range(5):
        feed(made, drawn(causal=True), number=number)
    assert repr(made.summary()).endswith("and 10 more")
    assert len(repr(made.summary()).splitlines()) == 23
    assert repr(made).splitlines()[0] == "a model: 1 run, 5 layers"
    assert "layer 4: 6 heads, 13 rows, 13 keys; lse, entropy" in repr(made)


def test_a_model_of_many_layers_prints_its_first_ones():
    made = watched()
    for number in range(11):
        feed(made, drawn(causal=True, q_len=2), number=number)
    assert repr(made).splitlines()[-1] == "  and 3 more layers"


def test_it_is_neither_pickled_nor_copied(seen):
    for refuse in (pickle.dumps, copy.copy, copy.deepcopy):
        for one in (seen, seen[0], seen[0].row(3)):
            with pytest.raises(OptionError, match=r"seen: cannot be pickled: .* to_parquet\(\)"):
                refuse(one)
    with pytest.raises(AttributeError):
        object.__new__(RowSeen).entropy  # noqa: B018 (half made, it has no layer yet)


def test_bands_of_one_call_are_rows_of_one_layer(whole):
    made = watched()
    query, key, value = whole.arrays
    for start, stop in ((0, 5), (5, 13)):
        look = sl.Lookup(query[:, :, start:stop], key, value, causal=True, q_offset=start)
        made.add("m.0", 0, "", Glance(
            whole.heads, (0, 0, 1, 1, 2, 2), 0, start, 0, look.inspect(**ASKED), keys=13
        ))  # fmt: skip
    np.testing.assert_allclose(made[0].received, exact_weights(whole).sum(axis=2), rtol=1e-5)
    assert len(list(steps_of(whole, (0, 5, 13)))) == 2

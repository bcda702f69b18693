"""Which heads and tokens come first, and what is said of each head, beside loops over weights."""

import numpy as np
import pytest
from feeding import IDS, PADDED, STEPS, drawn, exact_weights, feed, watched

from softlookup.errors import OptionError


def test_heads_are_ranked_by_what_one_row_reads(seen, whole):
    ranking = seen.rank_heads(9)
    exact = {0: exact_weights(whole), 3: exact_weights(drawn(8, causal=True))}
    rows = {(layer, head): w[0, head, 9] for layer, w in exact.items() for head in range(6)}
    order = sorted(rows, key=lambda place: -rows[place].max())
    assert [(one.layer, one.head) for one in ranking] == order
    for one in ranking:
        row = rows[one.layer, one.head]
        assert one.key == row.argmax()
        assert one.token == f" w{row.argmax()}"
        assert one.weight == pytest.approx(row.max(), rel=1e-5)
    assert list(seen.rank_heads(producing=10)) == list(ranking)
    assert list(seen.rank_heads(" w9")) == list(ranking)
    assert list(seen.rank_heads(9, batch=1)) != list(ranking)
    assert ranking.title == "heads by their largest weight in row 9 ' w9', batch 0"


def test_heads_are_ranked_by_how_much_they_read_a_key_in_one_row(seen):
    ranking = seen.rank_heads(9, reads=" w4")
    expected = {}
    for layer in seen:
        for head, keys, found in zip(layer.heads, *(x[0, :, 9] for x in layer.top), strict=True):
            expected |= {(layer.number, head): found[keys == 4][0]} if 4 in keys else {}
    assert 0 < len(expected) < 12, "a head whose top keys do not hold it is left out"
    assert {(one.layer, one.head): one.weight for one in ranking} == expected
    assert [one.weight for one in ranking] == sorted(expected.values(), reverse=True)
    assert {(one.key, one.token) for one in ranking} == {(4, " w4")}
    assert ranking.title == "heads by their weight on key 4 ' w4' in row 9 ' w9', batch 0"


def test_heads_are_ranked_by_how_much_they_read_a_key(seen, whole):
    ranking = seen.rank_heads(reads=4)
    shares = {}
    for layer, text in ((0, whole), (3, drawn(8, causal=True))):
        mean = exact_weights(text)[0, :, 4:, 4].mean(axis=-1)  # rows before it may not see it
        shares |= {(layer, head): mean[head] for head in range(6)}
    assert [(one.layer, one.head) for one in ranking] == sorted(shares, key=lambda p: -shares[p])
    for one in ranking:
        assert one.share == pytest.approx(shares[one.layer, one.head], rel=1e-5)
    assert list(seen.rank_heads(reads=" w4")) == list(ranking)


ROW, KEY = np.ogrid[:13, :13]
HIDING = {
    "window": ({"causal": True, "window": (2, None)}, {}, KEY >= ROW - 2),
    "both ways": ({"window": (2, 3)}, {}, (KEY >= ROW - 2) & (KEY <= ROW + 3)),
    "cropped cache": ({"causal": True}, {"crop": 3}, (ROW < 7) | (KEY > ROW - 3)),
}


@pytest.mark.parametrize("hiding", HIDING)
def test_means_are_over_the_rows_that_may_see_the_key(hiding):
    options, cropped, shown = HIDING[hiding]
    cuts = STEPS if "causal" in options else None
    made = feed(watched(), drawn(**options), cuts, **cropped)
    shown = shown & (KEY <= ROW) if "causal" in options else shown
    exact = exact_weights(drawn(mask=shown))
    means = exact[0].sum(axis=1) / shown.sum(axis=0)  # (heads, keys)
    for key in range(13):
        for one in made.rank_heads(reads=key):
            assert one.share == pytest.approx(means[one.head, key], rel=1e-5)
    for one in made.summary():
        both = exact[:, one.head].sum(axis=(0, 1))
        assert one.key == both.argmax()
        assert one.share == pytest.approx(both.max() / shown.sum(axis=0)[one.key] / 2, rel=1e-5)


def test_tokens_are_ranked_by_what_they_received(seen, whole):
    got = exact_weights(whole)[1].sum(axis=(0, 1))
    ranking = seen.rank_tokens(0, batch=1)
    assert [one.position for one in ranking] == np.argsort(-got).tolist()
    for one in ranking:
        assert one.token == f" w{100 + one.position}"
        assert one.received == pytest.approx(got[one.position], rel=1e-5)
        assert one.share == pytest.approx(got[one.position] / got.sum(), rel=1e-5)
    (head,) = {one.position for one in seen.rank_tokens(0, 2)[:1]}
    assert head == exact_weights(whole)[0, 2].sum(axis=0).argmax()
    both = got + exact_weights(drawn(8, causal=True))[1].sum(axis=(0, 1))
    assert [one.position for one in seen.rank_tokens(batch=1)] == np.argsort(-both).tolist()


def test_padding_is_no_token_to_rank():
    mask = ~PADDED[:, None, None]
    made = feed(watched(), drawn(causal=True, mask=mask), STEPS, padding=PADDED)
    assert {one.position for one in made.rank_tokens(batch=1)} == set(range(4, 13))


def test_a_model_of_several_parts_asks_for_one():
    made = watched()
    feed(made, drawn(1, q_len=11), part="encoder", path="e.0")
    feed(made, drawn(2, causal=True, q_len=5), part="decoder", path="d.0")
    with pytest.raises(OptionError, match=r"part: must be one of 'encoder', 'decoder'; got None"):
        made.rank_tokens()
    assert len(made.rank_tokens(part="encoder")) == 11
    assert len(made.rank_tokens(("decoder", 0))) == 5


def assert_summary(record, texts):
    """Assert the numbers of one head over several whole lookups, by loops over their rows."""
    head = record.head
    entropies, firsts, previous, got, seen_by = [], [], [], np.zeros(20), np.zeros(20)
    for w, padded in texts:
        for batch in range(len(w)):
            real = np.flatnonzero(~padded[batch])
            for row in real:
                weight = w[batch, head, row]
                positive = weight[weight > 0]
                entropies.append(-(positive * np.log(positive)).sum())
                if row > real[0]:  # the first row sees itself alone: it has no choice
                    firsts.append(weight[real[0]])
                    previous.append(weight[row - 1])
                got[real] += weight[real]
                seen_by[real[real <= row]] += 1
    assert record.entropy == pytest.approx(np.mean(entropies), rel=1e-5)
    assert record.first == pytest.approx(np.mean(firsts), rel=1e-5)
    assert record.previous == pytest.approx(np.mean(previous), rel=1e-5)
    assert record.key == got.argmax()
    assert record.share == pytest.approx(got.max() / seen_by[got.argmax()], rel=1e-5)


def test_a_summary_is_over_the_rows_of_all_runs_and_texts():
    first, second = drawn(1, causal=True, mask=~PADDED[:, None, None]), drawn(2, causal=True)
    made = feed(watched(), first, STEPS, padding=PADDED, ids=IDS)
    feed(made, second, run=1, ids=IDS)
    texts = [(exact_weights(first), PADDED), (exact_weights(second), np.zeros_like(PADDED))]
    records = made.summary()
    assert [one.head for one in records] == [0, 1, 2, 3, 4, 5]
    for record in records:
        assert_summary(record, texts)
        assert record.sink is None
        assert record.token == "", "the texts differ there"
    assert repr(records[:2]).splitlines()[-1] == "token is empty where the texts differ"
    assert "token is empty where the texts differ" in made._repr_html_()
    assert ", 2 texts together" in records.title
    assert_summary(made.run(1).summary()[4], texts[1:])
    assert "2 runs, 1 layer" in repr(records)


def test_rows_at_padding_and_rows_that_see_nothing_are_in_no_mean():
    """In a right-padded batch rows at padding read real keys; here row 3 sees no key at all."""
    mask = np.ones((2, 1, 13, 13), bool)
    mask[1, :, :, 9:] = False
    mask[0, :, 3] = False
    padded = np.arange(13) >= np.array([13, 9])[:, None]
    whole = drawn(mask=mask)
    made = feed(watched(), whole, padding=padded, asked={"entropy": True, "top": 3})
    exact = exact_weights(whole)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(exact > 0, exact * np.log(exact), 0).sum(axis=-1)
    rows = [(0, row) for row in range(13) if row != 3] + [(1, row) for row in range(9)]
    for record in made.summary():
        mean = np.mean([entropy[batch, record.head, row] for batch, row in rows])
        assert record.entropy == pytest.approx(mean, rel=1e-5)
        before = [exact[batch, record.head, row, row - 1] for batch, row in rows if row]
        assert record.previous == pytest.approx(np.mean(before), rel=1e-5)


def test_one_text_names_its_strongest_key(whole):
    one = whole._replace(arrays=tuple(array[:1] for array in whole.arrays))
    made = feed(watched(), one, ids=IDS[:1])
    for record in made.summary():
        assert record.token == f" w{record.key}"
    assert not made.summary().note


def test_only_the_rows_that_count_are_in_the_means_of_what_is_received(whole):
    chosen = np.arange(13) >= 10
    made = feed(watched(), whole, STEPS, asked={"received": True, "from_rows": chosen})
    exact = exact_weights(whole)[:, :, 10:]
    (strongest,) = [one for one in made.rank_heads(reads=11) if one.head == 2]
    assert strongest.share == pytest.approx(exact[0, 2, 1:, 11].mean(), rel=1e-5)


def test_what_was_not_looked_at_is_no_column():
    made = feed(watched(), drawn(causal=True), asked={"entropy": True}, shares=False)
    (record, *_) = made.summary()
    assert (record.first, record.previous, record.key, record.share) == (None,) * 4
    assert repr(made.summary()).splitlines()[1].split() == ["layer", "head", "entropy"]


def test_a_sink_has_its_share():
    whole = drawn(causal=True, sinks=np.ones(6, np.float32))
    made = feed(watched(), whole, STEPS, asked={"sink": True})
    mean = (1 - exact_weights(whole).sum(axis=-1)).mean(axis=(0, 2))
    assert [one.sink for one in made.summary()] == pytest.approx(mean.tolist(), rel=1e-4)

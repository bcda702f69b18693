"""Each planted fact is found by its map: by the strongest links, by blocks, on every level."""

import numpy as np
import pytest

from planted_places import planted


@pytest.fixture(params=[2048, pytest.param(3001, id="ragged")], scope="module")
def found(request):
    """Return the map of layer 0, and where its facts lie."""
    capture, places = planted(request.param)
    return capture.lookup(0, 0).map(), places


def test_the_needle_is_the_strongest_link_of_all_that_choose(found):
    the, places = found
    everywhere = the.strongest(k=2)
    assert (everywhere[0].query, everywhere[0].key) == (0, 0)  # it sees itself alone
    (best,) = the.strongest(rows=slice(1, None))
    assert everywhere[1] == best
    assert (best.query, best.key) == places.needle
    assert best.weight == pytest.approx(places.weight, abs=1e-5)
    assert the.at(*places.needle) == pytest.approx(places.weight, abs=1e-12)


def test_every_level_shows_the_needle_in_its_cell(found):
    the, places = found
    for level in the.levels:
        row, column = (place // 2**level for place in places.needle)
        cell = the.level(level).max[row, column]
        assert cell == pytest.approx(places.weight if row else 1.0, abs=1e-5)


def test_the_block_around_the_needle_names_it(found):
    the, places = found
    query, key = places.needle
    block = the.block(slice(query - 37, query + 23), slice(key - 11, key + 70))
    assert (block.query, block.key) == places.needle
    assert block.max == pytest.approx(places.weight, abs=1e-5)
    without = the.block(slice(query - 37, query), slice(key - 11, key + 70))
    assert without.max < 0.1


def test_every_query_of_the_copied_span_reads_the_key_it_repeats(found):
    the, places = found
    for query in (places.copy[0], places.copy[1], places.copy[len(places.copy) // 2],
                  places.copy[-1]):  # fmt: skip
        (best,) = the.strongest(rows=query)
        assert (best.query, best.key) == (query, query - places.distance)
        assert 0.7 < best.weight < 0.9
    (before,) = the.strongest(rows=places.copy[0] - 1)
    assert before.key != places.copy[0] - 1 - places.distance


def test_the_copied_span_is_a_stripe_of_the_stored_level(found):
    the, places = found
    stored = the.level(5).max
    stripe = {(query // 32, (query - places.distance) // 32) for query in places.copy}
    dark = {tuple(cell) for cell in np.argwhere(stored > 0.7).tolist()}
    first = {(row, column) for row, column in dark if column <= 1 and row <= 1}
    needle = tuple(place // 32 for place in places.needle)
    assert dark - first == stripe | {needle}


def test_the_strongest_links_of_the_span_are_the_stripe(found):
    the, places = found
    rows = slice(places.copy.start, places.copy.stop)
    links = the.strongest(rows, k=len(places.copy))
    assert {(link.query, link.key) for link in links} == {
        (query, query - places.distance) for query in places.copy
    }
    weights = [link.weight for link in links]
    assert weights == sorted(weights, reverse=True)


def test_the_others_read_the_first_token(found):
    the, places = found
    last = places.copy.stop
    column = the.block(slice(last, places.needle[0]), slice(0, 1))
    assert column.share == pytest.approx(0.3, abs=0.03)
    assert column.key == 0
    beside = the.block(slice(last, places.needle[0]), slice(1, 2))
    assert beside.share < 0.01
    copied = the.block(slice(places.copy.start, places.copy.stop), slice(0, 1))
    assert copied.share < 0.01


def test_the_second_layer_is_seen_through_a_window():
    capture, places = planted(3001)
    the, (left, _) = capture.lookup(1, 0).map(), places.window
    inside = the.block(slice(2000, 2001), slice(2000 - left, 2001))
    assert (inside.seen, inside.share) == (left + 1, pytest.approx(1, abs=1e-6))
    outside = the.block(slice(2000, 2001), slice(0, 2000 - left))
    assert (outside.seen, outside.max, outside.share, outside.query) == (0, 0, 0, -1)
    stored = the.level(5)
    rows, columns = np.indices(stored.seen.shape)
    expected = (columns <= rows) & (32 * columns + 31 >= 32 * rows - left)
    assert (stored.seen == expected).all()


@pytest.mark.slow
def test_the_needle_is_found_among_a_hundred_thousand_tokens():
    capture, places = planted(100_000)
    the = capture.lookup(0, 0).map()
    (best,) = the.strongest(rows=slice(1, None))
    assert (best.query, best.key) == (87_654, 12_345) == places.needle
    assert best.weight == pytest.approx(places.weight, abs=1e-5)
    (copied,) = the.strongest(rows=57_000)
    assert copied.key == 27_000
    assert the.block(slice(90_000, 95_000), slice(0, 1)).share == pytest.approx(0.3, abs=0.02)
    assert the.level(the.levels[-1]).share[0, 0] == pytest.approx(1, abs=1e-5)

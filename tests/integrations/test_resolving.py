"""A mask's rule is the same where it is worked out with one wait, on a GPU, as in memory."""

import pytest

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from softlookup.integrations import resolving  # noqa: E402 (they need torch)
from softlookup.integrations.masks import LazyMask  # noqa: E402

pytestmark = pytest.mark.models
FUNCTIONS = {
    "all": lambda b, h, i, j: (i >= 0) & (j >= 0),
    "causal": lambda b, h, i, j: j <= i,
    "window": lambda b, h, i, j: (j <= i) & (j > i - 3),
    "both ways": lambda b, h, i, j: (j - i).abs() <= 2,
    "ahead": lambda b, h, i, j: (j <= i + 2) & (j >= 0),
    "prefix": lambda b, h, i, j: (j <= i) | (j < 4),
    "chunks": lambda b, h, i, j: (j <= i) & (i // 4 == j // 4),
    "nothing": lambda b, h, i, j: (j < 0) & (i >= 0),
    "none at first": lambda b, h, i, j: (j <= i) & (i > 1),
    "by text": lambda b, h, i, j: (j <= i) & (j > b),
}
SIZES = {"square": (7, 7, 0, 0), "step": (1, 9, 8, 0), "slots": (5, 11, 2, 0), "cut": (2, 5, 9, 6)}


def mask_of(function, sizes, over_tokens=None):
    q_len, kv_len, start, key_start = sizes
    return LazyMask({
        "batch_size": 2, "q_length": q_len, "kv_length": kv_len, "q_offset": start,
        "kv_offset": key_start, "mask_function": function, "attention_mask": over_tokens,
    })  # fmt: skip


@pytest.mark.parametrize("band", [2**24, 10])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_found_is_what_comparing_finds(name, sizes, band, monkeypatch):
    monkeypatch.setattr(resolving, "_PAIRS", band)
    mask = mask_of(FUNCTIONS[name], SIZES[sizes])
    q_len, kv_len, start, key_start = SIZES[sizes]
    device = torch.device("cpu")
    found = resolving.resolve(mask._shown, (q_len, kv_len), start - key_start, device, None)
    left, right, fits, last, ahead = mask._compared(start - key_start)
    assert found.allowed is None
    assert (found.fits, found.last, found.ahead) == (fits, last, ahead)
    if fits:
        assert (found.left, found.right) == (left, right)


@pytest.mark.parametrize("positions", [9, 6])
def test_the_mask_over_tokens_comes_with_it(positions):
    over = torch.tensor([[1] * positions, [0, 0] + [1] * (positions - 2)])
    mask = mask_of(FUNCTIONS["causal"], (7, 7, 0, 0), over)
    found = resolving.resolve(mask._shown, (7, 7), 0, torch.device("cpu"), over)
    assert found.allowed.tolist() == over.bool().tolist()
    part = resolving.part_of(over, 1, 7)
    assert part.tolist() == resolving.host_part_of(found.allowed, 1, 7).tolist()

"""What stands for a mask is a tensor: everything done to it is done to the model's own mask."""

import copy
import io
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from transformers import masking_utils as theirs  # noqa: E402 (it needs torch)

from softlookup.integrations.masks import LazyMask  # noqa: E402
from softlookup.integrations.unmade import UnmadeMask, handed, own_of, rule_of  # noqa: E402

pytestmark = pytest.mark.models
ALLOWED = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]).bool()


def asked(**more):
    return {
        "batch_size": 2, "q_length": 5, "kv_length": 5, "q_offset": 0, "kv_offset": 0,
        "mask_function": theirs.causal_mask_function, "attention_mask": ALLOWED,
        "dtype": torch.bfloat16, **more,
    }  # fmt: skip


def masks(function):
    """Return what stands for a mask, and the mask itself."""
    return handed(LazyMask(asked(), function)), function(**asked())


def saved(mask):
    file = io.BytesIO()
    torch.save(mask, file)
    file.seek(0)
    return torch.load(file)


def without_overrides(mask):
    with torch._C.DisableTorchFunctionSubclass():
        return torch.flip(mask, [0])


ANY = {
    "cat": lambda m: torch.cat([m, m], -1),
    "cat of one": lambda m: torch.cat([m], 0),
    "stack": lambda m: torch.stack([m, m]),
    "vstack": lambda m: torch.vstack((m, m)),
    "equal to 0": lambda m: m == 0,
    "equal to False": lambda m: m == False,  # noqa: E712 (as models write it)
    "not equal": lambda m: m != m[..., :1],
    "times a number": lambda m: m * 1.0,
    "plus a number": lambda m: m + 1,
    "plus a tensor": lambda m: m + torch.ones(5, 5),
    "a tensor plus it": lambda m: torch.ones(5, 5) + m,
    "chosen by it": lambda m: torch.where(m.bool(), 0.5, 2.0),
    "length": len,
    "shape": lambda m: (m.shape, m.size(), m.size(-1), m.dim(), m.ndim, m.numel()),
    "kind": lambda m: (m.dtype, m.device, m.layout, m.is_floating_point(), m.requires_grad),
    "is a tensor": lambda m: (isinstance(m, torch.Tensor), torch.is_tensor(m)),
    "one part": lambda m: m[1, 0, 2:, :4],
    "parts by numbers": lambda m: m[:, :, torch.tensor([3, 1])],
    "parts by bools": lambda m: m[:, 0, 0][ALLOWED],
    "new axis": lambda m: m[:, None],
    "rows one by one": lambda m: [*m],
    "another dtype": lambda m: (m.to(torch.float64), m.float(), m.type(torch.int32), m.int()),
    "another shape": lambda m: (m.expand(3, 2, 1, 5, 5), m.view(-1), m.flatten(1), m.mT),
    "numbers": lambda m: m.tolist(),
    "pickled": lambda m: pickle.loads(pickle.dumps(m)),  # noqa: S301 (its own)
    "saved": saved,
    "copied": lambda m: (copy.copy(m), copy.deepcopy(m), m.clone()),
    "like it": torch.zeros_like,
    "mapped": torch.vmap(lambda one: one * 2),
    "where no override counts": without_overrides,
    "by its operator": lambda m: torch.ops.aten.flip(m, [0]),
    "truth": lambda m: (bool(m.any()), m.all().item(), 0 in m),
    "told": repr,
    "by name": lambda m: torch.add(input=torch.ones(1), other=m),
    "out": lambda m: torch.mul(m, True, out=torch.empty(0, dtype=m.dtype)),
}
OF_BOOLS = {
    "not": lambda m: ~m,
    "and": lambda m: m & m,
    "or": lambda m: m | ALLOWED[:, None, :, None],
    "as an array": lambda m: np.asarray(m).tolist(),
    "xor": lambda m: m ^ True,
    "logical": lambda m: torch.logical_and(torch.logical_not(m), m),
    "filled": lambda m: torch.ones(2, 1, 5, 5).masked_fill(~m, -1),
}
OF_FLOATS = {
    "lowest": lambda m: torch.finfo(m.dtype).min,
    "from 1": lambda m: 1.0 - m,
    "negative": lambda m: -m,
    "compared": lambda m: (m < 0, m >= 0),
}
SHARING = {
    "not equal", "one part", "parts by bools", "new axis", "rows one by one", "another shape",
    "as an array",
}  # fmt: skip
CASES = [
    (kind, name, verb)
    for kind, verbs in (("sdpa", ANY | OF_BOOLS), ("eager", ANY | OF_FLOATS))
    for name, verb in verbs.items()
]


def assert_same(found, expected):
    """Assert that two results are the same, tensors bit for bit."""
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, torch.Tensor):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert torch.equal(own_of(found), expected)
    else:
        assert found == expected


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize(("kind", "name", "verb"), CASES)
def test_what_is_done_to_it_is_done_to_the_models_own(kind, name, verb, mode):
    with mode():
        mask, own = masks(getattr(theirs, f"{kind}_mask"))
        assert isinstance(mask, UnmadeMask)
        assert_same(verb(mask), verb(own))
        # What shares its memory may be written to where torch does not count it.
        assert isinstance(rule_of(mask), LazyMask) == (name not in SHARING)


STAYING = {
    "the same dtype": lambda m: m.to(m.dtype),
    "the same device": lambda m: m.to("cpu", non_blocking=True),
    "both": lambda m: m.to(device="cpu", dtype=m.dtype),
    "its type": lambda m: m.type(m.dtype),
    "all of it": lambda m: m[:, :, :, :5],
    "every row": lambda m: m[..., :9, :],
    "the same shape": lambda m: m.expand(2, -1, 5, 5),
    "viewed so": lambda m: m.view(2, 1, 5, 5).reshape(2, 1, 5, 5),
    "in order": lambda m: m.contiguous(),
    "a copy": lambda m: m.clone(),
}


@pytest.mark.parametrize("name", STAYING)
@pytest.mark.parametrize("kind", ["sdpa", "eager"])
def test_what_leaves_it_as_it_is_leaves_it_unmade(kind, name):
    mask, own = masks(getattr(theirs, f"{kind}_mask"))
    found = STAYING[name](mask)
    assert mask.made is None
    assert found.made is None
    assert isinstance(rule_of(found), LazyMask)
    assert_same(found, STAYING[name](own))


def by_index(mask):
    mask[:, :, 2, 1] = 0


def by_view(mask):
    mask[1].view(-1)[3:6].zero_()


def by_operator(mask):
    mask *= False


def by_out(mask):
    torch.mul(mask, False, out=mask)


def by_data(mask):
    mask.data.fill_(0)


def by_array(mask):
    mask.view(torch.int16 if mask.dtype == torch.bfloat16 else torch.uint8).numpy()[0, 0] = 0


def by_its_copy_in_order(mask):
    mask.contiguous()[0, 0, 4, 2] = 0


def by_no_override(mask):
    with torch._C.DisableTorchFunctionSubclass():
        mask.fill_(0)


WRITING = (by_index, by_view, by_operator, by_out, by_data, by_its_copy_in_order, by_no_override)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("write", WRITING)
@pytest.mark.parametrize("kind", ["sdpa", "eager"])
def test_what_is_written_to_it_stays(kind, write, mode):
    with mode():
        mask, own = masks(getattr(theirs, f"{kind}_mask"))
        other = mask[...]
        write(mask)
        write(own)
        for one in (mask, other):
            assert isinstance(rule_of(one), torch.Tensor)
            assert torch.equal(rule_of(one), own)
            assert torch.equal(own_of(one), own)


def test_a_copy_is_not_written_to():
    mask, own = masks(theirs.eager_mask)
    mask.clone().zero_()
    assert isinstance(rule_of(mask), LazyMask)
    assert torch.equal(own_of(mask), own)


def test_a_gradient_for_it_makes_it_a_tensor_like_any_other():
    mask = handed(LazyMask(asked(dtype=torch.float32), theirs.eager_mask))
    rule_of(mask.requires_grad_())
    assert rule_of(mask).requires_grad


def test_none_is_handed_out_where_the_models_own_is_none():
    whole = asked(attention_mask=torch.ones(2, 5, dtype=torch.bool))
    assert handed(LazyMask(whole, theirs.sdpa_mask)) is None
    assert handed(LazyMask(whole, None)) is None
    assert handed(LazyMask(whole | {"allow_is_causal_skip": False}, theirs.sdpa_mask)) is not None
    assert handed(LazyMask(whole, theirs.eager_mask)) is not None
    both_ways = {"mask_function": theirs.bidirectional_mask_function}
    both_ways |= {"allow_is_bidirectional_skip": True}
    assert handed(LazyMask(whole | both_ways, theirs.eager_mask)) is None


def test_the_mask_of_a_function_of_the_callers_own_is_handed_out_as_it_is():
    mask = torch.rand(2, 1, 5, 5)
    assert handed(LazyMask(asked(), lambda **_: mask)) is mask

"""What a check of a GPU allows: a right kernel keeps to it with room, and no plain fault does.

The right kernel is worked out here as a GPU does it, scores and sums in float32, weights and what
flows back through them rounded to the inputs' dtype, for every lookup that the check draws in 16
bits, at its own size but for the largest.
"""

import sys

import pytest
import torch

from documented import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from gpu_check import checks, exact, lookups, session

ROOM = 0.5  # of what is allowed
TILE = 64
DRAWN = [
    case
    for case in (*lookups.CASES, *lookups.LAID_OVER, *lookups.TORCHS)
    if case.dtype != "float32" and case.lengths[0] * case.lengths[1] < 400_000
]
SLOPES = [(case, True) for case in checks.SLOPES if case in DRAWN]
SLOPES += [(case, False) for case in lookups.TORCHS]


@pytest.fixture
def real(monkeypatch):
    """Return a session that draws what it draws for a GPU."""
    monkeypatch.setattr(session.Session, "device", "cpu")
    return session.Session(7)


def end(length):
    """Return how much the last tile holds."""
    return length % TILE or TILE


def spread(x, made):
    """Return keys or values as every query head sees them, in float64."""
    return x.double().repeat_interleave(made.query.shape[1] // made.key.shape[1], 1)


def folded(x, made):
    return x.unflatten(1, (made.key.shape[1], -1)).sum(2)


def answers(made, found, *, dtype=torch.float64, lost=0):
    """Return out and lse of a kernel that rounds its weights to `dtype` and loses `lost` keys."""
    scores = found.scores.double()
    scores[..., scores.shape[-1] - lost :] = -torch.inf
    lse = scores.logsumexp(-1)
    if found.sinks is not None:
        lse = torch.logaddexp(lse, found.sinks.double()[:, None])
    empty = (lse == -torch.inf)[..., None]
    peak = scores.amax(-1, keepdim=True).clamp(min=-1e30)
    exps = torch.exp(scores - peak).to(dtype).double()
    factor = torch.where(empty, 0, torch.exp(peak - lse[..., None]))
    out = exps @ spread(made.value, made).nan_to_num(0.0, 0.0, 0.0) * factor
    return torch.where(found.out.isnan(), torch.nan, out), lse


@pytest.mark.parametrize("case", DRAWN, ids=lambda case: case.name)
def test_a_right_answer_has_room_and_a_wrong_one_is_found(case, real):
    made = case.make(real)
    found, naive, narrow = checks.expected(real, made)
    allowed = checks.allowed(made, found, naive)
    of_lse = exact.budget(found.lse, narrow.lse, exact.COARSE, exact.loudest(found))
    right, lse = answers(made, narrow, dtype=made.query.dtype)
    assert exact.error(right.to(made.query.dtype), found.out, allowed) < ROOM
    assert exact.error(lse, found.lse, of_lse) < ROOM
    for wrong in (0 * found.out, found.out / 2, 0.9 * found.out, found.out.roll(1, 1)):
        assert exact.error(wrong, found.out, allowed) > 2
    lost = end(made.key.shape[-2])
    if not found.visible[..., -lost:].any():
        return
    out, lse = answers(made, found, lost=lost)
    assert exact.error(lse, found.lse, of_lse) > 4
    if lost > made.key.shape[-2] / 64:  # of fewer only the lse tells for sure
        assert exact.error(out, found.out, allowed) > 2


def flows(made, found, grads, out):
    """Return the weights, and what flows back to the scores before the cap."""
    grad = torch.where(torch.isfinite(found.out), grads[0].double(), 0)
    delta = (grad * out.double()).sum(-1)
    if len(grads) > 1:
        delta -= torch.where(torch.isfinite(found.lse), grads[1].double(), 0)
    flow = found.weights.double() * (
        grad @ spread(made.value, made).transpose(-1, -2) - delta[..., None]
    )
    if "softcap" in made.options:
        inner = made.query.double() @ spread(made.key, made).transpose(-1, -2) * scale(made)
        flow = flow * (1 - torch.tanh(inner / made.options["softcap"]) ** 2)
    return found.weights.double(), flow, grad


def scale(made):
    return made.options.get("scale", made.query.shape[-1] ** -0.5)


def slopes(made, flowing, rows=None, keys=None):
    """Return what reaches query, key and value from rows before `rows`, and keys before `keys`."""
    weights, flow, grad = flowing
    query, key = made.query.double(), spread(made.key, made)
    by_row, by_key = flow[..., :keys], flow[..., :rows, :].transpose(-1, -2)
    read = weights[..., :rows, :].transpose(-1, -2)
    return {
        "query": by_row @ key[..., :keys, :] * scale(made),
        "key": folded(by_key @ query[..., :rows, :] * scale(made), made),
        "value": folded(read @ grad[..., :rows, :], made),
    }


@pytest.mark.parametrize(("case", "own"), SLOPES, ids=lambda x: getattr(x, "name", None))
def test_right_gradients_have_room_and_wrong_ones_are_found(case, own, real):
    made, dtype = case.make(real), torch.bfloat16
    shape = made.query.shape[:-1]
    grads = [real.draw(*shape, made.value.shape[-1]), real.draw(*shape, dtype=torch.float32)]
    grads = grads[: 1 + own]
    found, _, narrow = checks.expected(real, made)
    allowed = checks.slopes_allowed(made, grads)
    out = answers(made, narrow, dtype=dtype)[0].to(dtype)
    weights, flow, grad = flows(made, narrow, grads, out)
    right = slopes(made, (weights.to(dtype).double(), flow.to(dtype).double(), grad))
    exactly = flows(made, found, grads, found.out.nan_to_num())
    rows, keys = (-end(x.shape[-2]) if x.shape[-2] > 1 else None for x in (made.query, made.key))
    parts = slopes(made, exactly, rows, keys)
    for name, whole in slopes(made, exactly).items():
        known, budgets = allowed[name]
        assert exact.error(whole, known, 1e-9) < 1
        assert exact.error(right[name].to(dtype), known, budgets) < ROOM
        unwritten = known.clone()
        unwritten[..., (rows if name == "query" else keys) or 0 :, :] = 0
        wrong = [0 * known, known / 2, 0.9 * known, unwritten]
        wrong += [known.roll(1, 1)] if known.shape[1] > 1 else []
        wrong += [parts[name]] if rows or name == "query" else []
        for each in wrong:
            assert exact.error(each, known, budgets) > 1.5, name


@pytest.mark.parametrize("case", [c for c in checks.FACTS if c in DRAWN], ids=lambda c: c.name)
def test_wrong_facts_are_found(case, real):
    made = case.make(real)
    found, _, narrow = checks.expected(real, made)
    asked, kv_heads = checks.facts_asked(real, made), made.key.shape[1]
    near = exact.facts(narrow, kv_heads, made.options, asked)
    readers = exact.readers(found, kv_heads, asked["from_rows"])
    for name, whole in exact.facts(found, kv_heads, made.options, asked).items():
        budget = exact.budget(whole, near[name], exact.COARSE, exact.loudest(found))
        wrong = [0 * whole, whole / 2, 0.99 * whole] if name != "max_score" else [0.99 * whole]
        wrong += [whole.roll(1, 1)] if whole.shape[1] > 1 else []
        if name in readers:
            wrong.append(whole * readers[name] / (readers[name] + 1))
        for each in wrong:
            error = exact.error(each.nan_to_num(0.0, 0.0, 0.0), whole.nan_to_num(0.0, 0.0, 0.0))
            assert error > 1.2 * budget, name

"""The check of a GPU, dry: it finds what is wrong, loses nothing, says what was not measured."""

import json
import os
import subprocess
import sys

import pytest
import torch
from test_cuda_torch import stand_in_for

from documented import ROOT
from softlookup.backends import cuda
from softlookup.backends.triton import careful, torch_kernels
from softlookup.device import DeviceArray

sys.path.insert(0, str(ROOT / "tools"))

from gpu_check import checks, lookups, parts, poison, session, supervision, torchs

COMMAND = ["sh", str(ROOT / "tools" / "gpu_check.sh")]


def check(*words, **environment):
    """Run the command as on a GPU machine: from src/ alone."""
    return subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHON": sys.executable} | environment,
    )


@pytest.fixture
def dry():
    """Return a session on tiny inputs, and the list that its findings go to."""
    found = []
    made = session.Session(7, dry=True, say=found.append)
    made.begin("here")
    return made, found


def named(found, status="wrong"):
    return {each["name"].split(": ")[-1] for each in found if each.get("status") == status}


ALIKE = ("time: long", "time: short", "time: 64 dims", "time: Hopper, long")  # to others, when dry


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize(
    "part", [part.name for part in parts.PARTS if not part.name.startswith(ALIKE)]
)
def test_every_part_runs_dry_and_finds_nothing_wrong(part, dry):
    made, found = dry
    (chosen,) = (each for each in parts.PARTS if each.name == part)
    made.begin(part)
    chosen.run(made)
    amiss = [each for each in found if each.get("status") in ("wrong", "failed")]
    assert amiss == []
    untimed = [each for each in found if each["kind"] == "untimed"]
    assert [each["words"] for each in untimed if "Hopper" not in each["runner"]] == []
    unrefused = [each for each in found if each.get("status") != "refused"]
    assert unrefused or "cuda-" in part or part == "time: memory"
    assert not any(each["figure"] for each in found if each["kind"] == "aim")


def test_the_command_prints_a_short_table_and_writes_everything(tmp_path):
    file = tmp_path / "check.json"
    done = check("--dry", "--json", str(file), "--seed", "7", "--only", "weights; time: decode")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) <= 40
    assert "everything that was checked is right" in done.stdout
    told = json.loads(file.read_text(encoding="utf-8"))
    assert (told["dry"], told["whole"], told["seed"]) == (True, False, 7)
    assert [part["status"] for part in told["parts"]] == ["done", "done"]
    assert {each["status"] for each in told["checks"]} == {"ok"}
    assert all(aim["met"] is None for aim in told["aims"])


def test_what_it_needs_is_named_in_one_line(tmp_path):
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    (tmp_path / "python").chmod(0o755)
    done = check("--dry", PYTHON=str(tmp_path / "python"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "it lacks numpy, ml_dtypes, torch, triton" in done.stderr


def test_a_machine_without_a_gpu_is_told_so():
    done = check()
    assert done.returncode == 2
    assert done.stderr.startswith("gpu_check: there must be a CUDA GPU")


def test_an_unknown_part_is_named():
    done = check("--dry", "--only", "forwards")
    assert "got 'forwards'" in done.stderr
    assert done.returncode == 1


def spoilt(monkeypatch, change):
    """Let the forward of `cuda` return what `change` makes of its findings."""
    forward = cuda.forward
    monkeypatch.setattr(cuda, "forward", lambda *given: change(forward(*given)))


def with_rows(found, **changes):
    return found._replace(rows=found.rows._replace(**changes))


def scaled(array, by):
    return DeviceArray(array.tensor * by)


BROKEN = {
    "out": lambda found: found._replace(out=scaled(found.out, 1.02)),
    "lse": lambda found: found._replace(lse=scaled(found.lse, 1.0002)),
    "entropy": lambda found: with_rows(found, entropy=scaled(found.rows.entropy, 1.0002)),
    "max_score": lambda found: with_rows(found, max_score=scaled(found.rows.max_score, 1.0002)),
    "top, positions": lambda found: with_rows(
        found, top_keys=DeviceArray(found.rows.top_keys.tensor.flip(-1))
    ),
    "top, weights": lambda found: with_rows(
        found, top_weights=scaled(found.rows.top_weights, 1.001)
    ),
    "received": lambda found: found._replace(received=scaled(found.received, 1.001)),
}


@pytest.mark.parametrize("fact", BROKEN)
def test_a_broken_fact_is_found(fact, dry, monkeypatch):
    made, found = dry

    def change(findings):
        asked = findings.rows.entropy is not None or fact == "out"
        return BROKEN[fact](findings) if asked else findings

    spoilt(monkeypatch, change)
    if fact in {"received", "top, weights"}:
        checks.facts(made)
    else:
        checks.forward(made, "cuda", lookups.named("causal"))
    assert fact in named(found)


def test_a_small_answer_of_one_query_is_held_against_its_own_size(dry, monkeypatch):
    made, found = dry
    spoilt(monkeypatch, lambda given: given._replace(out=scaled(given.out, 0.994)))
    checks.forward(made, "cuda", lookups.named("one query"))
    assert named(found) == {"out"}


def test_a_first_row_that_is_not_received_is_found(dry, monkeypatch):
    made, found = dry
    forward = cuda.forward

    def lose(problem, facts):
        findings = forward(problem, facts)
        if facts.from_rows is not None or findings.received is None:
            return findings
        return findings._replace(received=scaled(findings.received, 0.98))

    monkeypatch.setattr(cuda, "forward", lose)
    checks.facts(made)
    assert named(found) == {"received of every row"}


@pytest.fixture
def torchs_own(monkeypatch):
    return stand_in_for(monkeypatch, "cudnn")


def test_both_of_torchs_kernels_are_checked(dry, torchs_own):
    made, found = dry
    torchs.check(made)
    assert {each["status"] for each in found} == {"ok"}
    assert set(torchs_own.calls) == {"cudnn", "flash", "cudnn_backward", "flash_backward"}
    assert {"a row of -inf, out", "a row of -inf, lse"} <= named(found, "ok")


def test_an_lse_of_base_2_is_found(dry, torchs_own, monkeypatch):
    made, found = dry
    forward = torch_kernels.run_forward

    def of_base_2(way, call):
        out, lse = forward(way, call)
        return out, lse * 1.4427

    monkeypatch.setattr(torch_kernels, "run_forward", of_base_2)
    torchs.check(made)
    assert named(found) == {"lse"}  # the row of -inf is computed again, by our kernel


def test_an_empty_row_as_torchs_kernel_leaves_it_is_found(dry, torchs_own, monkeypatch):
    made, found = dry
    monkeypatch.setattr(careful, "answer_again", lambda *_: None)
    torchs.check(made)
    assert named(found) == {"a row of -inf, out", "a row of -inf, lse"}


@pytest.mark.parametrize("dims", [64, 128, 256])
def test_masks_and_biases_are_checked_for_every_width_over_many_tiles(dims):
    cases = [case for case in lookups.LAID_OVER if min(case.lengths) >= 1_024]
    assert any("mask and bias" in case.name and case.dims == (dims, dims) for case in cases)


def test_facts_that_change_the_answer_are_found(dry, monkeypatch):
    made, found = dry
    spoilt(
        monkeypatch,
        lambda given: (
            given
            if given.rows.entropy is None
            else given._replace(
                out=DeviceArray(torch.nextafter(given.out.tensor, given.out.tensor + 1))
            )
        ),
    )
    checks.forward(made, "cuda", lookups.named("causal"))
    assert "out with facts" in named(found)


def test_a_row_that_is_not_written_is_found(dry, monkeypatch):
    made, found = dry

    def unwritten(given):
        given.out.tensor[..., -1, :] = torch.empty(given.out.tensor.shape[-1])
        return given

    spoilt(monkeypatch, unwritten)
    checks.forward(made, "cuda", lookups.named("causal"))
    assert "out" in named(found)


def test_a_broken_gradient_is_found(dry, monkeypatch):
    made, found = dry
    backward = cuda.backward

    def changed(*given, **asked):
        gradients = backward(*given, **asked)
        return gradients._replace(key=scaled(gradients.key, 1.05))

    monkeypatch.setattr(cuda, "backward", changed)
    checks.backward(made, "cuda")
    assert named(found) == {"d key"}


def test_a_broken_map_and_broken_weights_are_found(dry, monkeypatch):
    made, found = dry
    pooled, weights = cuda.pooled, cuda.weights

    def smaller(problem, bands):
        given = pooled(problem, bands)
        return given._replace(max=scaled(given.max, 0.999))

    monkeypatch.setattr(cuda, "pooled", smaller)
    monkeypatch.setattr(cuda, "weights", lambda *given: scaled(weights(*given), 0.999))
    checks.maps(made)
    checks.weights(made)
    assert {"level 5, max", "causal"} <= named(found)


def test_a_refusal_of_cuda_is_wrong_and_one_of_another_is_told(dry, monkeypatch):
    made, found = dry
    monkeypatch.setattr(cuda, "unsupported", lambda problem, facts: "The moon is not full.")
    checks.forward(made, "cuda", lookups.named("causal"))
    assert [each["status"] for each in found] == ["wrong"]
    made.refuse("cuda-hopper", "It is Monday.")
    assert found[-1]["status"] == "refused"


def test_memory_that_nobody_wrote_is_poisoned():
    with poison.poisoned():
        floats, whole = torch.empty(3), torch.empty_like(torch.zeros(2, dtype=torch.int64))
        assert floats.isnan().all()
        assert (whole == poison.POISON).all()
        assert torch.zeros(2).tolist() == [0, 0]
    assert torch.empty is poison.MAKERS[0][0].empty
    assert "made" not in torch.empty.__name__


def test_everything_is_compiled_once_and_by_processes_side_by_side(monkeypatch):
    started = []

    def start(names, seed, *, dry, warming, share=(0, 1), words=None):
        started.append((*names, share))
        return subprocess.Popen([sys.executable, "-c", "pass"], text=True)

    monkeypatch.setattr(supervision, "_start", start)
    supervision.warm_up({"one": 1, "many": 3}, 7, limit=60)
    assert started == [("one", (0, 1)), ("many", (0, 3)), ("many", (1, 3)), ("many", (2, 3))]
    shares = [session.Session(7, dry=True, warming=True, share=(n, 3)) for n in range(3)]
    found = [case for each in shares for case in lookups.chosen(each, lookups.CASES)]
    assert sorted(case.name for case in found) == sorted(c.name for c in lookups.CASES if c.tiny)


def test_warming_up_says_nothing():
    found = []
    made = session.Session(7, dry=True, warming=True, share=(0, 1), say=found.append)
    made.begin("weights")
    checks.weights(made)
    assert found == []

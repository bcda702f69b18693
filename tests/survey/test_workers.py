"""Workers: processes of a real cluster, of which one is killed; what they refuse; what is said."""

import multiprocessing
import os
import signal
import subprocess
import sys

import pytest

import softlookup as sl
from softlookup.errors import BackendError, FileError, PackageError
from softlookup.surveys import cluster
from softlookup.surveys.corpus import read_corpus
from softlookup.surveys.packages import versions
from softlookup.surveys.settings import Settings
from softlookup.surveys.work import Job, work

pytestmark = pytest.mark.models
distributed = pytest.importorskip("distributed", reason="models (make models installs it)")


@pytest.fixture
def many(tmp_path, written):
    return written(tmp_path / "many.jsonl", [
        {"text": f"the bank of the river {'the ' * (i % 7)}"} if i % 5 else "bad" for i in range(24)
    ])  # fmt: skip


def test_a_worker_that_is_killed_costs_nothing(tiny_model, many, tmp_path, assert_same):
    whole, out, killed = tmp_path / "whole", tmp_path / "out", []
    sl.survey(tiny_model, many, whole, workers=0, lines=3)

    def progress(done, of):
        if 0 < done < of and not killed:
            (first, *_) = multiprocessing.active_children()
            os.kill(first.pid, signal.SIGKILL)
            killed.append(first.pid)

    found = sl.survey(tiny_model, many, out, workers=2, lines=3, progress=progress)
    assert killed
    assert found.whole
    assert [one.line for one in found.skipped] == [1, 6, 11, 16, 21]
    assert_same(whole, out)


def test_the_workers_of_a_scheduler_do_it(tiny_model, many, tmp_path, assert_same):
    whole, out = tmp_path / "whole", tmp_path / "out"
    sl.survey(tiny_model, many, whole, workers=0, lines=9)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
    ) as there:
        sl.survey(tiny_model, many, out, scheduler=there.scheduler_address, lines=9)
    assert_same(whole, out)


def test_a_scheduler_that_does_not_answer_is_one_sentence(tiny_model, many, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_PATIENCE", 2)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(BackendError, match="scheduler: must be the address of a Dask"):
            sl.survey(tiny_model, many, tmp_path / "out", scheduler=address)


def test_workers_that_went_away_are_one_sentence(tiny_model, many, tmp_path, monkeypatch):
    """What a worker had found is lost with it, and nobody is there to find it again."""
    monkeypatch.setattr(cluster, "_PATIENCE", 1)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as there:

        def progress(done, of):
            if done:
                there.scale(0)

        with pytest.raises(BackendError, match="workers: must be there to work; none was for 2"):
            sl.survey(tiny_model, many, tmp_path / "out", scheduler=there.scheduler_address,
                      lines=1, progress=progress)  # fmt: skip
    found = sl.survey(tiny_model, many, tmp_path / "out", workers=0, lines=1)
    assert found.whole


def test_a_scheduler_that_went_away_is_one_sentence(tiny_model, many, tmp_path):
    there = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    )

    def progress(done, of):
        if done:
            there.close()

    with pytest.raises(BackendError, match=r"scheduler: must stay until .*; it went away: "):
        sl.survey(tiny_model, many, tmp_path / "out", scheduler=there.scheduler_address, lines=1,
                  progress=progress)  # fmt: skip


def job(model, **other):
    given = {"sha256": "0" * 64, "settings": Settings(), "versions": versions()}
    return Job(str(model), **given | other)


def test_a_worker_with_another_model_or_version_refuses(tiny_model, corpus):
    lines = read_corpus(corpus, 2).part(0)
    with pytest.raises(FileError, match=r"must be the same model on every worker \(000000000000\)"):
        work(job(tiny_model), lines)
    with pytest.raises(PackageError, match=r"torch: must be 1\.0 on every worker"):
        work(job(tiny_model, versions=versions() | {"torch": "1.0"}), lines)


class Ended:
    """A future that came to this."""

    def __init__(self, error):
        self._error = error

    def result(self, timeout):
        raise self._error


@pytest.mark.parametrize(("error", "argument", "words"), [
    (distributed.scheduler.KilledWorker("x", None, 3), "workers",
     r"lines 65 ... 128 \(partition 1\); each that tried was killed, as where memory ends"),
    (distributed.client.FutureCancelledError("x", "scheduler-restart"), "scheduler",
     "must stay until the survey is done; it went away: .*run the same again: it goes on"),
    (ModuleNotFoundError("No", name="softlookup"), "workers", "a worker has no softlookup"),
])  # fmt: skip
def test_what_became_of_a_part_is_one_sentence(error, argument, words):
    with pytest.raises(BackendError, match=words) as caught:
        cluster._result(None, Ended(error), job("m"), 1)
    assert caught.value.argument == argument


def test_what_a_worker_refuses_comes_back_as_it_is(tiny_model, many, tmp_path):
    with pytest.raises(sl.SoftlookupError, match="layers: must"):
        sl.survey(tiny_model, many, tmp_path / "out", workers=1, layers=[9])


def test_importing_loads_neither_dask_nor_torch():
    said = (
        "import sys, softlookup as sl; sl.survey; import softlookup.surveys.reading;"
        "print([name for name in ('dask', 'distributed', 'torch', 'transformers', 'pyarrow')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""Workers: processes of a real cluster, of which one is killed; what they refuse; what is said."""

import asyncio
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

import softlookup as sl
from patience import PATIENCE
from softlookup.errors import BackendError, FileError, PackageError
from softlookup.surveys import cluster, open_survey, surveying
from softlookup.surveys.corpus import read_corpus
from softlookup.surveys.packages import versions
from softlookup.surveys.processes import processes
from softlookup.surveys.settings import Settings
from softlookup.surveys.work import Job, work
from surveyed import without_progress

pytestmark = pytest.mark.models
distributed = pytest.importorskip("distributed", reason="models (make models installs it)")
from sharded.clusters import processes_of_their_own, within  # noqa: E402 (which needs it)


@pytest.fixture(autouse=True)
def _in_time():
    with within(2 * PATIENCE, "a survey"):
        yield


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


class CutError(Exception):
    pass


@pytest.mark.slow
def test_an_error_that_is_kept_keeps_no_worker(tiny_model, many, tmp_path):
    before = set(multiprocessing.active_children())

    def progress(done, of):
        if done:
            raise CutError

    with pytest.raises(CutError) as kept:
        sl.survey(tiny_model, many, tmp_path / "out", workers=1, lines=3, progress=progress)
    assert set(multiprocessing.active_children()) <= before, kept
    assert open_survey(tmp_path / "out").texts == 2


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


def test_an_address_is_tried_before_a_model_is_read(tiny_model, many, tmp_path, monkeypatch):
    def read(_):
        raise AssertionError("no model is looked for")

    monkeypatch.setattr(cluster, "_SOON", 0.5)
    monkeypatch.setattr(surveying.models, "find_model", read)
    for address in ("127.0.0.1:9", "tcp://127.0.0.1:x", "tls://[::1]:9", "localhost:70000"):
        with pytest.raises(BackendError, match="scheduler: must be the address of a Dask"):
            sl.survey(tiny_model, many, tmp_path / "out", scheduler=address)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_scheduler_without_workers_is_told_and_waited_for(tiny_model, many, tmp_path):
    with distributed.LocalCluster(
        n_workers=0, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as there:
        address = there.scheduler_address
        process = begin(tiny_model, many, tmp_path / "out", "--scheduler", address)
        assert process.stderr.readline() == (
            f"scheduler: {address} has no worker yet; waiting 30 seconds for one. Start one with: "
            f"dask worker {address}\n"
        )
        there.scale(1)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "19 texts, 152 rows in 2 files; 5 lines skipped" in out


def assert_gone(group):
    """Assert that no process of a group is left, but for those that wait for the system."""
    psutil = pytest.importorskip("psutil")
    until, left = time.monotonic() + PATIENCE, True
    while left and time.monotonic() < until:
        left = []
        for one in psutil.process_iter(["status"]):
            with suppress(ProcessLookupError):
                if os.getpgid(one.pid) == group and one.info["status"] != psutil.STATUS_ZOMBIE:
                    left.append(one)
        time.sleep(0.1)
    assert left == []


def begin(model, texts, out, *more):
    words = ["survey", "--model", model, "--texts", texts, "-o", out, *more]
    return subprocess.Popen(
        [sys.executable, "-m", "softlookup", *map(str, words)], start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for_rows(process, out):
    """Wait until a survey has written something."""
    until = time.monotonic() + PATIENCE
    while not list(out.glob("done/part-*.json")) and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.02)


groups = pytest.mark.skipif(
    not hasattr(os, "killpg"), reason="no groups of processes on this system"
)


@pytest.mark.slow
@groups
@pytest.mark.parametrize(("tell", "code"), [
    (lambda pid: os.killpg(pid, signal.SIGINT), 130),
    (lambda pid: os.kill(pid, signal.SIGTERM), 143),
], ids=["Ctrl-C", "kill"])  # fmt: skip
def test_an_end_is_one_sentence_and_the_next_run_goes_on(tiny_model, tmp_path, written, tell, code):
    """A terminal tells the whole group of Ctrl-C: the workers, too, must keep silent."""
    file, out = tmp_path / "t.jsonl", tmp_path / "out"
    written(file, [{"text": "the bank of the river"}] * 2000)
    process = begin(tiny_model, file, out, "--lines", "2")
    wait_for_rows(process, out)
    tell(process.pid)
    said, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (code, "")
    whole = len(list(out.glob("done/part-*.json")))
    said = without_progress(err)
    assert said == f"{whole} of 1,000 files are whole; run the same line again, it goes on\n"
    assert not (out / ".running").exists()
    assert_gone(process.pid)
    process = begin(tiny_model, file, out, "--lines", "2", "--workers", "0")
    line = process.stderr.readline()
    process.kill()
    process.communicate()
    assert whole == 0 or line == f"goes on: {2 * whole:,} of 2,000 lines are there\n"


@pytest.mark.slow
@groups
def test_an_end_that_nobody_hears_leaves_no_word_and_no_process(tiny_model, tmp_path, written):
    file, out = tmp_path / "t.jsonl", tmp_path / "out"
    written(file, [{"text": "the bank of the river"}] * 2000)
    process = begin(tiny_model, file, out, "--lines", "2")
    wait_for_rows(process, out)
    process.kill()
    said, err = process.communicate(timeout=PATIENCE)
    assert (said, without_progress(err)) == ("", "")
    assert_gone(process.pid)
    process = begin(tiny_model, file, out, "--lines", "2", "--workers", "0")
    assert re.fullmatch(r"goes on: \S+ of 2,000 lines are there\n", process.stderr.readline())
    process.kill()
    process.communicate()


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no masks on this system")
def test_a_worker_hears_no_ctrl_c_nor_does_the_next_one():
    with processes(1) as there, distributed.Client(there) as client:
        for again in (False, True):
            client.wait_for_workers(1, timeout=PATIENCE)
            held = client.submit(signal.pthread_sigmask, signal.SIG_BLOCK, [], pure=False)
            assert signal.SIGINT in held.result(timeout=PATIENCE)
            pid = client.submit(os.getpid, pure=False).result(timeout=PATIENCE)
            if not again:  # the last one ends with its cluster
                os.kill(pid, signal.SIGKILL)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to a thread here")
def test_ctrl_c_while_a_worker_starts_is_heard_and_leaves_none(monkeypatch):
    begin, before = distributed.Nanny.__init__, set(multiprocessing.active_children())
    tell = signal.pthread_kill, (threading.get_ident(), signal.SIGINT)

    def begun(*args, **options):
        begin(*args, **options)
        threading.Timer(0.1, *tell).start()

    monkeypatch.setattr(distributed.Nanny, "__init__", begun)
    with pytest.raises(KeyboardInterrupt), processes(1):
        pass
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.slow
def test_a_script_that_each_worker_would_run_is_one_sentence(tiny_model, many, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys, softlookup as sl\nsl.survey(*sys.argv[1:], workers=2)\n")
    words = [sys.executable, script, tiny_model, many, tmp_path / "out"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "softlookup.errors.BackendError: workers: must start; each of them ended as it began. In a "
        'script, call it under if __name__ == "__main__":, since they import the script; or pass '
        "workers=0."
    )


@pytest.mark.parametrize("what", ["Nanny", "Scheduler"])
def test_where_no_worker_can_be_made_is_one_sentence(tiny_model, many, tmp_path, monkeypatch, what):
    """As where the disk has no room for what a worker keeps there."""

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(getattr(distributed, what), "__init__", full)
    with pytest.raises(BackendError, match=r"workers: must start; they cannot: .*No space left"):
        sl.survey(tiny_model, many, tmp_path / "out", workers=1)
    monkeypatch.undo()
    assert sl.survey(tiny_model, many, tmp_path / "out", workers=0).whole


def test_an_end_that_dask_does_not_come_to_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("softlookup.surveys.processes._LONGEST", 2)
    before = set(multiprocessing.active_children())
    with processes(1) as there, distributed.Client(there) as client:
        client.wait_for_workers(1, timeout=PATIENCE)
        monkeypatch.setattr(there, "_close", lambda: asyncio.sleep(10**6))
    monkeypatch.undo()
    there.close(timeout=PATIENCE)
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_scheduler_that_keeps_silent_is_one_sentence(tiny_model, many, tmp_path, monkeypatch):
    """It is stopped, and its connections stay: nothing would ever come over them."""
    with processes_of_their_own(tmp_path) as (client, scheduler, _):

        def progress(done, of):
            if done:
                monkeypatch.setattr(cluster, "_PATIENCE", 2)
                scheduler.send_signal(signal.SIGSTOP)

        with pytest.raises(BackendError, match=r"scheduler: must stay .*; it went away: timed out"):
            sl.survey(tiny_model, many, tmp_path / "out", scheduler=client.scheduler.address,
                      lines=1, progress=progress)  # fmt: skip
        scheduler.send_signal(signal.SIGCONT)


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
     r"lines 17 ... 32 \(partition 1\); each that tried was killed, as where memory ends"),
    (distributed.client.FutureCancelledError("x", "scheduler-restart"), "scheduler",
     "must stay until the survey is done; it went away: .*run the same again: it goes on"),
    (ModuleNotFoundError("No", name="softlookup"), "workers", "a worker has no softlookup"),
])  # fmt: skip
def test_what_became_of_a_part_is_one_sentence(error, argument, words):
    with pytest.raises(BackendError, match=words) as caught:
        cluster._result(None, Ended(error), job("m"), 1)
    assert caught.value.argument == argument


@pytest.mark.slow
def test_what_a_worker_refuses_comes_back_as_it_is(tiny_model, many, tmp_path, monkeypatch):
    with pytest.raises(sl.SoftlookupError, match="layers: must"):
        sl.survey(tiny_model, many, tmp_path / "out", workers=1, layers=[9])
    monkeypatch.setattr(surveying, "versions", lambda: versions() | {"torch": "1.0"})
    with pytest.raises(PackageError, match=r"torch: must be 1\.0 on every worker, .* has [2-9]"):
        sl.survey(tiny_model, many, tmp_path / "out", workers=1)


def test_importing_loads_neither_dask_nor_torch():
    said = (
        "import sys, softlookup as sl; sl.survey; import softlookup.surveys.reading;"
        "print([name for name in ('dask', 'distributed', 'torch', 'transformers', 'pyarrow')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

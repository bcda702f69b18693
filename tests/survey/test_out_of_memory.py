"""A worker that takes more memory than it may have, on every try."""

import pytest

import softlookup as sl
from patience import PATIENCE
from softlookup.errors import BackendError
from softlookup.surveys import open_survey

pytestmark = [pytest.mark.models, pytest.mark.slow]
distributed = pytest.importorskip("distributed", reason="models (make models installs it)")
import dask  # noqa: E402 (which needs it)

from sharded.clusters import within  # noqa: E402 (as well)

GREEDY = """
import time
from importlib import import_module
from pathlib import Path

import numpy as np


def dask_setup(worker):
    module = import_module("softlookup.surveys.work")
    read = module.read_lines

    def greedy(reader, settings, lines):
        if lines[0].number == 4:
            while not list(Path({out!r}).glob("done/part-*.json")):
                time.sleep(0.02)
            held = np.ones(2**28)  # 2 GiB
            time.sleep(60)
        return read(reader, settings, lines)

    module.read_lines = greedy
"""  # what each process of a worker runs as it begins


def test_a_worker_out_of_memory_is_one_sentence(tiny_model, written, tmp_path, assert_same):
    """Each that tries a partition takes too much for it, and is ended by what watches over it."""
    whole, out, script = tmp_path / "whole", tmp_path / "out", tmp_path / "greedy.py"
    texts = written(tmp_path / "t.jsonl", [{"text": f"the bank {'the ' * i}"} for i in range(8)])
    script.write_text(GREEDY.format(out=str(out)))
    sl.survey(tiny_model, texts, whole, workers=0, lines=3)
    tries = {"distributed.scheduler.allowed-failures": 1}  # two
    told = r"must live to work out lines 4 \.\.\. 6 \(partition 1\); each that tried was killed"
    with (
        within(2 * PATIENCE, "a survey"),
        dask.config.set(tries),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0",
            preload=str(script), memory_limit="2GiB",
        ) as there,
        pytest.raises(BackendError, match=told),
    ):  # fmt: skip
        sl.survey(tiny_model, texts, out, scheduler=there.scheduler_address, lines=3)
    assert open_survey(out).texts == 3  # of its first partition
    assert sl.survey(tiny_model, texts, out, workers=0, lines=3).whole
    assert_same(whole, out)

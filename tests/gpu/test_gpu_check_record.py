"""What a check of a GPU keeps: a short table, aims decided by their worst row, what did not end."""

import json
import sys

from documented import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from gpu_check import aims, record


def kept(tmp_path, findings):
    told = record.conditions(7, dry=False, whole=True)
    made = record.Record(tmp_path / "told.json", told)
    for each in findings:
        made.take(dict(each))
    return made


def figure(aim, value, row="row"):
    return {"kind": "aim", "part": "time: forward", "work": aim.work, "row": row, "figure": value}


def one_check(part, status):
    return {"kind": "check", "part": part, "name": "n", "status": status, "of_budget": 0.5,
            "words": "w"}  # fmt: skip


def test_an_aim_is_decided_by_its_worst_row_and_void_where_kernels_are_wrong(tmp_path):
    made = kept(tmp_path, [
        figure(aims.FACTS, 1.2), figure(aims.FACTS, 1.6, "slow"), figure(aims.HOPPER, 1.02),
        figure(aims.DECODE, None), one_check("forward, cuda-hopper", "wrong"),
        one_check("forward, cuda", "ok"),
    ])  # fmt: skip
    told = {aim["work"]: aim for aim in json.loads(made.file.read_text("utf-8"))["aims"]}
    facts, hopper = told[aims.FACTS.work], told[aims.HOPPER.work]
    assert (facts["row"], facts["met"], facts["void"]) == ("slow", False, False)
    assert (hopper["met"], hopper["stretch_met"], hopper["void"]) == (True, True, True)
    assert told[aims.DECODE.work]["met"] is None
    said = "\n".join(made.lines())
    assert "void: its kernels are not right" in said
    assert "NOT RIGHT: 1 of 2 checks" in said
    assert not made.sound


def test_the_table_stays_short_and_its_verdict_last(tmp_path):
    findings = [one_check(f"part {n}", "wrong") for n in range(9)]
    findings += [{"kind": "time", "part": "time: forward", "row": str(n), "runner": "cuDNN",
                  "device": 1.0} for n in range(60)]  # fmt: skip
    lines = kept(tmp_path, findings).lines()
    assert len(lines) <= 40
    assert lines[-1].startswith("NOT RIGHT: 9 of 9")
    assert any("not measured" in line for line in lines)


def test_a_part_that_did_not_end_is_named(tmp_path):
    made = kept(tmp_path, [
        one_check("forward, cuda", "ok"),
        {"kind": "stopped", "part": "time: map", "status": "too long", "words": "stopped"},
    ])  # fmt: skip
    assert not made.sound
    assert "NOT ENDED: time: map" in made.lines()[-1]
    assert made.wrong() == set()

"""What a run found: kept as JSON while it comes, and told in one short table."""

import hashlib
import json
import platform
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
import triton

import softlookup
from gpu_check.aims import judged

Found = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
MOST_LINES, MOST_WRONG, WIDEST = 40, 5, 118


class Record:
    """The findings of one run, written to a file as they come.

    Attributes
    ----------
    told : dict
        The conditions, and lists of parts, checks, times, figures and aims; of the processes that
        compiled; of the parts that were not reached.
    """

    def __init__(self, file: Path, conditions: Found, parts: Iterable[str] = ()) -> None:
        self.file = file
        self._asked = list(parts)
        self.told: Found = {**conditions, "parts": [], "checks": [], "times": [], "untimed": [],
                            "figures": [], "aims": [], "compiling": [],
                            "not_reached": self._asked}  # fmt: skip
        self._broken: dict[str, str] = {}
        self.write()

    def take(self, found: Found) -> None:
        """Keep one finding."""
        kind = found.pop("kind")
        if kind == "check":
            self.told["checks"].append(found)
        elif kind == "time":
            self._time(found)
        elif kind == "untimed":
            self.told["untimed"].append(found)
        elif kind == "aim":
            self.told["figures"].append(found)
        elif kind == "broken":
            self._broken[found["part"]] = found["words"]
        else:
            self._part(found)
        self.write()

    def _time(self, found: Found) -> None:
        """Join what is said of one runner in one row."""
        mine = found["row"], found["runner"]
        for known in self.told["times"]:
            if (known["row"], known["runner"]) == mine:
                known.update(found)
                return
        self.told["times"].append(found)

    def _part(self, found: Found) -> None:
        broken = self._broken.get(found["part"])
        ended = {"status": "broken", "words": broken} if broken else {}
        self.told["parts"].append({"status": "done", "words": "", **found, **ended})

    def write(self) -> None:
        """Put the file in its place whole."""
        self.told["aims"] = judged(self.told["figures"], self.wrong())
        ended = {each["part"] for each in self.told["parts"] if each["status"] != "left out"}
        self.told["not_reached"] = [part for part in self._asked if part not in ended]
        fresh = self.file.with_suffix(".part")
        fresh.write_text(json.dumps(self.told, indent=1) + "\n", encoding="utf-8")
        fresh.replace(self.file)

    def wrong(self) -> set[str]:
        """Return the backends of which something is not right."""
        bad = [each["part"] for each in self._bad()]
        bad += [
            each["part"]
            for each in self.told["parts"]
            if each["status"] not in ("done", "left out") and not each["part"].startswith("time:")
        ]
        return {_backend(part) for part in bad}

    def unended(self) -> list[str]:
        """Return the parts that broke, fell, took too long, were left out or not come to."""
        told = [each["part"] for each in self.told["parts"]]
        amiss = [each["part"] for each in self.told["parts"] if each["status"] != "done"]
        return amiss + [part for part in self._asked if part not in told]

    def _bad(self) -> list[Found]:
        return [each for each in self.told["checks"] if each["status"] in ("wrong", "failed")]

    @property
    def sound(self) -> bool:
        """Whether all parts came to their end, and everything that was checked is right."""
        right = any(each["status"] == "ok" for each in self.told["checks"]) and not self._bad()
        return right and not self.unended()

    def lines(self) -> list[str]:
        """Return the table: conditions, checks, times, aims; what is wrong by name."""
        told = self.told
        versions = f"torch {told['torch']}, triton {told['triton']}"
        head = f"{told['card']}, {versions}, {told['date']}, seed {told['seed']}"
        first = [f"{head}, {told['seconds']:.0f} s", *self._checked(), *self._amiss()]
        last = [*self._aimed(), f"{self._verdict()}; all figures: {self.file}"]
        times, room = self._timed(), MOST_LINES - len(first) - len(last)
        if len(times) > room:
            times = [*times[: max(0, room - 1)], "..."]
        return [*first, *times, *last]

    def _verdict(self) -> str:
        if self._bad():
            return f"NOT RIGHT: {len(self._bad())} of {len(self.told['checks'])} checks"
        if self.unended():
            return f"right as far as it came; NOT ENDED: {', '.join(self.unended())}"
        return "everything that was checked is right" if self.sound else "NOTHING WAS CHECKED"

    def _checked(self) -> list[str]:
        """Return one line for a group of parts."""
        groups: dict[str, list[Found]] = {}
        for each in self.told["checks"]:
            groups.setdefault(_group(each["part"]), []).append(each)
        lines = []
        for group, mine in groups.items():
            counts = Counter(each["status"] for each in mine)
            said = ", ".join(f"{n} {status}" for status, n in counts.items())
            worst = max(each["of_budget"] or 0 for each in mine)
            budget = f", the worst takes {100 * worst:.0f} % of its budget" if worst else ""
            refused = next((x["words"] for x in mine if x["status"] == "refused"), "")
            lines.append(f"{group:24} {said}{budget}{refused and f': {refused}'}"[:WIDEST])
        return lines

    def _amiss(self) -> list[str]:
        """Return what is wrong, and how parts ended that did not come to their end."""
        wrong = [
            f"  {each['status']}: {each['part']}: {each['name']}: {each['words']}"
            for each in self._bad()
        ]
        ended = [
            f"  {each['status']}: {each['part']}: {each['words']}"
            for each in self.told["parts"]
            if each["status"] not in ("done", "left out")
        ]
        cold = [each for each in self.told["compiling"] if each["exit"] != 0]
        names = ", ".join(dict.fromkeys(each["part"] for each in cold))
        said = f"  compiling: {len(cold)} of {len(self.told['compiling'])} ended amiss: {names}"
        lines = *wrong[:MOST_WRONG], *ended[:MOST_WRONG], *([said] if cold else [])
        return [line[:WIDEST] for line in lines]

    def _timed(self) -> list[str]:
        if self.told["dry"]:
            return [f"{len(self.told['times'])} things ran that would be timed on a GPU"]
        rows: dict[str, list[str]] = {}
        for each in self.told["times"]:
            rows.setdefault(each["row"], []).append(f"{each['runner']} {_figure(each)}")
        lines = [f"{row}: {', '.join(cells)}" for row, cells in rows.items()]
        left = {each["runner"]: each["words"] for each in self.told["untimed"]}
        said = "; ".join(f"{runner}: {words[:60]}" for runner, words in left.items())
        return [*lines, f"not timed: {said}"[:WIDEST]] if left else lines

    def _aimed(self) -> list[str]:
        lines = []
        for each in self.told["aims"]:
            word = {None: "not measured", True: "met", False: "MISSED"}[each["met"]]
            if each["void"] and each["met"] is not None:
                word = "void: its kernels are not right"
            figure = "" if each["figure"] is None else f" {each['figure']:.3g} {each['unit']},"
            sign = "<=" if each["at_most"] else ">="
            lines.append(f"{each['work']}:{figure} aim {sign} {each['bar']:g}: {word}")
        return lines


def _figure(each: Found) -> str:
    """Write a rate, or what there is; where the host takes longer than the device, that too."""
    slow = each.get("host", 0) > each.get("device", 0)
    late = f" (host {each['host']:.2g} ms)" if slow else ""
    if "tflops" in each:
        return f"{each['tflops']:.0f} TF{late}"
    if "terabytes" in each:
        return f"{each['terabytes']:.2f} TB/s{late}"
    return f"{each['mib']:.0f} MiB" if "mib" in each else f"{each['device']:.3g} ms{late}"


def _group(part: str) -> str:
    """Return under which words the checks of a part are counted."""
    if part.startswith("time:"):
        return "answers at full size"
    if part in ("facts", "weights", "map"):
        return "facts, weights, map"
    return part.removesuffix(", more")


def _backend(part: str) -> str:
    """Return whose kernels a part is about."""
    if "cuda-torch" in part:
        return "cuda-torch"
    return "cuda-hopper" if "hopper" in part.lower() else "cuda"


def conditions(seed: int, *, dry: bool, whole: bool) -> Found:
    """Return what a figure depends on."""
    there = torch.cuda.is_available()
    card = torch.cuda.get_device_properties(0) if there else None
    return {
        "date": time.strftime("%Y-%m-%d %H:%M %Z"),
        "card": card.name if card else "no GPU",
        "capability": f"{card.major}.{card.minor}" if card else "",
        "multiprocessors": card.multi_processor_count if card else 0,
        "gib": round(card.total_memory / 2**30) if card else 0,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": torch.version.cuda or "",
        "cudnn": torch.backends.cudnn.version() or 0,
        "softlookup": softlookup.__version__,
        "commit": _commit(),
        "sources": _sources(),
        "seed": seed,
        "dry": dry,
        "whole": whole,
        "seconds": 0.0,
    }


def _sources() -> str:
    """Return what tells one state of the package from another, where there is no git."""
    told = hashlib.sha256()
    for file in sorted((ROOT / "src" / "softlookup").rglob("*.py")):
        told.update(file.read_bytes())
    return told.hexdigest()[:16]


def _commit() -> str | None:
    """Return the commit of the checkout, where it is one and git is there."""
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "-C", str(ROOT), "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None

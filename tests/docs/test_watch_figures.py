"""What README says watching costs is what the recorded figures say."""

from documented import ROOT

RECORD = ROOT / "docs" / "measured" / "watch_speed.txt"
PLAIN, EVERY = "sdpa, unwatched", "every head: top 8, entropy, received"
TOKENS = "4,096"


def recorded():
    """Return seconds in turn, and the highest memory in a process of its own, of each way."""
    seconds, memory = {}, {}
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if cells[0] != TOKENS:
            continue
        way, took = cells[1:3]
        if line.count(" GB"):
            memory[way] = next(cell for cell in cells if cell.endswith(" GB"))
        else:
            seconds[way] = float(took.removesuffix(" s"))
    return seconds, memory


def test_readme_says_what_was_recorded():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    seconds, memory = recorded()
    said = " ".join(readme.split())
    assert f"takes {seconds[EVERY]:.1f} s, and {seconds[PLAIN]:.1f} s unwatched" in said
    assert f"takes {memory[EVERY]} at its highest" in said

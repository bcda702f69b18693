"""What README says of clusters, as a newcomer pastes it into a file."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_lines_of_the_readme_run_as_a_script(tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.split("## When it outgrows your machine")[1].split("\n## ")[0]
    lines = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    script = tmp_path / "pasted.py"
    script.write_text(lines, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("[") >= 20  # the answers of 8 heads for 2 queries, and 8 keys
    assert len([line for line in lines.splitlines() if line]) <= 10

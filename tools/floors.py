"""Print the oldest versions that pyproject.toml promises to work with, as pip requirements.

CI installs exactly these beside the newest, so that a floor is a fact and not a hope.
"""

import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def floors(dependencies):
    """Turn each ``name>=version`` into ``name==version``."""
    return [dependency.replace(">=", "==") for dependency in dependencies]


if __name__ == "__main__":
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    print(*floors(project["dependencies"]))

"""One process that runs parts one after the other and prints what it finds, a line of JSON each."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from gpu_check.parts import PARTS
from gpu_check.session import Session, brief

LOST = 3  # the exit status where the device can no longer be used by this process
UNWARMED = 4  # the exit status where something could not be compiled


def work(
    names: Sequence[str], seed: int, *, dry: bool, warming: bool, share: tuple[int, int]
) -> None:
    """Run the parts of these names."""
    session = Session(seed, dry=dry, warming=warming, share=share, say=say)
    for part in PARTS:
        if part.name not in names:
            continue
        say({"kind": "begin", "part": part.name})
        try:
            session.begin(part.name)
            part.run(session)
            session.wait()  # what fails late fails here, not in the next part
        except Exception as error:  # noqa: BLE001 (whatever it is, the next part can still run)
            say({"kind": "broken", "part": part.name, "words": brief(error)})
            if session.lost():
                sys.exit(LOST)
            if warming:
                sys.exit(UNWARMED)
        say({"kind": "end", "part": part.name})


def say(found: dict[str, Any]) -> None:
    """Print one finding for the process that started this one."""
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    work(**json.loads(sys.argv[1]))

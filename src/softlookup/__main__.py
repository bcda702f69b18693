"""``python -m softlookup`` is ``softlookup``."""

import sys

from softlookup.cli import main

if __name__ == "__main__":
    sys.exit(main())

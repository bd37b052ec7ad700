"""The commands of the package: `python -m lingua_node check`."""

import sys

from .check import main

USAGE = "usage: python -m lingua_node check [--help]"

if __name__ == "__main__":
    if sys.argv[1:2] != ["check"]:
        print(USAGE, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[2:]))

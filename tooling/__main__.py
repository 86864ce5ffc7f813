"""`python -m tooling`."""

import sys

from tooling.cli import main

if __name__ == "__main__":  # worker processes import this file too
    sys.exit(main())

"""`python -m tooling.translations`: the command alone, as `tooling check-translations`."""

from __future__ import annotations

import sys

from tooling.cli import main

if __name__ == "__main__":
    sys.exit(main(["check-translations", *sys.argv[1:]]))

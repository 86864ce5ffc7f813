"""`python -m tooling`."""

import sys

from tooling.cli import main

sys.exit(main())

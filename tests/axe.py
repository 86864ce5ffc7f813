"""The accessibility checker axe, without which the tests that import it are skipped."""

from __future__ import annotations

import pytest

axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)

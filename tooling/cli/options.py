"""Options that several commands share."""

from __future__ import annotations

import argparse
import os

TARGET_NAMES = ("auto", "nvidia", "amd", "apple", "sim")
LANGUAGES = ("en", "ko")


def add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--target",
        choices=TARGET_NAMES,
        help="where to run (default: PUZZLE_TARGET, else the first GPU found, else the simulated one)",
    )


def add_reports(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (`-`: to stdout)")
    parser.add_argument("--junit", metavar="FILE", help="write the result as JUnit XML (`-`: to stdout)")


def add_language(parser: argparse.ArgumentParser) -> None:
    preset = os.environ.get("PUZZLE_LANG", "en")
    parser.add_argument(
        "--lang",
        choices=LANGUAGES,
        default=preset if preset in LANGUAGES else "en",
        help="language of explanations and hints (default: PUZZLE_LANG, else en)",
    )


def seconds(text: str) -> float:
    """A positive number of seconds, for argparse."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a positive number of seconds, not {text}")
    return value

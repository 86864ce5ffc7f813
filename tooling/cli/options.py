"""Options that several commands share."""

from __future__ import annotations

import argparse
import os

TARGET_NAMES = ("auto", "nvidia", "amd", "apple", "sim")
LANGUAGES = ("en", "ko")
CHECKS = ("memory", "races", "initialisation", "synchronisation")


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


def add_checks(parser: argparse.ArgumentParser) -> None:
    """`--check` and `--no-check`; `arguments.check` is a frozenset of names, or None for all."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--check",
        type=check_names,
        metavar="LIST",
        help=f"of the simulated GPU's checks only these, separated by commas: {', '.join(CHECKS)}, none "
        "(default: all)",
    )
    choice.add_argument(
        "--no-check",
        dest="check",
        action="store_const",
        const=frozenset(),
        help="without the checks: faster, and nothing but the result is judged",
    )


def check_names(text: str) -> frozenset[str]:
    """The checks of a list such as `memory,races`, for argparse."""
    names = frozenset(name.strip() for name in text.split(",")) - {"none"}
    unknown = sorted(names.difference(CHECKS))
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no check `{unknown[0]}`: {', '.join(CHECKS)} or none")
    return names


def seconds(text: str) -> float:
    """A positive number of seconds, for argparse."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a positive number of seconds, not {text}")
    return value

"""`tooling check-translations`: the state of the translations, and the commands that mend it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tooling.cli.parser import RawHelpFormatter
from tooling.exit_codes import ExitCode

if TYPE_CHECKING:
    from tooling.translations.report.report import Report
    from tooling.translations.roots import Roots

_DEFAULT = "status"
_EPILOG = """\
Every translated page begins with the marker
    <!-- i18n-source-commit: COMMIT -->
    <!-- i18n-source-blob: BLOB -->
which names the source text it was translated from. A page is current while that text is today's, whatever
commits lie between. `stamp` writes the marker; pages with the first line alone are understood too.

A commit asks to be skipped with the trailer `I18n-Skip: GLOB` (a glob over source paths), or afterwards by
its id in .i18n-ignore-revs. Findings to live with go to i18n/LANG/ignore.toml as [[ignore]] entries.

Exit status: 0 pass; 1 findings that count (with --check); 2 something could not be told.
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "check-translations",
        help="compare the translations with their source",
        description="Says which translated pages lag behind their source or disagree with it, and where.",
        epilog=_EPILOG,
        formatter_class=RawHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_when_parsing(parser, commands)


def _add_when_parsing(
    parser: argparse.ArgumentParser, commands: argparse._SubParsersAction[argparse.ArgumentParser]
) -> None:
    """Adds the command that is asked for alone: the parsers of all would take longer than a small survey.

    `check-translations --check` means `… status --check`; argparse has no word for that either.
    """
    makers = {
        "status": _add_status,
        "diff": _add_diff,
        "stamp": _add_stamp,
        "repair": _add_repair,
        "recover": _add_recover,
        "new-lang": _add_new_language,
    }
    parse: Callable[..., Any] = parser.parse_known_args

    def parse_known_args(args: Sequence[str] | None = None, namespace: Any = None, **rest: Any) -> Any:
        words = list(args or ())
        wants_help = words[:1] in (["-h"], ["--help"])
        if not wants_help and (not words or words[0] not in makers):
            words.insert(0, _DEFAULT)
        for make in makers.values() if wants_help else (makers[words[0]],):
            make(commands)
        return parse(words, namespace, **rest)

    parser.parse_known_args = parse_known_args  # type: ignore[method-assign, assignment]


def _add_roots(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("roots (any mdBook with this marker will do)")
    group.add_argument("--lang", default="ko", metavar="CODE", help="the translation (default: ko)")
    group.add_argument("--source", metavar="DIR", help="folder of the source pages (default: book/src)")
    group.add_argument(
        "--translation",
        metavar="DIR",
        help="folder of the translated pages; {lang} stands for the language (default: i18n/{lang}/book/src)",
    )


def _add_fetch(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--fetch",
        action="store_true",
        help="ask the remote `origin` for lost commits and for what a partial clone lacks",
    )


def _add_pages(parser: argparse.ArgumentParser, number: str) -> None:
    parser.add_argument(
        "pages",
        nargs=number,
        metavar="PAGE",
        help="a page or folder of either tree, or a path below the roots",
    )


def _add_status(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "status",
        help="the state of every page (the default)",
        description="The state of every page: is it current, does it say what its source said?",
    )
    _add_pages(parser, "*")
    _add_roots(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=("text", "json", "md", "github", "sarif", "html"), default="text")
    output.add_argument("--output", metavar="FILE", help="write there instead of to standard output")
    output.add_argument("--all", action="store_true", help="list pages in order too (text)")
    policy = parser.add_argument_group("policy (each of these but --ignores implies --check)")
    policy.add_argument("--check", action="store_true", help="fail on findings; without it, only report")
    policy.add_argument(
        "--fail-on",
        metavar="LIST",
        help="what fails: error (default), warning, or kinds such as stale:prose,missing,parity",
    )
    policy.add_argument("--max-stale", type=float, metavar="PCT", help="tolerate this share of stale pages")
    policy.add_argument("--max-age", type=int, metavar="DAYS", help="tolerate pages stale for so long")
    policy.add_argument(
        "--since",
        metavar="REF",
        help="only pages changed since REF: translated pages must end accurate, source pages warn",
    )
    policy.add_argument("--ignores", metavar="FILE", help="default: i18n/LANG/ignore.toml")
    depth = parser.add_argument_group("depth")
    depth.add_argument(
        "--axis", choices=("both", "freshness"), default="both", help="freshness alone is quicker"
    )
    depth.add_argument("--glossary", metavar="FILE", help="default: i18n/LANG/glossary.yaml where it exists")
    _add_fetch(depth)
    depth.add_argument("--no-cache", action="store_true", help="compare everything anew")
    parser.set_defaults(command=_status)


def _add_diff(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "diff",
        help="what to translate, commit by commit",
        description="Shows the source's changed blocks by commit, with the lines of the translation.",
    )
    _add_pages(parser, "+")
    parser.add_argument("--words", action="store_true", help="mark changed words inside a block")
    _add_fetch(parser)
    _add_roots(parser)
    parser.set_defaults(command=_diff)


def _add_stamp(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "stamp",
        help="mark pages as translated from a version of their source",
        description="Writes commit and blob into the marker. Refuses what would be untrue: uncommitted "
        "source text, a commit outside the base's history, parity errors, a section that changed in the "
        "source and was not edited in the translation.",
    )
    _add_pages(parser, "*")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--at", metavar="REF", help="translated from the source as of REF")
    how.add_argument(
        "--reviewed", action="store_true", help="compared with today's source and right as it is"
    )
    parser.add_argument(
        "--keep",
        action="append",
        type=int,
        default=[],
        metavar="SECTION",
        help="the number of a section that changed in the source and is right as it is (for one PAGE)",
    )
    parser.add_argument("--all", action="store_true", help="every page")
    parser.add_argument("--force", action="store_true", help="in spite of parity errors")
    parser.add_argument("--base", default="HEAD", metavar="REF", help="history that must hold the commit")
    _add_fetch(parser)
    _add_roots(parser)
    parser.set_defaults(command=_stamp)


def _add_repair(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "repair",
        help="mend markers after rewritten history",
        description="Finds lost commits by their text and adds missing blob lines; pages stay as they are.",
    )
    _add_pages(parser, "*")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be written")
    _add_fetch(parser)
    _add_roots(parser)
    parser.set_defaults(command=_repair)


def _add_recover(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "recover",
        help="find what a page with a lost pin was translated from",
        description="Ranks the versions of the source by similarity; writes nothing without --apply.",
    )
    _add_pages(parser, "+")
    parser.add_argument(
        "--apply", action="store_true", help="write the best candidate, where it is not in doubt"
    )
    _add_fetch(parser)
    _add_roots(parser)
    parser.set_defaults(command=_recover)


def _add_new_language(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "new-lang",
        help="start a translation into another language",
        description="Writes book.toml, SUMMARY.md, a glossary to fill and the switcher's entry.",
    )
    parser.add_argument("code", help="language code, such as ja or pt-BR")
    parser.add_argument("--name", help="the language's own name, such as 日本語")
    parser.add_argument("--source", metavar="DIR", help="folder of the source pages (default: book/src)")
    parser.set_defaults(command=_new_language)


def _base() -> Path:
    """The folder that default roots lie in and reports speak from: the checkout around the working folder."""
    from tooling.git_command import checkout_root

    here = Path.cwd()
    return checkout_root(here) or here


def _roots(arguments: argparse.Namespace) -> Roots:
    from tooling.translations.roots import SOURCE, TRANSLATION, Roots

    base, here = _base(), Path.cwd()
    source = here / arguments.source if arguments.source else base / SOURCE
    target = here / arguments.translation if arguments.translation else base / TRANSLATION
    return Roots.under(base, arguments.lang, str(source), str(target))


def _keys(arguments: argparse.Namespace, roots: Roots) -> frozenset[str] | None:
    from tooling.translations.commands.selection import select_pages

    return select_pages(arguments.pages, roots, Path.cwd()) if arguments.pages else None


def _show(text: str) -> None:
    from tooling.translations.report.display import encodable

    print(encodable(text, sys.stdout.encoding))


def _status(arguments: argparse.Namespace) -> int:
    from tooling.gc_pause import paused_gc

    with paused_gc():
        return _report_status(arguments)


def _report_status(arguments: argparse.Namespace) -> int:
    from tooling.reports.annotations import in_workflow
    from tooling.translations.report.display import style_for
    from tooling.translations.report.formats import Format, render

    report = _make_report(arguments)
    form = Format(arguments.format)
    style = style_for(sys.stdout)
    if arguments.output:
        from tooling.atomic_write import write_atomically

        write_atomically(Path(arguments.output), (render(report, form, style) + "\n").encode())
    else:
        _show(render(report, form, style, every_page=arguments.all))
    if in_workflow() and form is not Format.GITHUB:
        from tooling.translations.report.github import render as annotations

        stream = sys.stdout if form is Format.TEXT else sys.stderr  # stdout may hold a report
        for line in annotations(report).splitlines():
            print(line, file=stream)
    if in_workflow() or form is Format.GITHUB:
        _write_step_summary(report)
    return report.verdict.exit_code


def _make_report(arguments: argparse.Namespace) -> Report:
    from tooling.translations.commands.selection import scope_since
    from tooling.translations.freshness.cache import Cache
    from tooling.translations.freshness.survey import survey
    from tooling.translations.report.policy import Policy
    from tooling.translations.report.report import make_report
    from tooling.translations.roots import GLOSSARY, IGNORES

    roots = _roots(arguments)
    policy = Policy.of(
        check=arguments.check or arguments.since is not None,
        fail_on=arguments.fail_on,
        max_stale=arguments.max_stale,
        max_age=arguments.max_age,
    )
    keys = _keys(arguments, roots)
    scope = scope_since(arguments.since, roots) if arguments.since else None
    cache = Cache(None) if arguments.no_cache else Cache.load(roots.base, roots.language)
    moment = os.environ.get("SOURCE_DATE_EPOCH")
    found = survey(roots, only=keys, fetch=arguments.fetch, cache=cache, now=int(moment) if moment else None)
    fidelity = None
    if arguments.axis == "both":
        from tooling.translations.parity.fidelity import check_fidelity

        default = roots.base / GLOSSARY.format(lang=roots.language)
        glossary = Path(arguments.glossary) if arguments.glossary else default
        fidelity = check_fidelity(found, glossary if arguments.glossary or default.is_file() else None)
    ignores = Path(arguments.ignores or roots.base / IGNORES.format(lang=roots.language))
    return make_report(found, fidelity, policy, ignores, scope=scope, only=keys)


def _write_step_summary(report: Report) -> None:
    from tooling.reports.step_summary import LIMIT, add_to_summary
    from tooling.translations.report.markdown import render

    # Three bytes at most for a character of these texts, and the limit counts bytes.
    add_to_summary(render(report, LIMIT // 3 - 1))


def _diff(arguments: argparse.Namespace) -> int:
    from tooling.translations.commands.diff_rendering import render
    from tooling.translations.commands.drift import page_drifts
    from tooling.translations.model import Freshness
    from tooling.translations.report.display import style_for

    roots = _roots(arguments)
    style = style_for(sys.stdout)
    drifts = page_drifts(roots, _keys(arguments, roots) or frozenset(), fetch=arguments.fetch)
    _show("\n\n".join(render(drift, style, words=arguments.words) for drift in drifts))
    unknown = any(drift.status.freshness in (Freshness.UNKNOWN, Freshness.BAD_PIN) for drift in drifts)
    return ExitCode.USAGE if unknown else ExitCode.PASSED


def _stamp(arguments: argparse.Namespace) -> int:
    from tooling.translations.commands.selection import selects_everything
    from tooling.translations.commands.stamp import (
        StampRequest,
        refuse_whole_tree,
        sections_of_several_pages,
        stamp,
        translated_keys,
    )

    roots = _roots(arguments)
    if not arguments.all and (not arguments.pages or selects_everything(arguments.pages, roots, Path.cwd())):
        raise refuse_whole_tree()
    keys = _keys(arguments, roots) or translated_keys(roots)
    kept = frozenset(arguments.keep)
    if kept and len(keys) != 1:
        raise sections_of_several_pages(len(keys))
    request = StampRequest(
        keys, arguments.at, arguments.reviewed, kept, arguments.force, arguments.base, arguments.fetch
    )
    result = stamp(roots, request)
    for one in result.stamped:
        _show(f"stamped {one.file}: commit {(one.pin.commit or '')[:12]}, blob {(one.pin.blob or '')[:12]}")
    for refusal in result.refused:
        _show(f"refused {refusal.file}: {refusal.reason}\n  try: {refusal.hint}")
    return ExitCode.WRONG if result.refused else ExitCode.PASSED


def _repair(arguments: argparse.Namespace) -> int:
    from tooling.translations.commands.repair import apply_repairs, plan_repairs

    roots = _roots(arguments)
    repairs = plan_repairs(roots, _keys(arguments, roots), fetch=arguments.fetch)
    if not arguments.dry_run:
        apply_repairs(repairs)
    word = "would write" if arguments.dry_run else "repaired"
    for one in repairs:
        if one.pin is None:
            _show(f"cannot repair {one.file}: {one.reason}")
        else:
            pin = f"commit {(one.pin.commit or '')[:12]}, blob {(one.pin.blob or '')[:12]}"
            _show(f"{word} {one.file}: {pin} ({one.reason})")
    if not repairs:
        _show("every marker is sound")
    return ExitCode.WRONG if any(one.pin is None for one in repairs) else ExitCode.PASSED


def _recover(arguments: argparse.Namespace) -> int:
    from tooling.translations.commands.recover import apply_recovery, recover
    from tooling.translations.commands.recovery_rendering import render

    roots = _roots(arguments)
    doubtful = False
    found = recover(roots, _keys(arguments, roots) or frozenset(), fetch=arguments.fetch)
    for recovery in found:
        _show(render(recovery))
        if arguments.apply and recovery.candidates and not recovery.agree:
            _show("  not written: date and similarity disagree")
            doubtful = True
        elif arguments.apply:
            pin = apply_recovery(recovery)
            if pin is not None:
                _show(f"  written: commit {(pin.commit or '')[:12]}, blob {(pin.blob or '')[:12]}")
    found_all = all(one.candidates for one in found)
    return ExitCode.PASSED if found_all and not doubtful else ExitCode.WRONG


def _new_language(arguments: argparse.Namespace) -> int:
    from tooling.translations.commands.new_language import add_language
    from tooling.translations.roots import SOURCE

    base = _base()
    source = Path.cwd() / arguments.source if arguments.source else base / SOURCE
    result = add_language(base, source, arguments.code, arguments.name)
    for path in result.written:
        _show(f"written {path.relative_to(base)}")
    _show(f"{len(result.pages)} pages wait for a translation:")
    for page in result.pages:
        _show(f"  {page}")
    return ExitCode.PASSED

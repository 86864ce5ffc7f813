"""`tooling check-translations`: the state of the translations, and the commands that mend it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tooling.commandline.options import (
    DiffOptions,
    NewLanguageOptions,
    RecoverOptions,
    RepairOptions,
    RootOptions,
    StampOptions,
    StatusOptions,
)
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from tooling.translations.model import Pin
    from tooling.translations.report.report import Report
    from tooling.translations.roots import Roots


def _base() -> Path:
    """The folder that default roots lie in and reports speak from: the checkout around the working folder."""
    from tooling.platform.git_command import checkout_root

    here = Path.cwd()
    return checkout_root(here) or here


def _roots(options: RootOptions) -> Roots:
    from tooling.translations.roots import SOURCE, TRANSLATION, Roots

    base, here = _base(), Path.cwd()
    source = here / options.source if options.source else base / SOURCE
    target = here / options.translation if options.translation else base / TRANSLATION
    return Roots.under(base, options.lang, str(source), str(target))


def _keys(pages: Sequence[str], roots: Roots) -> frozenset[str] | None:
    from tooling.translations.commands.selection import PageNotFoundError, select_pages

    try:
        return select_pages(pages, roots, Path.cwd()) if pages else None
    except PageNotFoundError:
        from tooling.commandline.commands import action_instead_of_page

        mistyped = action_instead_of_page("check-translations", pages[0])
        if mistyped:
            raise mistyped from None
        raise


def _show(text: str) -> None:
    from tooling.translations.report.display import encodable

    print(encodable(text, sys.stdout.encoding))


def status_command(options: StatusOptions) -> int:
    from tooling.platform.gc_pause import paused_gc

    with paused_gc():
        return _report_status(options)


def _report_status(options: StatusOptions) -> int:
    from tooling.reports.annotations import in_workflow
    from tooling.translations.report.display import style_for
    from tooling.translations.report.formats import Format, render

    report = _make_report(options)
    form = Format(options.format)
    style = style_for(sys.stdout)
    if options.output:
        from tooling.platform.atomic_write import write_atomically

        write_atomically(Path(options.output), (render(report, form, style) + "\n").encode())
    else:
        _show(render(report, form, style, every_page=options.all))
    if in_workflow() and form is not Format.GITHUB:
        from tooling.translations.report.github import render as annotations

        stream = sys.stdout if form is Format.TEXT else sys.stderr  # stdout may hold a report
        for line in annotations(report).splitlines():
            print(line, file=stream)
    if in_workflow() or form is Format.GITHUB:
        _write_step_summary(report)
    return report.verdict.exit_code


def _make_report(options: StatusOptions) -> Report:
    from tooling.translations.cache import Cache
    from tooling.translations.commands.selection import scope_since
    from tooling.translations.freshness.difference import load_differences
    from tooling.translations.freshness.survey import survey
    from tooling.translations.report.policy import Policy
    from tooling.translations.report.report import make_report
    from tooling.translations.roots import GLOSSARY, IGNORES

    roots = _roots(options)
    policy = Policy.of(
        check=options.check or options.since is not None,
        fail_on=options.fail_on,
        max_stale=options.max_stale,
        max_age=options.max_age,
    )
    keys = _keys(options.pages, roots)
    scope = scope_since(options.since, roots) if options.since else None
    cache = Cache(None) if options.no_cache else load_differences(roots)
    moment = os.environ.get("SOURCE_DATE_EPOCH")
    found = survey(roots, only=keys, fetch=options.fetch, cache=cache, now=int(moment) if moment else None)
    fidelity = None
    if options.axis == "both":
        from tooling.translations.parity.fidelity import check_fidelity
        from tooling.translations.parity.page_cache import load_results

        default = roots.base / GLOSSARY.format(lang=roots.language)
        glossary = Path(options.glossary) if options.glossary else default
        used = glossary if options.glossary or default.is_file() else None
        results = Cache(None) if options.no_cache else load_results(roots)
        fidelity = check_fidelity(found, used, results, whole=keys is None)
    ignores = Path(options.ignores or roots.base / IGNORES.format(lang=roots.language))
    return make_report(found, fidelity, policy, ignores, scope=scope, only=keys)


def _write_step_summary(report: Report) -> None:
    from tooling.reports.step_summary import LIMIT, add_to_summary
    from tooling.translations.report.markdown import render

    # Three bytes at most for a character of these texts, and the limit counts bytes.
    add_to_summary(render(report, LIMIT // 3 - 1))


def diff_command(options: DiffOptions) -> int:
    from tooling.translations.commands.diff_rendering import render
    from tooling.translations.commands.drift import page_drifts
    from tooling.translations.model import Freshness
    from tooling.translations.report.display import style_for

    roots = _roots(options)
    style = style_for(sys.stdout)
    net = options.net or options.html is not None
    drifts = page_drifts(roots, _keys(options.pages, roots) or frozenset(), net=net, fetch=options.fetch)
    if options.html is not None:
        from tooling.platform.atomic_write import write_atomically
        from tooling.translations.commands import side_by_side

        write_atomically(Path(options.html), (side_by_side.render(drifts, roots.language) + "\n").encode())
    else:
        _show("\n\n".join(render(drift, style, words=options.words) for drift in drifts))
    unknown = any(drift.status.freshness in (Freshness.UNKNOWN, Freshness.BAD_PIN) for drift in drifts)
    return ExitCode.USAGE if unknown else ExitCode.PASSED


def stamp_command(options: StampOptions) -> int:
    from tooling.reports.invocation import as_typed
    from tooling.translations.commands.selection import selects_everything
    from tooling.translations.commands.stamp import (
        StampRequest,
        refuse_whole_tree,
        sections_of_several_pages,
        stamp,
        translated_keys,
    )

    roots = _roots(options)
    if not options.all and (not options.pages or selects_everything(options.pages, roots, Path.cwd())):
        raise refuse_whole_tree()
    keys = _keys(options.pages, roots) or translated_keys(roots)
    kept = frozenset(options.keep)
    if kept and len(keys) != 1:
        raise sections_of_several_pages(len(keys))
    request = StampRequest(
        keys,
        options.at,
        options.reviewed,
        kept,
        options.uncommitted,
        options.force,
        options.base,
        options.fetch,
    )
    result = stamp(roots, request)
    for one in result.stamped:
        _show(f"stamped {one.file}: {_described(one.pin)}")
    for refusal in result.refused:
        _show(f"refused {refusal.file}: {refusal.reason}\n  try: {as_typed(refusal.hint, os.environ)}")
    return ExitCode.WRONG if result.refused else ExitCode.PASSED


def _described(pin: Pin) -> str:
    commit = f"commit {pin.commit[:12]}, " if pin.commit else ""
    return f"{commit}blob {(pin.blob or '')[:12]}"


def repair_command(options: RepairOptions) -> int:
    from tooling.translations.commands.repair import apply_repairs, plan_repairs

    roots = _roots(options)
    repairs = plan_repairs(roots, _keys(options.pages, roots), fetch=options.fetch)
    if not options.dry_run:
        apply_repairs(repairs)
    word = "would write" if options.dry_run else "repaired"
    for one in repairs:
        if one.pin is None:
            _show(f"cannot repair {one.file}: {one.reason}")
        else:
            _show(f"{word} {one.file}: {_described(one.pin)} ({one.reason})")
    if not repairs:
        _show("every marker is sound")
    return ExitCode.WRONG if any(one.pin is None for one in repairs) else ExitCode.PASSED


def recover_command(options: RecoverOptions) -> int:
    from tooling.translations.commands.recover import apply_recovery, recover
    from tooling.translations.commands.recovery_rendering import render

    roots = _roots(options)
    doubtful = False
    found = recover(roots, _keys(options.pages, roots) or frozenset(), fetch=options.fetch)
    for recovery in found:
        _show(render(recovery))
        if options.apply and recovery.candidates and not recovery.agree:
            _show("  not written: date and similarity disagree")
            doubtful = True
        elif options.apply:
            pin = apply_recovery(recovery)
            if pin is not None:
                _show(f"  written: {_described(pin)}")
    found_all = all(one.candidates for one in found)
    return ExitCode.PASSED if found_all and not doubtful else ExitCode.WRONG


def new_lang_command(options: NewLanguageOptions) -> int:
    from tooling.translations.commands.new_language import add_language
    from tooling.translations.roots import SOURCE

    base = _base()
    source = Path.cwd() / options.source if options.source else base / SOURCE
    result = add_language(base, source, options.code, options.name)
    for path in result.written:
        _show(f"written {path.relative_to(base)}")
    _show(f"{len(result.pages)} pages wait for a translation:")
    for page in result.pages:
        _show(f"  {page}")
    return ExitCode.PASSED

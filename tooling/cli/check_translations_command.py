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
    SummaryOptions,
    preset_language,
)
from tooling.platform.exit_codes import ExitCode
from tooling.text import Sentence, Text, in_language

if TYPE_CHECKING:
    from tooling.translations.model import Pin
    from tooling.translations.report.display import Style
    from tooling.translations.report.report import Report
    from tooling.translations.roots import Roots
    from tooling.translations.settings import Settings


def _base() -> Path:
    """The folder that default roots lie in and reports speak from: the checkout around the working folder."""
    from tooling.platform.git_command import checkout_root

    here = Path.cwd()
    return checkout_root(here) or here


def _roots(options: RootOptions, pages: Sequence[str] = ()) -> Roots:
    """The trees: those of the options, else of the settings, else of this repository."""
    from tooling.translations.settings import read_settings

    settings = read_settings(_base())
    language = options.lang or _language_of_page(options, settings, pages) or _first_language(settings)
    return _roots_in(language, options, settings)


def _first_language(settings: Settings) -> str:
    return settings.languages[0].code if settings.languages else "ko"


def _roots_in(language: str, options: RootOptions, settings: Settings) -> Roots:
    from tooling.translations.roots import SOURCE, TRANSLATION, Roots
    from tooling.translations.settings import Profile

    base, here = _base(), Path.cwd()
    source = here / options.source if options.source else base / (settings.source or SOURCE)
    target = (
        here / options.translation if options.translation else base / (settings.translation or TRANSLATION)
    )
    profile = options.profile or settings.profile
    return Roots.under(
        base,
        language,
        str(source),
        str(target),
        policy=settings.policy_of(language),
        profile=Profile(profile) if profile else Profile.MDBOOK,
        marker=_marker_key(options.marker or settings.marker),
        options=_typed(options, language, settings),
    )


def _marker_key(name: str | None) -> str | None:
    """The key of the front matter; None for the comment, which has a name, too.

    Raises:
        SettingsError: it cannot be the name of a key.
    """
    from tooling.translations.settings import COMMENT_MARKER, MARKER_KEY, SettingsError

    if name is None or name == COMMENT_MARKER:
        return None
    if not MARKER_KEY.fullmatch(name):
        raise SettingsError(
            Text("--marker {name}: not a key of the front matter").of(name=name),
            why=Text("a key is letters, digits, `_` and `-`, with dots between the names of nested ones"),
            hint=Text("name it as the pages do, such as default_lang_commit or l10n.sourceCommit"),
        )
    return name


def _typed(options: RootOptions, language: str, settings: Settings) -> tuple[str, ...]:
    """The options that select the trees, for commands in hints."""
    given = (
        ("--lang", language if language != _first_language(settings) else None),
        ("--source", options.source),
        ("--translation", options.translation),
        ("--marker", options.marker),
        ("--profile", options.profile),
    )
    return tuple(word for name, value in given if value for word in (name, value))


def _language_of_page(options: RootOptions, settings: Settings, pages: Sequence[str]) -> str | None:
    """The language in whose tree the first page is."""
    for code in (one.code for one in settings.languages if pages):
        target = _roots_in(code, options, settings).target
        if Path(os.path.abspath(pages[0])).is_relative_to(os.path.abspath(target)):  # noqa: PTH100
            return code
    return None


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


def _style() -> Style:
    """How to write to the standard output: whether in colour, and the language of the environment."""
    from tooling.translations.report.display import style_for

    return style_for(sys.stdout, preset_language())


def _show(sentence: str | Sentence) -> None:
    from tooling.translations.report.display import encodable

    print(encodable(in_language(sentence, preset_language()), sys.stdout.encoding))


def status_command(options: StatusOptions) -> int:
    from tooling.platform.gc_pause import paused_gc

    with paused_gc():
        return _report_status(options)


def _report_status(options: StatusOptions) -> int:
    from tooling.reports.annotations import in_workflow
    from tooling.translations.report.formats import Format, render

    every = _every_language(options) if options.all_languages else (_roots(options, options.pages),)
    reports = [_make_report(options, roots) for roots in every]
    form = Format(options.format)
    style = _style()
    if options.output:
        from tooling.platform.atomic_write import write_atomically

        text = "\n\n".join(render(report, form, style) for report in reports)
        write_atomically(Path(options.output), (text + "\n").encode())
    else:
        _show("\n\n".join(render(report, form, style, every_page=options.all) for report in reports))
    if in_workflow() and form is not Format.GITHUB:
        from tooling.translations.report.github import render as annotations

        stream = sys.stdout if form is Format.TEXT else sys.stderr  # stdout may hold a report
        for report in reports:
            for line in annotations(report, style.language).splitlines():
                print(line, file=stream)
    if in_workflow() or form is Format.GITHUB:
        for report in reports:
            _write_step_summary(report)
    return max(report.verdict.exit_code for report in reports)


def _every_language(options: StatusOptions) -> tuple[Roots, ...]:
    """The trees of every language of the list.

    Raises:
        SettingsError: there is no list, or an option is for one language.
    """
    from tooling.translations.settings import LANGUAGES, SettingsError, read_settings

    settings = read_settings(_base())
    if not settings.languages:
        raise SettingsError(
            Text("--all-languages: there is no list of languages"),
            why=Text("neither translations.toml nor {file} has a [[language]] entry").of(file=LANGUAGES),
            hint=Text("add an entry with code and name for each, or name one language with --lang"),
        )
    single = [
        name
        for name, value in (("--glossary", options.glossary), ("--ignores", options.ignores))
        if value is not None and "{lang}" not in value
    ]
    if options.format in ("json", "sarif", "html"):
        single.append(f"--format {options.format}")
    if single:
        raise SettingsError(
            Text("{single} is for one language, and --all-languages checks several").of(single=single[0]),
            why=Text("each language has a file or report of its own"),
            hint=Text("name the language with --lang"),
        )
    return tuple(_roots_in(one.code, options, settings) for one in settings.languages)


def _make_report(options: StatusOptions, roots: Roots) -> Report:
    from tooling.translations.cache import Cache
    from tooling.translations.commands.selection import scope_since
    from tooling.translations.freshness.difference import load_differences
    from tooling.translations.freshness.survey import survey
    from tooling.translations.report.policy import Policy
    from tooling.translations.report.report import make_report
    from tooling.translations.roots import GLOSSARY, IGNORES

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
        glossary = Path(options.glossary.replace("{lang}", roots.language)) if options.glossary else default
        used = glossary if options.glossary or default.is_file() else None
        results = Cache(None) if options.no_cache else load_results(roots)
        fidelity = check_fidelity(found, used, results, whole=keys is None)
    ignores = roots.base / IGNORES.format(lang=roots.language)
    if options.ignores:
        ignores = Path(options.ignores.replace("{lang}", roots.language))
    report = make_report(found, fidelity, policy, ignores, scope=scope, only=keys)
    if options.format == "todo" and found.repository is not None:
        from msgspec.structs import replace

        from tooling.translations.commands.untouched import edited_sections

        return replace(report, edited=edited_sections(roots, report.pages))
    return report


def _write_step_summary(report: Report) -> None:
    from tooling.reports.step_summary import LIMIT, add_to_summary
    from tooling.translations.report.markdown import render

    # Three bytes at most for a character of these texts, and the limit counts bytes.
    add_to_summary(render(report, preset_language(), LIMIT // 3 - 1))


def diff_command(options: DiffOptions) -> int:
    from tooling.translations.commands.diff_rendering import render
    from tooling.translations.commands.drift import page_drifts
    from tooling.translations.model import Freshness

    roots = _roots(options, options.pages)
    style = _style()
    net = options.net or options.html is not None
    drifts = page_drifts(roots, _keys(options.pages, roots) or frozenset(), net=net, fetch=options.fetch)
    if options.html is not None:
        from tooling.platform.atomic_write import write_atomically
        from tooling.translations.commands import side_by_side

        write_atomically(
            Path(options.html), (side_by_side.render(drifts, roots.language, style) + "\n").encode()
        )
    else:
        _show("\n\n".join(render(drift, roots, style, words=options.words) for drift in drifts))
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
    from tooling.translations.words import TRY

    roots = _roots(options, options.pages)
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
        _show(Text("stamped {file}: {pin}").of(file=one.file, pin=_described(one.pin)))
    for refusal in result.refused:
        hint = as_typed(in_language(refusal.hint, preset_language()), os.environ)
        _show(Text("refused {file}: {reason}").of(file=refusal.file, reason=refusal.reason))
        _show(TRY.of(hint=hint))
    return ExitCode.WRONG if result.refused else ExitCode.PASSED


def _described(pin: Pin) -> Sentence:
    blob = Text("blob {blob}").of(blob=(pin.blob or "")[:12])
    if not pin.commit:
        return blob
    return Text("commit {commit}, {blob}").of(commit=pin.commit[:12], blob=blob)


def repair_command(options: RepairOptions) -> int:
    from tooling.translations.commands.repair import apply_repairs, plan_repairs

    roots = _roots(options, options.pages)
    repairs = plan_repairs(roots, _keys(options.pages, roots), fetch=options.fetch)
    if not options.dry_run:
        apply_repairs(repairs, roots)
    done = Text("repaired {file}: {pin} ({reason})")
    if options.dry_run:
        done = Text("would write {file}: {pin} ({reason})")
    for one in repairs:
        if one.pin is None:
            _show(Text("cannot repair {file}: {reason}").of(file=one.file, reason=one.reason))
        else:
            _show(done.of(file=one.file, pin=_described(one.pin), reason=one.reason))
    if not repairs:
        _show(Text("every marker is sound"))
    return ExitCode.WRONG if any(one.pin is None for one in repairs) else ExitCode.PASSED


def recover_command(options: RecoverOptions) -> int:
    from tooling.translations.commands.recover import apply_recovery, recover
    from tooling.translations.commands.recovery_rendering import render

    roots = _roots(options, options.pages)
    doubtful = False
    found = recover(roots, _keys(options.pages, roots) or frozenset(), fetch=options.fetch)
    for recovery in found:
        _show(render(recovery, roots, _style()))
        if options.apply and recovery.candidates and not recovery.agree:
            _show(Text("  not written: date and similarity disagree"))
            doubtful = True
        elif options.apply:
            pin = apply_recovery(recovery, roots)
            if pin is not None:
                _show(Text("  written: {pin}").of(pin=_described(pin)))
    found_all = all(one.candidates for one in found)
    return ExitCode.PASSED if found_all and not doubtful else ExitCode.WRONG


def summary_command(options: SummaryOptions) -> int:
    from tooling.translations.commands.summary import write_summary

    result = write_summary(_roots(options))
    _show(Text("written {file}: {pin}").of(file=result.file, pin=_described(result.pin)))
    if result.left:
        _show(
            Text("{count} title is not translated yet:", "{count} titles are not translated yet:").of(
                count=len(result.left)
            )
        )
        for title in result.left:
            _show(f"  {title}")
    return ExitCode.PASSED


def new_lang_command(options: NewLanguageOptions) -> int:
    from tooling.translations.commands.new_language import add_language
    from tooling.translations.roots import SOURCE

    base = _base()
    source = Path.cwd() / options.source if options.source else base / SOURCE
    result = add_language(base, source, options.code, options.name)
    for path in result.written:
        _show(Text("written {file}").of(file=str(path.relative_to(base))))
    _show(
        Text("{count} page waits for a translation:", "{count} pages wait for a translation:").of(
            count=len(result.pages)
        )
    )
    for page in result.pages:
        _show(f"  {page}")
    return ExitCode.PASSED

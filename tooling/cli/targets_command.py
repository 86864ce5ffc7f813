"""`tooling targets`: which GPUs can be used here, and why not the others."""

from __future__ import annotations

from tooling.commandline.options import TargetsOptions, host_of
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

_YES = Text("yes", context="of a target")
_NO = Text("no", context="of a target")
_COMPUTE = Text("compute capability {version}")
_LANES = Text("warps of {lanes} threads")
_GPUS = Text("{count} GPUs")
_UP_TO = Text("up to {count} GPUs")
_CHOSEN = Text("a run uses `{target}`: {reason}")
_CHOSEN_THERE = Text(
    "a run uses the GPU of `{host}`, as PUZZLE_ON or `tooling targets --on {host} --default` says; "
    "`tooling targets --default` returns to this machine"
)
_REMEMBERED = Text("runs use `{host}` from now on; `tooling targets --default` returns to this machine")
_WIDTH = 11  # of the longest name


def targets_command(options: TargetsOptions) -> int:
    from tooling.remote.default_host import remember_host
    from tooling.reports.terminal import open_terminal
    from tooling.targets.model import Absence, Target, TargetKind
    from tooling.targets.probing import probe
    from tooling.targets.selection import choose
    from tooling.text import in_language
    from tooling.text.width import columns, wrapped

    terminal = open_terminal()
    yes, no = _YES.render(options.lang), _NO.render(options.lang)
    width = max(columns(yes), columns(no))

    def show(kind: TargetKind, word: str, style: str, rest: str) -> None:
        padding = " " * (width - columns(word))
        before = _WIDTH + width + 2
        first, *others = wrapped(rest, max(30, terminal.width - before)) if terminal.width else [rest]
        terminal.line(f"{kind.value:{_WIDTH}} {terminal.paint(word, style)}{padding} {first}")
        for line in others:
            terminal.line(" " * before + line)

    def show_found(found: Target) -> None:
        details = [] if found.accelerator in found.device else [found.accelerator]
        if found.compute:
            version = f"{found.compute[0]}.{found.compute[1]}"
            details.append(_COMPUTE.of(version=version).render(options.lang))
        details.append(_LANES.of(lanes=found.lanes).render(options.lang))
        if found.gpus > 1:
            text = _UP_TO if found.simulated else _GPUS
            details.append(text.of(count=found.gpus).render(options.lang))
        show(found.kind, yes, "green", f"{in_language(found.named, options.lang)}: {', '.join(details)}")

    if options.on is not None:
        from tooling.remote.connection import connection
        from tooling.remote.hosts import NO_GPU, facts_of, require_same_system

        facts = facts_of(connection(options.on), again=True)
        for target in facts.targets:
            show_found(target)
        if not facts.targets:
            terminal.wrapped(NO_GPU.of(host=options.on).render(options.lang))
            return ExitCode.NOT_POSSIBLE
        require_same_system(options.on, facts)
        if options.default:
            remember_host(options.on)
            terminal.wrapped(_REMEMBERED.of(host=options.on).render(options.lang))
        return ExitCode.PASSED
    if options.default:
        remember_host("")
    for kind in TargetKind:
        found = probe(kind)
        if isinstance(found, Absence):
            show(kind, no, "dim", in_language(found.reason, options.lang))
        else:
            show_found(found)
    if host := host_of(None, None):
        terminal.wrapped(_CHOSEN_THERE.of(host=host).render(options.lang))
        return ExitCode.PASSED
    choice = choose(None)
    chosen = _CHOSEN.of(target=choice.target.kind.value, reason=choice.reason)
    terminal.wrapped(chosen.render(options.lang))
    return ExitCode.PASSED

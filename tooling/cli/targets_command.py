"""`tooling targets`: which GPUs can be used here, and why not the others."""

from __future__ import annotations

from tooling.cli.options import TargetsOptions
from tooling.exit_codes import ExitCode


def command(_options: TargetsOptions) -> int:
    from tooling.reports.terminal import open_terminal
    from tooling.targets.model import Absence, TargetKind
    from tooling.targets.probing import probe
    from tooling.targets.selection import choose
    from tooling.text import ENGLISH, in_language

    terminal = open_terminal()
    for kind in TargetKind:
        found = probe(kind)
        if isinstance(found, Absence):
            terminal.line(
                f"{kind.value:11} {terminal.paint('no ', 'dim')} {in_language(found.reason, ENGLISH)}"
            )
            continue
        details = [] if found.accelerator in found.device else [found.accelerator]
        if found.compute:
            details.append(f"compute capability {found.compute[0]}.{found.compute[1]}")
        details.append(f"warps of {found.lanes} threads")
        terminal.line(
            f"{kind.value:11} {terminal.paint('yes', 'green')} {found.device}: {', '.join(details)}"
        )
    choice = choose(None)
    terminal.line(f"a run takes `{choice.target.kind.value}`: {in_language(choice.reason, ENGLISH)}")
    return ExitCode.PASSED

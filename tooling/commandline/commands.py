"""The table of commands, and the way from a command line to a row of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from tooling.commandline import learner_options, options
from tooling.commandline.parser import (
    ARGUMENTS,
    HelpFormatter,
    Parser,
    RawHelpFormatter,
    UsageError,
    add_fields,
    takes_arguments,
)
from tooling.platform.suggestions import did_you_mean, nearest, proposal
from tooling.text import ENGLISH, Text


class Command(Struct, frozen=True):
    """One command, or one action of a command such as `book build`.

    Attributes:
        name: what a user types; of an action, its own word.
        help: its line of the list.
        options: the class of its options; None where it has actions.
        description: is at the beginning of its help, epilog at the end.
        laid_out: description and epilog are broken into lines already.
        actions: what it can do.
        default: the action that is meant where none is named; empty: one must be named.
        heading, metavar: of the list of actions in the help; None: that of positional arguments.
        parent: the command that an action belongs to.
        run: the function that takes its options and returns the exit status, as `module:function`. The
            module is imported when the command runs. Empty where there are actions.
    """

    name: str
    help: Text
    options: type[Struct] | None = None
    description: Text | None = None
    epilog: Text | None = None
    laid_out: bool = False
    actions: tuple[Command, ...] = ()
    default: str = ""
    heading: Text | None = None
    metavar: str = "ACTION"
    parent: str = ""
    run: str = ""

    @property
    def prog(self) -> str:
        """What a user types to run it."""
        return " ".join(filter(None, ("tooling", self.parent, self.name)))


_FRESHNESS = Text("""\
Every translated page begins with the marker
    <!-- i18n-source-commit: COMMIT -->
    <!-- i18n-source-blob: BLOB -->
which names the version of the source that was translated. A page is current while the blob is that of
today's source, whatever commits are in between. `stamp` writes the marker; pages with the first line alone
are accepted.

Translations need not follow a commit with the trailer `I18n-Skip: GLOB` (a glob over source paths), or one
whose id is listed in .i18n-ignore-revs. Accepted findings are listed in i18n/LANG/ignore.toml, as [[ignore]]
entries.

Exit status: 0 pass; 1 findings that count (with --check); 2 something could not be determined.
""")

_NO_ACTION = Text("`{command}` has no action `{action}`")
_TAKEN_FOR_A_PAGE = Text("`{command}` takes `{page}` for a page, since an option is before it")
_ACTION_FIRST = Text("write the action first: `{command} {page} ...`")

COMMANDS: tuple[Command, ...] = (
    Command(
        "start",
        Text("show where you are, the next puzzle and what to type"),
        learner_options.StartOptions,
        Text(
            "Shows what you have solved, the next puzzle with its file and page, and the commands for it. "
            "In a terminal, `tooling` alone does the same. With --path the next puzzles are those of a path, "
            "in its order, until they are solved; the record of progress keeps the choice."
        ),
        Text("Example: tooling start --path gpu"),
        run="tooling.cli.learner.journey:start_command",
    ),
    Command(
        "next",
        Text("show the next puzzle"),
        learner_options.NextOptions,
        Text("Shows the first puzzle of the book, or of your path, that you have not solved."),
        run="tooling.cli.learner.journey:next_command",
    ),
    Command(
        "watch",
        Text("build, run and judge a puzzle at every save"),
        learner_options.WatchOptions,
        Text(
            "Builds, runs and judges the puzzle whenever you save it, and keeps the last verdict on the "
            "screen. A newer save ends an older build. Keys show hints, the solution and the profile, and "
            "switch to the next puzzle."
        ),
        run="tooling.cli.learner.watch:watch_command",
    ),
    Command(
        "hint",
        Text("show a hint"),
        learner_options.HintOptions,
        Text("Shows a hint of a puzzle; each is closer to the answer than the one before."),
        Text("Examples: tooling hint; tooling hint p15; tooling hint p15 2; tooling hint p23 --tiled"),
        run="tooling.cli.learner.answers:hint_command",
    ),
    Command(
        "solution",
        Text("show the solution of a puzzle"),
        learner_options.SolutionOptions,
        Text(
            "Shows the solution of the part that a mode asks for. Before the puzzle is solved it asks once "
            "whether you want to see it."
        ),
        run="tooling.cli.learner.answers:solution_command",
    ),
    Command(
        "diff",
        Text("show your program beside the solution"),
        learner_options.SolutionOptions,
        Text(
            "Shows where your program and the solution differ, side by side in a terminal of 100 columns. "
            "Before the puzzle is solved it asks once whether you want to see it."
        ),
        run="tooling.cli.learner.answers:diff_command",
    ),
    Command(
        "reset",
        Text("write the skeleton of a puzzle again"),
        learner_options.ResetOptions,
        Text(
            "Writes the problem file as it was before you edited it. Your file is kept beside it, with the "
            "date in its name. The puzzle counts as unsolved again. `reset all` does this with every puzzle."
        ),
        run="tooling.cli.learner.answers:reset_command",
    ),
    Command(
        "progress",
        Text("show what you have solved, and on which GPU"),
        learner_options.ProgressOptions,
        Text(
            "Shows a bar, and the puzzles of every part with the day and the GPUs of your success. The file "
            ".progress.json of the folder has the record; --import adds that of another folder."
        ),
        Text("Example: tooling progress --import ../my-first-folder"),
        run="tooling.cli.learner.journey:progress_command",
    ),
    Command(
        "check-answers",
        Text("judge again everything that you have solved"),
        learner_options.CheckAnswersOptions,
        Text(
            "Builds, runs and judges every program that has passed in this folder, after an update or on "
            "another GPU. Exit status: 0 if all pass, 1 if one does not, 4 if none could be judged here."
        ),
        Text("Examples: tooling check-answers; tooling check-answers p05 p06 --target sim-amd"),
        run="tooling.cli.learner.check_answers:check_answers_command",
    ),
    Command(
        "run",
        Text("build a puzzle, run it and judge it"),
        options.PuzzleRunOptions,
        Text(
            "Builds a puzzle's program, runs it on the puzzle's data and on other data, and judges "
            "the buffers that it hands in. Of several puzzles the first that does not pass decides the exit "
            "status."
        ),
        Text("Examples: tooling run p23 --tiled; tooling run p05 p06 p23 --tiled"),
        run="tooling.cli.run_command:run_command",
    ),
    Command(
        "list",
        Text("show the puzzles, and choose one"),
        options.ListOptions,
        Text(
            "In a terminal: the arrow keys move, Enter watches the puzzle, and other keys run it, open its "
            "file, reset it or filter the list. Elsewhere, and with --plain, the list is printed; --modes "
            "shows the commands of each puzzle."
        ),
        Text("Examples: tooling list; tooling list --todo --part III; tooling list dot; tooling list p23"),
        run="tooling.cli.list_command:list_command",
    ),
    Command(
        "targets",
        Text("show which GPUs can be used here"),
        options.TargetsOptions,
        Text("Shows every target, whether it is there, and why not. With --on, the GPUs of another machine."),
        Text("Example: tooling targets --on gpu-server"),
        run="tooling.cli.targets_command:targets_command",
    ),
    Command(
        "clean",
        Text("remove what runs have left on another machine"),
        options.CleanOptions,
        Text(
            "Programs and libraries that `--on` has sent to a machine are kept there in the user's cache, "
            "and removed when they have not been used for 30 days. This removes all of them."
        ),
        Text("Example: tooling clean --on gpu-server"),
        run="tooling.cli.clean_command:clean_command",
    ),
    Command(
        "init",
        Text("make a folder with the puzzles, without a clone"),
        learner_options.InitOptions,
        Text(
            "Makes a folder with the problem files, pyproject.toml and pixi.toml that pin this version, and "
            "a README. The same commands work there."
        ),
        Text("Example: uvx gpu-puzzle-lab init my-puzzles"),
        run="tooling.cli.learner.folder:init_command",
    ),
    Command(
        "update",
        Text("bring the puzzles up to date and keep your answers"),
        learner_options.UpdateOptions,
        Text(
            "In a clone, takes the version of the remote, also where you have committed answers; in a "
            "folder of `tooling init`, takes the puzzles of the installed version. Your answers are "
            "carried over into the new problem files, and every edited file is copied first. Exit status: "
            "0 if all answers were carried over, 1 if one was not, with the reason."
        ),
        run="tooling.cli.learner.folder:update_command",
    ),
    Command(
        "doctor",
        Text("check this machine for what the puzzles need"),
        learner_options.DoctorOptions,
        Text(
            "Checks Python, Mojo, linker, GPU and driver, cache, disk, terminal and editor, and says what "
            "to do. Exit status: 0 if puzzles can run, 1 if not."
        ),
        run="tooling.cli.learner.machine:doctor_command",
    ),
    Command(
        "editor",
        Text("write an editor's settings for Mojo's language server"),
        learner_options.EditorOptions,
        Text(
            "Writes settings into the folder of the project, so that the language server of the pinned Mojo "
            "finds what the puzzles import. Your other settings stay; a file that changes is copied first."
        ),
        run="tooling.cli.learner.machine:editor_command",
    ),
    Command(
        "completion",
        Text("print the completion script of a shell"),
        learner_options.CompletionOptions,
        Text(
            "Prints a script that completes commands, options, puzzles and their flags after `tooling`, "
            "`gpu-puzzle-lab`, `uv run tooling`, `uvx gpu-puzzle-lab`, `pixi run tooling` and `poe`."
        ),
        Text(
            'Examples: eval "$(tooling completion bash)"; tooling completion zsh > ~/.zfunc/_tooling; '
            "tooling completion fish > ~/.config/fish/completions/tooling.fish"
        ),
        run="tooling.cli.learner.completion:completion_command",
    ),
    Command(
        "cache",
        Text("show or empty the build cache"),
        description=Text("The cache of built programs: its folder and size."),
        epilog=Text("PUZZLE_CACHE_DIR names another folder."),
        default="show",
        actions=(
            Command(
                "show",
                Text("show its folder and size (the default)"),
                learner_options.CacheOptions,
                parent="cache",
                run="tooling.cli.learner.machine:show_command",
            ),
            Command(
                "empty",
                Text("remove all built programs"),
                learner_options.CacheOptions,
                parent="cache",
                run="tooling.cli.learner.machine:empty_command",
            ),
        ),
    ),
    Command(
        "verify",
        Text("judge every solution, skeleton and mutant"),
        options.VerifyOptions,
        Text(
            "Judges our own programs: every solution must pass, every skeleton must fail, and every "
            "mutant must be rejected with a diagnosis that its file expects."
        ),
        run="tooling.cli.verify_command:verify_command",
    ),
    Command(
        "matrix",
        Text("cross-build every program for every vendor"),
        description=Text("The vendor matrix: no GPU is needed."),
        actions=(
            Command(
                "build",
                Text("cross-build every program and compare what builds with the manifests"),
                options.MatrixBuildOptions,
                Text(
                    "Cross-builds the solution of every program for every accelerator, and fails where a "
                    "mode that is not gated does not build, or one that the compiler is said to refuse does."
                ),
                parent="matrix",
                run="tooling.cli.matrix_command:build_command",
            ),
        ),
    ),
    Command(
        "simulate",
        Text("run any Mojo GPU program on the simulated GPU"),
        options.SimulateOptions,
        Text(
            "Runs a program on the simulated GPU and prints what its checks find. The program may be an "
            "executable built for sm_90a, a .mojo file, or a command such as `mojo run file.mojo`. A run in "
            "which no kernel is launched ends with status 4: nothing was checked."
        ),
        Text("Example: tooling simulate -- ./my_program --its-flag"),
        run="tooling.cli.simulate_command:simulate_command",
    ),
    Command(
        "profile",
        Text("count what a kernel does to memory, line by line"),
        options.ProfileOptions,
        Text(
            "Runs a puzzle on the simulated GPU and counts, for each kernel and each line: sectors "
            "per request, bank conflicts, divergence, bytes and barriers. The counts equal those of Nsight "
            "Compute on an H200; with `--target sim-amd` they follow AMD's documents, and no AMD GPU has "
            "confirmed them. Times are never shown, they need a real GPU."
        ),
        Text("Examples: tooling profile p15 --solution --html p15.html; tooling profile my_kernel.mojo"),
        run="tooling.cli.profile_command:profile_command",
    ),
    Command(
        "replay",
        Text("step through a kernel: its lines, threads and memory"),
        options.ReplayOptions,
        Text(
            "Records one block of a launch on the simulated GPU and writes a page that shows it step by "
            "step: the current line, the threads that execute it, the values that they load and store, "
            "barriers, and what the checks found. The page is one file and needs no network."
        ),
        Text(
            "Examples: tooling replay p15 --solution --open; tooling replay p12 --html p12.html; tooling "
            "replay my_kernel.mojo"
        ),
        run="tooling.cli.learner.replay:replay_command",
    ),
    Command(
        "generate",
        Text("write everything that is derived from manifests and solutions"),
        options.GenerateOptions,
        Text("Writes the problem files, the tasks of poe and pixi, the CI matrix and the workflows."),
        run="tooling.cli.generate_command:generate_command",
    ),
    Command(
        "new-puzzle",
        Text("write the first files of a new puzzle"),
        options.NewPuzzleOptions,
        Text(
            "Writes a manifest, a solution, a reference, wrong answers, a page in both languages and a "
            "figure: a small puzzle that passes `tooling verify` and `tooling check`, for you to replace "
            "step by step. Nothing that exists is overwritten."
        ),
        Text('Example: tooling new-puzzle p36 "Vector scale" --ko "벡터 스케일"'),
        run="tooling.cli.generate_command:new_puzzle_command",
    ),
    Command(
        "bundle",
        Text("cross-build everything for a machine without a toolchain"),
        options.BundleOptions,
        Text(
            "Cross-builds solutions, problem files and mutants for one accelerator into a folder "
            "with run_bundle.py, which needs only Python and the GPU's driver there."
        ),
        run="tooling.cli.bundle_command:bundle_command",
    ),
    Command(
        "collect",
        Text("judge the answers of a class, in a sandbox"),
        options.CollectOptions,
        Text(
            "Judges the answers of many students on the simulated GPU. Their programs are built and run in a "
            "sandbox (bubblewrap), without network and without access to other files, with limits on memory, "
            "time, processes and output. The reports are a table (CSV, HTML), JUnit, and what "
            "Gradescope and GitHub Classroom read, for each student."
        ),
        Text("Example: tooling collect submissions --puzzle p01 --puzzle p02"),
        run="tooling.cli.collect_command:collect_command",
    ),
    Command(
        "check-translations",
        Text("compare the translations with their source"),
        description=Text("Lists the translated pages that are older than their source or differ from it."),
        epilog=_FRESHNESS,
        laid_out=True,
        default="status",
        heading=Text("commands"),
        metavar="COMMAND",
        actions=(
            Command(
                "status",
                Text("the state of every page (the default)"),
                options.StatusOptions,
                Text("The state of every page: is it current, does it say what its source said?"),
                parent="check-translations",
                run="tooling.cli.check_translations_command:status_command",
            ),
            Command(
                "diff",
                Text("what to translate, commit by commit"),
                options.DiffOptions,
                Text("Shows the source's changed blocks by commit, with the lines of the translation."),
                parent="check-translations",
                run="tooling.cli.check_translations_command:diff_command",
            ),
            Command(
                "stamp",
                Text("mark pages as translated from a version of their source"),
                options.StampOptions,
                Text(
                    "Writes commit and blob into the marker. Refuses what would be untrue: uncommitted "
                    "source text, a commit outside the base's history, parity errors, a section that "
                    "changed in the source and was not edited in the translation."
                ),
                parent="check-translations",
                run="tooling.cli.check_translations_command:stamp_command",
            ),
            Command(
                "repair",
                Text("mend markers after rewritten history"),
                options.RepairOptions,
                Text("Finds lost commits by their text and adds missing blob lines; pages stay as they are."),
                parent="check-translations",
                run="tooling.cli.check_translations_command:repair_command",
            ),
            Command(
                "recover",
                Text("find what a page with a lost pin was translated from"),
                options.RecoverOptions,
                Text("Ranks the versions of the source by similarity; writes nothing without --apply."),
                parent="check-translations",
                run="tooling.cli.check_translations_command:recover_command",
            ),
            Command(
                "summary",
                Text("write the table of contents with the titles of the translated pages"),
                options.SummaryOptions,
                Text(
                    "Writes SUMMARY.md with the parts and chapters of the source and stamps it. A title that "
                    "is translated stays; another one is that of the page, and of the source without a page."
                ),
                parent="check-translations",
                run="tooling.cli.check_translations_command:summary_command",
            ),
            Command(
                "new-lang",
                Text("start a translation into another language"),
                options.NewLanguageOptions,
                Text("Writes book.toml, SUMMARY.md, a glossary to fill and the switcher's entry."),
                parent="check-translations",
                run="tooling.cli.check_translations_command:new_lang_command",
            ),
        ),
    ),
    Command(
        "book",
        Text("build the site"),
        description=Text("The book: both editions, one site."),
        actions=(
            Command(
                "build",
                Text("build both editions into one site"),
                options.BookBuildOptions,
                run="tooling.cli.book_command:build_command",
                parent="book",
            ),
            Command(
                "serve",
                Text("build, show on this machine, and build again after every change"),
                options.BookServeOptions,
                parent="book",
                run="tooling.cli.book_command:serve_command",
            ),
            Command(
                "check",
                Text("look for everything in the book that is not true or does not work"),
                options.BookCheckOptions,
                parent="book",
                run="tooling.cli.book_command:check_command",
            ),
            Command(
                "formulas",
                Text("draw the formulas of the pages, and record them"),
                options.BookFormulasOptions,
                parent="book",
                run="tooling.cli.book_command:formulas_command",
            ),
            Command(
                "outputs",
                Text("compare the printed outputs with what the programs print"),
                options.BookOutputsOptions,
                parent="book",
                run="tooling.cli.book_command:outputs_command",
            ),
        ),
    ),
    Command(
        "figure",
        Text("draw the book's figures"),
        options.FigureOptions,
        Text(
            "Draws figures as SVG into build/figures, from the puzzles' data and from traces of the programs "
            "on the simulated GPU, in every language. The book needs no such files: its build draws them."
        ),
        run="tooling.cli.figure_command:figure_command",
    ),
    Command(
        "check",
        Text("all checks of the repository that need no GPU"),
        options.CheckOptions,
        Text(
            "Runs `generate --check`, `check-translations --all-languages --fail-on warning` and `book "
            "check`, and says what each of them found. A check that could not run has not passed."
        ),
        run="tooling.cli.check_command:check_command",
    ),
)


def find_action(
    command: Command, words: Sequence[str], language: str = ENGLISH, typed: Callable[[str], str] = str
) -> tuple[Command, Sequence[str]]:
    """The command itself, or the one of its actions that `words` begin with, and the words that remain.

    Args:
        typed: as for `Parser`.

    Raises:
        UsageError: the action does not exist, or none is named where one must be.
        SystemExit: the help was asked for, and has been printed.
    """
    if not command.actions:
        return command, words
    first = words[0] if words else ""
    for action in command.actions:
        if action.name == first:
            return action, words[1:]
    parser = parser_of(command, language, typed)
    if first in ("-h", "--help"):
        parser.parse_args([first])
    if command.default:
        action = next(action for action in command.actions if action.name == command.default)
        if first and not first.startswith("-") and not takes_arguments(action.options):
            raise UsageError(
                _NO_ACTION.of(command=command.prog, action=first),
                hint=did_you_mean(first, [each.name for each in command.actions]),
            )
        return action, words
    if not first or first.startswith("-"):
        parser.error(f"the following arguments are required: {command.metavar}")
    names = [action.name for action in command.actions]
    raise UsageError(_NO_ACTION.of(command=command.prog, action=first), hint=did_you_mean(first, names))


def parser_of(command: Command, language: str = ENGLISH, typed: Callable[[str], str] = str) -> Parser:
    """The parser of one command, with its options or the list of its actions; `typed` as for `Parser`."""
    parser = Parser(
        language=language,
        prog=command.prog,
        typed=typed,
        description=command.description,
        epilog=command.epilog,
        formatter_class=RawHelpFormatter if command.laid_out else HelpFormatter,
    )
    if command.options:
        add_fields(parser, command.options)
    else:
        add_list(parser, command.actions, command.metavar, command.heading)
    return parser


def add_list(parser: Parser, commands: Sequence[Command], metavar: str, heading: Text | None) -> None:
    """Lists commands in a parser's help."""
    listed = parser.add_subparsers(
        title=parser.say(heading or ARGUMENTS), metavar=metavar, parser_class=Parser
    )
    for command in commands:
        listed.add_parser(command.name, help=parser.say(command.help), add_help=False)


def action_instead_of_page(name: str, page: str) -> UsageError | None:
    """The error of a page that does not exist and is likely to be a misspelled action; None: it is not."""
    command = next(command for command in COMMANDS if command.name == name)
    near = nearest(page, [action.name for action in command.actions])
    if near == (page,):
        return UsageError(
            _TAKEN_FOR_A_PAGE.of(command=command.prog, page=page),
            hint=_ACTION_FIRST.of(command=command.prog, page=page),
        )
    return UsageError(_NO_ACTION.of(command=command.prog, action=page), hint=proposal(near)) if near else None

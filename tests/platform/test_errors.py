"""Errors: their text, also after pickling for another process, and in the reader's language."""

import ast
import builtins
import importlib
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tooling.platform.errors import Location, ToolingError
from tooling.text import Text

_AS_IT_IS = re.compile(r"`[^`]*`|\{[^}]*\}")
TOOLING = Path(__file__).parents[2] / "tooling"
SHOWN_TO_LEARNERS = [
    *(TOOLING / "cli" / "learner").glob("*.py"),
    *(TOOLING / "learning").glob("*.py"),
    *(TOOLING / "targets").glob("*.py"),
    *(TOOLING / "toolchain").glob("*.py"),
    *(
        TOOLING / name
        for name in (
            "catalog/catalogue.py",
            "cli/__init__.py",
            "commandline/commands.py",
            "cli/list_command.py",
            "commandline/parser.py",
            "cli/profile_command.py",
            "cli/run_command.py",
            "cli/simulate_command.py",
            "cli/subject.py",
            "execution/program.py",
            "project.py",
            "reports/hints.py",
            "platform/state_file.py",
            "trials.py",
        )
    ),
]


class TwoPlacesError(ToolingError):
    """An error whose arguments differ from those of its base class."""

    def __init__(self, first: Path, *, second: Path) -> None:
        super().__init__("two lines disagree", where=Location(first, 3), hint=f"see {second}")
        self.second = second


def test_an_error_is_the_same_after_pickling() -> None:
    error = TwoPlacesError(Path("a.mojo"), second=Path("b.mojo"))
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is TwoPlacesError
    assert str(copied) == str(error) == "a.mojo:3: two lines disagree\n  try: see b.mojo"
    assert (copied.args, copied.second) == (error.args, error.second)


def test_an_error_speaks_a_language_if_it_is_a_sentence_of_the_tool() -> None:
    error = ToolingError(Text("there are none"), hint=Text("nothing is overwritten"))
    error.speak("ko")
    assert (error.language, error.what, error.hint) == ("ko", "하나도 없습니다", "파일을 덮어쓰지 않습니다")
    plain = ToolingError("two lines disagree", hint=Text("nothing is overwritten"))
    plain.speak("ko")
    assert (plain.language, plain.what, plain.hint) == ("en", "two lines disagree", "nothing is overwritten")


@pytest.mark.parametrize("path", SHOWN_TO_LEARNERS, ids=lambda path: path.relative_to(TOOLING).as_posix())
def test_errors_that_learners_see_are_sentences_of_the_tool(path: Path) -> None:
    name = ".".join(path.relative_to(TOOLING.parent).with_suffix("").parts).removesuffix(".__init__")
    known = vars(importlib.import_module(name)) | vars(builtins)
    plain: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            kind = known.get(ast.unparse(node.exc.func), ToolingError)
            if isinstance(kind, type) and issubclass(kind, ToolingError):
                plain += _plain_sentences(node.exc)
    assert plain == []


def _plain_sentences(call: ast.Call) -> Iterator[str]:
    """The arguments of an error that are no `Text`; what is only a command in backticks has no language."""
    named = [each.value for each in call.keywords if each.arg in ("why", "hint")]
    for value in (*call.args[:1], *named):
        text = ast.unparse(value)
        if isinstance(value, ast.Constant | ast.JoinedStr) and re.search("[a-z]{2}", _AS_IT_IS.sub("", text)):
            yield f"line {call.lineno}: {text}"

"""A further language of the tool is one catalogue: options, environment and every screen take it up."""

from __future__ import annotations

from pathlib import Path

import polib
import pytest

from tests.cli.conftest import Workbench
from tooling.platform.exit_codes import ExitCode
from tooling.text.catalogues import FOLDER_VARIABLE
from tooling.text.extraction import sentences, update_catalogue

TOOLING = Path(__file__).parents[2] / "tooling"
TRANSLATED = {
    "commands": "commandes",
    "show the puzzles, and choose one": "affiche les exercices, et permet d'en choisir un",
    "PART {part}": "PARTIE {part}",
    "expected": "attendu",
    "why": "raison",
    "error": "erreur",
    "there is no command `{name}`": "la commande `{name}` n'existe pas",
}


@pytest.fixture(scope="module")
def catalogues(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a catalogue in which a few sentences are translated."""
    folder = tmp_path_factory.mktemp("catalogues")
    update_catalogue(folder / "fr.po", sentences(TOOLING))
    catalogue = polib.pofile(str(folder / "fr.po"))
    for entry in catalogue:
        if entry.msgid in TRANSLATED:
            entry.msgstr = TRANSLATED[entry.msgid]
    catalogue.save(str(folder / "fr.po"))
    return folder


@pytest.fixture
def french(workbench: Workbench, catalogues: Path) -> Workbench:
    """A checkout whose commands find the catalogue."""
    workbench.environment[FOLDER_VARIABLE] = str(catalogues)
    return workbench


def test_help_is_in_a_further_language(french: Workbench) -> None:
    result = french.run("--help", LANG="fr_FR.UTF-8")
    assert result.status == ExitCode.PASSED
    assert "\ncommandes:\n" in result.stdout
    assert "affiche les exercices, et permet d'en choisir un" in result.stdout
    assert "--lang {en,fr,ko}" in french.run("list", "--help").stdout


def test_a_wrong_answer_is_explained_in_a_further_language(french: Workbench) -> None:
    french.answer("for i in range(7):\n    out[i] = a[i] + 10\n")
    result = french.run("run", "p01", "--lang", "fr")
    assert result.status == ExitCode.WRONG
    assert "attendu" in result.stdout
    assert "raison: " in result.stdout
    assert "only the last element of `out` is wrong" in result.stdout  # not translated yet
    assert french.run("run", "p01", PUZZLE_LANG="fr").stdout == result.stdout


def test_the_list_and_an_error_are_in_a_further_language(french: Workbench) -> None:
    assert french.run("list", "--lang", "fr").stdout == french.run("list", PUZZLE_LANG="fr").stdout
    error = french.run("lsit", LC_ALL="fr_CA.UTF-8").stderr
    assert error.startswith("erreur: la commande `lsit` n'existe pas\n")


def test_a_language_without_a_catalogue_is_refused_with_those_that_there_are(french: Workbench) -> None:
    result = french.run("list", "--lang", "de")
    assert result.status == ExitCode.USAGE
    assert result.stderr == "error: --lang does not take `de`\n  why: it takes en, fr or ko\n"


def test_a_further_language_is_completed(french: Workbench) -> None:
    said = french.run("completion", "bash", PUZZLE_COMPLETE="list\n--lang\n").stdout
    assert said.split() == ["en", "fr", "ko"]


@pytest.mark.parametrize(
    ("environment", "korean"),
    [
        ({"LANG": "ko_KR.UTF-8"}, True),
        ({"LANG": "ko"}, True),
        ({"LANG": "KO_KR@euro"}, True),
        ({"PUZZLE_LANG": "en", "LANG": "ko_KR.UTF-8"}, False),
        ({"LC_ALL": "C.UTF-8", "LANG": "ko_KR.UTF-8"}, False),
        ({"LANG": "kok_IN"}, False),  # Konkani
        ({"LANG": "xx"}, False),
        ({}, False),
    ],
)
def test_the_language_is_that_of_the_environment(
    workbench: Workbench, environment: dict[str, str], korean: bool
) -> None:
    first = workbench.run("lsit", **environment).stderr
    assert first.startswith("오류:" if korean else "error:")

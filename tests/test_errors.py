"""Errors that people see: what they say, and that they say it in another process too."""

import pickle
from pathlib import Path

from tooling.errors import Location, ToolingError


class TwoPlacesError(ToolingError):
    """Its arguments are none of its base's."""

    def __init__(self, first: Path, *, second: Path) -> None:
        super().__init__("two places disagree", where=Location(first, 3), hint=f"see {second}")
        self.second = second


def test_an_error_is_the_same_behind_a_pickle() -> None:
    error = TwoPlacesError(Path("a.mojo"), second=Path("b.mojo"))
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is TwoPlacesError
    assert str(copied) == str(error) == "a.mojo:3: two places disagree\n  try: see b.mojo"
    assert (copied.args, copied.second) == (error.args, error.second)

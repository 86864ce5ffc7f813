"""Errors: their text, also after pickling for another process."""

import pickle
from pathlib import Path

from tooling.errors import Location, ToolingError


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

"""Steps of the site on pieces of HTML."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec

from tooling.book.site.tree import Node, parse, required, serialised

_Arguments = ParamSpec("_Arguments")


def edited(
    html: str,
    step: Callable[Concatenate[Node, _Arguments], object],
    *arguments: _Arguments.args,
    **options: _Arguments.kwargs,
) -> str:
    """What a step makes of the body of a page."""
    tree = parse(f"<body>{html}")
    step(required(tree, "body"), *arguments, **options)
    return serialised(tree).partition("<body>")[2].partition("</body>")[0]

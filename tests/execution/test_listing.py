"""Printed buffers: what is read, what is passed over."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooling.execution.listing import Elision, parse_listings


@pytest.mark.parametrize(
    ("text", "label", "kind", "items"),
    [
        ("out: HostBuffer([1.0, -2.5])", "out", "HostBuffer", (1.0, -2.5)),
        ("out: DeviceBuffer([3, 42])", "out", "DeviceBuffer", (3.0, 42.0)),
        ("out: HostBuffer([])", "out", "HostBuffer", ()),
        ("a b: [1.5e-05, 2E+10]", "a b", "", (1.5e-05, 2e10)),
        ("x: HostBuffer([True, False])", "x", "HostBuffer", (1.0, 0.0)),
        ("x: HostBuffer([inf, -inf])", "x", "HostBuffer", (math.inf, -math.inf)),
        ("x: [0.5, ..., 7.0]", "x", "", (0.5, Elision(), 7.0)),
        ("x: [[1, 2],\n [3, 4]]", "x", "", ((1.0, 2.0), (3.0, 4.0))),
        ("  indented: HostBuffer([1])", "indented", "HostBuffer", (1.0,)),
    ],
)
def test_a_listing_is_read(text: str, label: str, kind: str, items: tuple[object, ...]) -> None:
    (listing,) = parse_listings(text)
    assert (listing.label, listing.kind, listing.items) == (label, kind, items)


def test_signs_of_zero_and_nan_survive() -> None:
    (listing,) = parse_listings("x: HostBuffer([-0.0, nan])")
    zero, nan = listing.numbers()
    assert math.copysign(1, zero) == -1
    assert math.isnan(nan)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Puzzle 15 complete ✅",
        "SIZE: 1024",
        "  Block 0 : 127.5",
        "out: HostBuffer([1.0, 2.0",
        "out: HostBuffer([1.0 2.0])",
        "out: HostBuffer([1.0,, 2.0])",
        "out: HostBuffer([1.0,])",
        "out: HostBuffer([1.0]",
        "out: [one, two]",
        "out: []]"[:5],
    ],
)
def test_other_text_is_passed_over(text: str) -> None:
    assert parse_listings(text) == ()


def test_listings_keep_their_place() -> None:
    text = "SIZE: 4\n  out: HostBuffer([1])\nexpected: HostBuffer([2])\n"
    assert [(each.label, each.line, each.column) for each in parse_listings(text)] == [
        ("out", 2, 3),
        ("expected", 3, 1),
    ]


numbers = st.floats(width=32) | st.integers(-(2**40), 2**40).map(float)
nested = st.recursive(numbers, lambda inner: st.lists(inner, max_size=4), max_leaves=20)


@given(st.lists(nested, max_size=6))
def test_what_is_printed_is_read_back(items: list[object]) -> None:
    (listing,) = parse_listings(f"before\nout: HostBuffer({items})\nafter")
    assert repr(_lists(listing.items)) == repr(items)


@given(st.text(alphabet="out: []().,0123456789-einfHostBuffer\n", max_size=80))
def test_no_text_is_too_odd(text: str) -> None:
    for listing in parse_listings(text):
        assert listing.line >= 1


def _lists(items: object) -> object:
    return [_lists(item) for item in items] if isinstance(items, tuple) else items

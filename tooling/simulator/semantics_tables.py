"""Brings every table of operations together; importing them fills `semantics.MAKERS`."""

from tooling.simulator import (
    semantics_convert,
    semantics_fields,
    semantics_float,
    semantics_integer,
    semantics_logic,
)

TABLES = (semantics_integer, semantics_fields, semantics_logic, semantics_float, semantics_convert)


def load() -> None:
    """Make sure that the tables are filled (they are, once this module is imported)."""

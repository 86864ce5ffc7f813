"""Granules of the race check that are divided for an access narrower than expected."""

from __future__ import annotations

import numpy as np

from tooling.simulator.checks.shadow import Shadow


def test_divided_granules_keep_what_was_recorded() -> None:
    """GPUs of AMD load from any address: an access of single bytes then divides the granules."""
    shadow = Shadow(64, 4)
    keys = np.array([5, 6], np.int64) | 1 << 32
    shadow.record_write(slice(2, 4), keys, (2, 4))
    shadow.record_read(slice(8, 10), keys, (8, 10), 0)
    shadow.divide(1)
    assert (shadow.count, shadow.granule) == (64, 1)
    assert np.flatnonzero(shadow.writer).tolist() == list(range(8, 16))
    assert shadow.writer[8:16].tolist() == [keys[0]] * 4 + [keys[1]] * 4
    assert shadow.reader[32:40].tolist() == [keys[0]] * 4 + [keys[1]] * 4
    assert shadow.was_written(8, 9)
    assert not shadow.was_written(16, 64)
    assert shadow.was_read(39, 40)

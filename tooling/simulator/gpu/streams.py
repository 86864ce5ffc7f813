"""The numbers of streams: those of each device's default streams, and what they mean (CUDA driver API,
"Stream synchronization behavior")."""

from __future__ import annotations

LEGACY, PER_THREAD = 1, 2
"""The default streams of device 0; the legacy one waits for the device's other streams, and they for it,
unless they are non-blocking."""

NON_BLOCKING = 1
"""The flag of a stream that the legacy default stream does not wait for."""

OF_GRAPH = 2
"""The flag of a stream in which an executable graph performs nodes."""

DEVICE_SHIFT = 56
"""The number of a device's default streams (0 to 2) has the device's number in its highest byte."""


def explicit_stream(stream: int) -> int:
    """The stream itself; for stream 0 of a device, its legacy default stream."""
    return stream if stream & (1 << DEVICE_SHIFT) - 1 else stream | LEGACY


def legacy_stream(device: int) -> int:
    """The legacy default stream of a device."""
    return device << DEVICE_SHIFT | LEGACY

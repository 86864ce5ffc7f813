"""Output of kernels, kept until the program synchronises.

Hardware keeps it in a ring buffer, where new output overwrites the oldest (CUDA C++ Programming Guide,
"Formatted Output"): an H200 keeps 8,650,752 bytes (CU_LIMIT_PRINTF_FIFO_SIZE) and does not report a loss.
Here the buffer holds the same number of bytes of text, and a line reports the number of lost prints.
"""

from __future__ import annotations

from collections import deque

from tooling.simulator.gpu.stop_texts import OUTPUT_LOST

RING_BYTES = 8_650_752


class DeviceOutput:
    """The output of one program's kernels.

    Args:
        language: of the report of lost prints (`en` or `ko`).
        most: the maximum number of bytes kept.

    Attributes:
        prints: how many there were so far.
    """

    def __init__(self, language: str, most: int = RING_BYTES) -> None:
        self._language = language
        self._most = most
        self._prints: deque[bytes] = deque()
        self._bytes = self._lost = 0
        self.prints = 0

    def add(self, text: bytes) -> None:
        """One print."""
        self.prints += 1
        self._prints.append(text)
        self._bytes += len(text)
        while self._bytes > self._most and len(self._prints) > 1:
            self._bytes -= len(self._prints.popleft())
            self._lost += 1

    def take(self) -> bytes:
        """Return and clear the output; a line about lost prints comes first."""
        head = b""
        if self._lost:
            head = OUTPUT_LOST.of(lost=self._lost, most=self._most).render(self._language).encode() + b"\n"
        text = head + b"".join(self._prints)
        self._prints.clear()
        self._bytes = self._lost = 0
        return text

"""A minimal client of the language server protocol: opens one file and returns its diagnostics."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def diagnostics_of(command: Sequence[str], file: Path) -> list[str]:
    """The messages of the diagnostics that the server publishes for a file.

    Raises:
        AssertionError: the server ends before it publishes them.
    """
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=file.parent
    )
    try:
        _send(process, "initialize", {"processId": None, "rootUri": None, "capabilities": {}}, number=1)
        while _receive(process).get("id") != 1:
            pass
        _send(process, "initialized", {})
        document = {"uri": file.as_uri(), "languageId": "mojo", "version": 1, "text": file.read_text("utf-8")}
        _send(process, "textDocument/didOpen", {"textDocument": document})
        while True:
            message = _receive(process)
            if message.get("method") == "textDocument/publishDiagnostics":
                return [each["message"] for each in message["params"]["diagnostics"]]
    finally:
        process.kill()
        process.communicate()


def _send(process: subprocess.Popen[bytes], method: str, params: object, number: int | None = None) -> None:
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    data = json.dumps(message).encode()
    assert process.stdin is not None
    process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    process.stdin.flush()


def _receive(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    length = 0
    while line := process.stdout.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    assert length, "the server has ended"
    found: dict[str, Any] = json.loads(process.stdout.read(length))
    return found

"""A stand-in for the compiler: "builds" a Python script with the suffix .mojo by copying it.

It understands what `tooling` passes: `--version`, and `build SOURCE … -o OUTPUT`. Lines of the source
steer it: `# compile error` is reported as an error at its place, `# deprecated` as a warning, `# slow build`
takes long.
Every build is noted in the file that FAKE_MOJO_LOG names.
"""

import json
import os
import sys
import time
from pathlib import Path


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"Mojo {os.environ.get('FAKE_MOJO_VERSION', '1.2.0')} (fake)\n")
        return 0
    source = Path(sys.argv[2])
    output = Path(sys.argv[sys.argv.index("-o") + 1])
    if log := os.environ.get("FAKE_MOJO_LOG"):
        with Path(log).open("a") as file:
            file.write(" ".join(sys.argv[1:]) + "\n")
    failed = False
    for number, line in enumerate(source.read_text().splitlines(), start=1):
        for mark, kind, message in (
            ("# compile error", "error", "use of unknown declaration 'thing'"),
            ("# deprecated", "warning", "Use TileTensor instead"),
        ):
            if mark in line:
                failed = failed or kind == "error"
                place = {
                    "file": str(source),
                    "location": {"line": number, "column": 4},
                    "ranges": [],
                    "text": line,
                }
                sys.stderr.write(json.dumps({"kind": kind, "message": message, "diagnostic": place}) + "\n")
        if "# slow build" in line:
            output.write_text("half a program")
            time.sleep(30)
    if failed:
        return 1
    output.write_text(f"#!{sys.executable} -I\n" + source.read_text())
    output.chmod(0o755)
    return 0


sys.exit(main())

"""A stand-in for the compiler: "builds" a Python script with the suffix .mojo by copying it.

It understands what `tooling` passes: `--version`, and `build SOURCE … -o OUTPUT`. Lines of the source
steer it: `# compile error` is reported as an error at its place, `# deprecated` and `# old index` as
warnings, `# slow build` takes long, `# build of 2 seconds` as long as it says, `# disk full: MESSAGE`
fails with this message, `# not for gfx` is refused for accelerators that begin so, in a library that the
line calls, `# needs xcrun` fails for want of a tool, and `# include PATH`
appends a file to the program. Of the main file of several mutants it builds one that runs the module which
the environment variable names.
Every build is noted in the file that FAKE_MOJO_LOG names. Like the real one it leaves a file in the
temporary folder.
"""

import json
import os
import sys
import tempfile
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
    Path(tempfile.gettempdir(), f"{source.name}.offloaded.so").touch()
    accelerator = sys.argv[sys.argv.index("--target-accelerator") + 1]
    failed = False
    mutants = sorted(source.parent.glob("p*_*.mojo")) if source.name == "joint.mojo" else []
    text = "".join(path.read_text() for path in mutants or [source])
    for number, line in enumerate(text.splitlines(), start=1):
        for mark, kind, message in (
            ("# compile error", "error", "use of unknown declaration 'thing'"),
            ("# deprecated", "warning", "Use TileTensor instead"),
            (
                "# old index",
                "warning",
                "positional `__getitem__` is deprecated, use `unsafe_offset=` instead",
            ),
        ):
            if mark in line:
                failed = failed or kind == "error"
                location = {
                    "file": str(source),
                    "location": {"line": number, "column": 4},
                    "ranges": [],
                    "text": line,
                }
                sys.stderr.write(
                    json.dumps({"kind": kind, "message": message, "diagnostic": location}) + "\n"
                )
        if "# not for " in line and accelerator.startswith(line.rsplit(" ", 1)[1]):
            failed = True
            refuse(source, number, line)
        if "# include " in line:
            text += Path(line.split(" ", 2)[2]).read_text()
        if "# needs xcrun" in line:
            failed = True
            message = "xcrun metallib compilation failed with code -1: posix_spawn failed"
            sys.stderr.write(json.dumps({"kind": "error", "message": message}) + "\n")
        if "# slow build" in line:
            output.write_text("half a program")
            if log:
                Path(log).with_name("builds.pid").write_text(str(os.getpid()))
            time.sleep(30)
        if "# build of " in line:
            time.sleep(float(line.split()[3]))
        if "# disk full: " in line:
            failed = True
            message = line.split(": ", 1)[1]
            sys.stderr.write(json.dumps({"kind": "error", "message": message}) + "\n")
    if failed:
        return 1
    if mutants:
        text = (
            "import os, runpy\n"
            "number = int(os.environ['PUZZLE_VERIFY_MUTANT'])\n"
            f"runpy.run_path({list(map(str, mutants))!r}[number], run_name='__main__')\n"
        )
    output.write_text(f"#!{sys.executable} -I\n" + text)
    output.chmod(0o755)
    return 0


def refuse(source: Path, number: int, line: str) -> None:
    """A constraint of a library, as the compiler reports it: the function, the call in it, the reason."""
    for kind, message, at, text in (
        ("error", "failed to run the pass manager for offload functions", 1, "import os"),
        ("error", "function instantiation failed", number - 1, "def kernel():"),
        ("note", "call expansion failed", number, line),
    ):
        location = {"file": str(source), "location": {"line": at, "column": 4}, "ranges": [], "text": text}
        sys.stderr.write(json.dumps({"kind": kind, "message": message, "diagnostic": location}) + "\n")
    sys.stderr.write("max/gpu/cluster.mojo:54:5: note: constraint failed: only NVIDIA GPUs have it\n")
    sys.stderr.write(json.dumps({"kind": "error", "message": "failed to run the pass manager"}) + "\n")


sys.exit(main())

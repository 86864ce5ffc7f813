"""The pages of `tooling book serve`: with the reader's progress, which is not part of the site."""

from __future__ import annotations

import json
import re
import shutil
import socket
import struct
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from email.message import Message
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.book.web_server import serving
from tests.numbers import COUNT
from tooling.book.site.handler import Changes, Credentials, Handler, Reader
from tooling.book.site.serve import reader_of, rebuild, stamps
from tooling.progress import progress_path, record_solved
from tooling.project import Project

ACCESS = Credentials("the-key", "the-token")


class RecordedRuns:
    """Runs that do nothing; `p01` alone is known."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def start(self, command: str, language: str) -> None:
        if command != "p01":
            raise LookupError(command)
        self.calls.append(("start", command, language))

    def stop(self) -> None:
        self.calls.append(("stop",))

    def state(self) -> dict[str, Any]:
        return {"command": "p01", "running": True}


@pytest.fixture
def runs() -> RecordedRuns:
    return RecordedRuns()


@pytest.fixture
def address(tmp_path: Path, runs: RecordedRuns) -> Iterator[str]:
    (tmp_path / "page.html").write_text("<body>page</body>", encoding="utf-8")
    (tmp_path / "404.html").write_text("<body>nothing</body>", encoding="utf-8")
    handler = partial(
        Handler,
        site=tmp_path,
        changes=Changes(),
        reader=lambda: Reader(("01", "15"), COUNT),
        access=ACCESS,
        runs=runs,
    )
    with serving(handler) as running:
        yield running


def answer_of(
    address: str, data: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, Message, str]:
    """Status, headers and text of an answer; a redirect is not followed."""

    class NotFollowed(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            return None

    request = urllib.request.Request(address, data, headers or {})
    try:
        with urllib.request.build_opener(NotFollowed).open(request) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as failure:
        with failure:
            return failure.code, failure.headers, failure.read().decode()


def own_headers(address: str) -> dict[str, str]:
    """Those of a page of the reader's browser."""
    port = address.rstrip("/").rpartition(":")[2]
    return {
        "Origin": address.rstrip("/"),
        "Content-Type": "application/json",
        "Cookie": f"puzzles-{port}=the-key",
        "X-Puzzle-Token": "the-token",
    }


REQUEST = json.dumps({"command": "p01", "language": "ko"}).encode()


def served_data(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="served">(.*?)</script>', text)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_a_page_shows_what_its_reader_has_solved(address: str, tmp_path: Path) -> None:
    _, _, text = answer_of(f"{address}page.html")
    served = served_data(text)
    assert served["reader"] == {"solved": ["01", "15"], "total": COUNT}
    assert served["changes"] == "/~changes"
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "<body>page</body>"


def test_the_key_of_the_terminal_becomes_a_cookie_with_which_pages_have_the_token(address: str) -> None:
    status, headers, _ = answer_of(f"{address}page.html?key=the-key&x=1")
    assert (status, headers["Location"]) == (303, "/page.html?x=1")
    cookie, *settings = headers["Set-Cookie"].split("; ")
    assert settings == ["Path=/", "HttpOnly", "SameSite=Strict"]
    assert (
        served_data(answer_of(f"{address}page.html", headers={"Cookie": cookie})[2])["token"] == "the-token"
    )


@pytest.mark.parametrize(
    "cookie", ["", "puzzles-{port}=another", "puzzles-1=the-key", "puzzles-{port}=é", "=;,"]
)
def test_a_page_for_somebody_without_the_key_has_no_token(address: str, cookie: str) -> None:
    status, headers, _ = answer_of(f"{address}page.html?key=wrong")
    assert (status, headers["Set-Cookie"]) == (303, None)
    port = address.rstrip("/").rpartition(":")[2]
    text = answer_of(f"{address}page.html", headers={"Cookie": cookie.format(port=port)})[2]
    assert served_data(text)["token"] == ""
    assert "the-token" not in text


def test_the_key_never_leads_to_another_server(address: str) -> None:
    for path in ("/evil.example/", "/\\evil.example/"):
        assert answer_of(f"{address}{path}?key=the-key")[1]["Location"] == "/evil.example/"


def test_a_page_of_the_reader_starts_and_ends_a_run(address: str, runs: RecordedRuns) -> None:
    status, headers, text = answer_of(f"{address}~run", REQUEST, own_headers(address))
    assert status == 200
    expected = {"command": "p01", "running": True, "reader": {"solved": ["01", "15"], "total": COUNT}}
    assert json.loads(text) == expected
    assert headers["Access-Control-Allow-Origin"] is None
    end = json.dumps({"command": "", "language": "en"}).encode()
    assert answer_of(f"{address}~run", end, own_headers(address))[0] == 200
    assert runs.calls == [("start", "p01", "ko"), ("stop",)]
    asked = {name: value for name, value in own_headers(address).items() if name != "Origin"}
    assert answer_of(f"{address}~run", headers=asked)[0] == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Puzzle-Token", None),
        ("X-Puzzle-Token", "guessed"),
        ("X-Puzzle-Token", "the-key"),
        ("Cookie", None),
        ("Cookie", "puzzles-1=the-key"),
        ("Origin", None),
        ("Origin", "null"),
        ("Origin", "http://evil.example"),
        ("Origin", "http://127.0.0.1:1"),
    ],
)
def test_nobody_else_can_start_a_run(address: str, runs: RecordedRuns, name: str, value: str | None) -> None:
    headers = {key: text for key, text in own_headers(address).items() if key != name}
    if value is not None:
        headers[name] = value
    assert answer_of(f"{address}~run", REQUEST, headers)[0] == 403
    assert runs.calls == []
    if name != "Origin" or value:
        assert answer_of(f"{address}~run", headers=headers)[0] == 403


def test_a_run_is_not_started_under_another_host_name(address: str, runs: RecordedRuns) -> None:
    headers = own_headers(address) | {"Host": "evil.example", "Origin": "http://evil.example"}
    assert answer_of(f"{address}~run", REQUEST, headers)[0] == 421
    assert runs.calls == []


def test_other_sites_can_neither_frame_nor_load_a_page(address: str) -> None:
    _, headers, _ = answer_of(f"{address}page.html")
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Access-Control-Allow-Origin"] is None


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b'{"command": "p99", "language": "en"}', 404),
        (b'{"command": "p01 --json /etc/x", "language": "en"}', 404),
        (b'{"command": "p01", "language": "xx"}', 400),
        (b'{"command": ["p01"], "language": "en"}', 400),
        (b'{"command": "p01", "language": ["en"]}', 400),
        (b"[]", 400),
        (b"p01", 400),
        (b'"' + b"a" * 2000 + b'"', 400),
    ],
)
def test_a_request_for_something_else_is_refused(
    address: str, runs: RecordedRuns, data: bytes, status: int
) -> None:
    assert answer_of(f"{address}~run", data, own_headers(address))[0] == status
    assert runs.calls == []


def test_a_form_of_another_site_cannot_send_a_run(address: str, runs: RecordedRuns) -> None:
    headers = own_headers(address) | {"Content-Type": "text/plain"}
    assert answer_of(f"{address}~run", REQUEST, headers)[0] == 400
    assert answer_of(f"{address}page.html", REQUEST, own_headers(address))[0] == 404
    assert runs.calls == []


def test_a_wrong_address_gets_the_page_for_it(address: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as failure:
        urllib.request.urlopen(f"{address}puzzle_99.html")
    with failure.value as answer:
        assert answer.status == 404
        assert "nothing" in answer.read().decode()


def test_solved_puzzles_come_from_the_reader_s_own_file(
    real: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path))
    said: list[str] = []
    record_solved(real.root, "p01", "default")
    record_solved(real.root, "p23", "tiled")  # one of its modes
    assert reader_of(real, said.append) == Reader(("01",), COUNT)
    progress_path(real.root).write_text("{", encoding="utf-8")
    assert reader_of(real, said.append) == Reader((), COUNT)
    assert "the record of your progress is damaged" in said[0]


def test_a_manifest_that_is_wrong_for_a_while_keeps_no_page_back(
    checkout: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path))
    (checkout.problems / "p01" / "puzzle.yaml").write_text("title: [", encoding="utf-8")
    said: list[str] = []
    assert reader_of(checkout, said.append) == Reader((), 0)
    assert "p01/puzzle.yaml" in said[0]


def test_any_number_of_pages_can_wait_for_changes(tmp_path: Path) -> None:
    changes = Changes()
    handler = partial(
        Handler, site=tmp_path, changes=changes, reader=lambda: Reader((), 0), access=Credentials()
    )
    with serving(handler) as running:
        address = f"{running}~changes"
        assert [urllib.request.urlopen(address).read() for _ in range(10)] == [b"0"] * 10
        changes.announce()
        assert urllib.request.urlopen(address).read() == b"1"


@pytest.mark.parametrize(("host", "status"), [("localhost:80", 200), ("evil.example", 421), ("", 421)])
def test_only_requests_to_this_machine_are_answered(address: str, host: str, status: int) -> None:
    request = urllib.request.Request(f"{address}page.html", headers={"Host": host})
    try:
        with urllib.request.urlopen(request) as answer:
            assert answer.status == status
    except urllib.error.HTTPError as failure:
        with failure:
            assert failure.code == status


def test_a_request_for_headers_alone_is_answered_like_one_for_the_page(address: str) -> None:
    for path, host, status in (
        ("page.html", "localhost", 200),
        ("page.html", "evil.example", 421),
        ("nowhere", "localhost", 404),
        ("~run", "localhost", 403),
    ):
        request = urllib.request.Request(f"{address}{path}", headers={"Host": host}, method="HEAD")
        try:
            with urllib.request.urlopen(request) as answer:
                found, content = answer.status, answer.read()
                assert int(answer.headers["Content-Length"]) > 1000
        except urllib.error.HTTPError as failure:
            with failure:
                found, content = failure.code, failure.read()
        assert (found, content) == (status, b"")


@pytest.mark.parametrize(
    "target",
    ["http://[x/", "/" + "a" * 5000, "/a%00b", "/%ff", "/..%2f..%2fetc/passwd", "*", "/?key", "//[/"],
)
def test_an_odd_address_is_refused_without_a_traceback(
    address: str, target: str, capfd: pytest.CaptureFixture[str]
) -> None:
    port = int(address.rstrip("/").rpartition(":")[2])
    for method in ("GET", "HEAD", "POST"):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        assert re.match(rb"HTTP/1\.0 (400|404) ", answer)
    assert capfd.readouterr().err == ""


def test_a_browser_that_goes_away_is_not_reported(address: str, capfd: pytest.CaptureFixture[str]) -> None:
    port = int(address.rstrip("/").rpartition(":")[2])
    for _ in range(10):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # resets it
        connection.sendall(b"GET /page.html HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.close()
    assert answer_of(f"{address}page.html")[0] == 200
    assert capfd.readouterr().err == ""


def test_forty_requests_for_runs_at_once_are_all_answered(address: str, runs: RecordedRuns) -> None:
    asked = threading.Event()

    def start_slowly(command: str, language: str) -> None:
        asked.wait(60)
        runs.calls.append(("start", command, language))

    runs.start = start_slowly  # type: ignore[method-assign]
    with ThreadPoolExecutor(40) as pool:
        answers = [pool.submit(answer_of, f"{address}~run", REQUEST, own_headers(address)) for _ in range(40)]
        refused = [done.result()[0] for _, done in zip(range(32), as_completed(answers), strict=False)]
        asked.set()
        statuses = sorted(done.result()[0] for done in answers)
    assert refused == [429] * 32
    assert statuses == [200] * 8 + [429] * 32
    assert len(runs.calls) == 8


def test_what_is_refused_is_read_first(address: str) -> None:
    """Content that is left unread would reset the connection before its answer arrives."""
    for _ in range(20):
        assert answer_of(f"{address}page.html", b"a" * 500_000, own_headers(address))[0] == 404


def _not_utf8(project: Project) -> None:
    (project.root / "book" / "src" / "puzzle_15" / "puzzle_15.md").write_bytes(b"# \xff\xfe\n")


def _no_summary(project: Project) -> None:
    (project.root / "book" / "src" / "SUMMARY.md").unlink()


def _loop(project: Project) -> None:
    (project.root / "book" / "src" / "loop.md").symlink_to("loop.md")


def _no_theme(project: Project) -> None:
    shutil.rmtree(project.root / "book" / "theme")


def _no_book(project: Project) -> None:
    shutil.rmtree(project.root / "book")


@pytest.mark.parametrize("damage", [_not_utf8, _no_summary, _loop, _no_theme, _no_book])
def test_a_damaged_book_is_reported_and_the_server_goes_on(
    short_book: Project, damage: Callable[[Project], None]
) -> None:
    damage(short_book)
    changes = Changes()
    assert stamps(short_book)
    said = rebuild(short_book, short_book.root / "build" / "serve", "http://127.0.0.1:1/", changes)
    assert said.startswith("built again") or said.endswith("the pages are unchanged")
    assert changes.number == said.startswith("built again")

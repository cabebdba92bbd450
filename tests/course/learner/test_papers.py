"""Papers are fetched into the work folder, whole or not at all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from flashpath.course.content import Resource, load_course
from flashpath.course.learner import papers
from flashpath.course.workspace import Workspace

BODIES = {
    "/whole": b"%PDF-1.5 a paper",
    "/page": b"<html>not found</html>",
    "/empty": b"",
}


class _Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"%PDF-1.5 the beginn")
            return
        self.send_response(200 if self.path in BODIES else 404)
        self.end_headers()
        self.wfile.write(BODIES.get(self.path, b""))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing: it has no place in the tests' output."""


@pytest.fixture
def address() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Server)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("FLASHPATH_HOME", str(tmp_path / "home"))
    return Workspace.create("flash-attention-source", tmp_path / "work", "zh").workspace


def fetch(workspace: Workspace, url: str, monkeypatch: pytest.MonkeyPatch) -> papers.Fetched:
    def address_of(_: Resource) -> str:
        return url

    monkeypatch.setattr(papers, "address_of", address_of)
    (fetched,) = papers.fetch_papers(workspace, [load_course().resource("flash-attention-paper")])
    return fetched


def test_a_paper_is_saved_under_the_name_that_the_plan_gives_it(
    workspace: Workspace, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = fetch(workspace, f"{address}/whole", monkeypatch)
    assert fetched.problem is None
    assert fetched.path == workspace.root / "第1周/资料/FlashAttention论文.pdf"
    assert fetched.path.read_bytes() == BODIES["/whole"]


def test_what_is_there_is_left_as_it_is(
    workspace: Workspace, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = papers.place_of(workspace, "flash-attention-paper")
    place.write_bytes(b"mine, with notes")
    assert fetch(workspace, f"{address}/whole", monkeypatch).was_there
    assert place.read_bytes() == b"mine, with notes"


@pytest.mark.parametrize("path", ["/page", "/empty", "/missing", "/cut"])
def test_nothing_is_left_of_what_is_no_paper(
    workspace: Workspace, address: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(workspace.root.rglob("*"))
    fetched = fetch(workspace, address + path, monkeypatch)
    assert fetched.problem is not None
    assert "arxiv.org" in (fetched.problem.fix or "")
    assert sorted(workspace.root.rglob("*")) == before


def test_without_a_network_words_say_so(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = fetch(workspace, "http://127.0.0.1:1/nobody", monkeypatch)
    assert fetched.problem is not None


def test_addresses_are_those_of_the_pdf() -> None:
    course = load_course()
    assert papers.address_of(course.resource("flash-attention-paper")) == "https://arxiv.org/pdf/2205.14135"
    assert papers.address_of(course.resource("triton-paper")) is None  # its publisher shows a page

"""The report as a live page for a folder of runs, for a browser on this machine only.

GET /                    the list of runs
GET /run/NAME            the report on a run, NAME as in the list
GET /news, /news/NAME    a JSON object whose `version` changes when the page has something new
GET /live.js             the script that looks for news
"""

import json
from collections.abc import Callable
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from analysis.glance import Glance, glance, version_of
from analysis.html import told
from analysis.report import report_body
from analysis.runs import known_runs, run_names
from analysis.style import document
from learning.errors import LearningError
from protocol.errors import FoltrError, UserError

__all__ = ["Server", "serve"]

ADDRESS: Final = "127.0.0.1"
OWN_NAMES: Final = ("127.0.0.1", "localhost")
KEPT_PAGES: Final = 8
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; base-uri 'none'"
STATUS: Final = '<span class="quiet" role="status"></span>'  # the script says what it does
SCRIPT: Final = '<script src="/live.js" defer></script>'


def serve(runs: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve the runs of a folder until Ctrl-C; port 0 is any that is free. `ready` is told the address of the page."""
    try:
        server = Server(runs, port)
    except OSError as error:
        raise UserError(
            f"port {port} of {ADDRESS} cannot be used: {error.strerror}; --port 0 takes a free one"
        ) from error
    with server:
        ready(f"http://{ADDRESS}:{server.server_port}/")
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            return


class Server(ThreadingHTTPServer):
    """Answers on this machine's own address; a page is made again only when its run has grown."""

    daemon_threads = True

    def __init__(self, runs: Path, port: int) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.runs = runs
        self._lock = Lock()
        self._pages: dict[Path, tuple[str, str]] = {}

    def known(self) -> dict[str, Path]:
        """The runs of the folder by name, the newest first."""
        found = sorted((path.resolve() for path in known_runs(self.runs)), key=lambda path: path.name, reverse=True)
        return dict(zip(run_names(found), found, strict=True))

    def page(self, name: str, run: Path) -> str:
        """The report on a run, as of now; one at a time, because each may read gigabytes."""
        version = version_of(run)
        with self._lock:
            if self._pages.get(run, ("", ""))[0] != version:
                self._pages.pop(run, None)
                self._pages[run] = (version, _run_page(name, run, version))
                while len(self._pages) > KEPT_PAGES:
                    self._pages.pop(next(iter(self._pages)))
            return self._pages[run][1]


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        """Answer one request; a mistake of ours or of the log is a page with its sentence."""
        if (self.headers.get("Host") or "").partition(":")[0] not in OWN_NAMES:  # another site's name led here
            self._send(HTTPStatus.FORBIDDEN, "text/plain", "this server answers to 127.0.0.1 and localhost only\n")
            return
        path = unquote(urlsplit(self.path).path)
        try:
            self._route(path)
        except (FoltrError, LearningError, OSError) as error:
            self._problem(HTTPStatus.INTERNAL_SERVER_ERROR, " ".join(str(error).split()))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's word
        """Say nothing: the console is the user's."""

    def _route(self, path: str) -> None:
        known = self.server.known()
        kind, _, name = path.lstrip("/").partition("/")
        if path == "/":
            self._send(HTTPStatus.OK, "text/html", _list_page(known))
        elif path == "/live.js":
            script = (files("analysis") / "live.js").read_text(encoding="utf-8")
            self._send(HTTPStatus.OK, "text/javascript", script)
        elif path == "/news":
            self._send(HTTPStatus.OK, "application/json", json.dumps({"version": _list_version(known)}))
        elif kind == "run" and name in known:
            self._send(HTTPStatus.OK, "text/html", self.server.page(name, known[name]))
        elif kind == "news" and name in known:
            self._send(HTTPStatus.OK, "application/json", json.dumps({"version": version_of(known[name])}))
        else:
            self._problem(HTTPStatus.NOT_FOUND, f"there is no {path}")

    def _problem(self, status: HTTPStatus, sentence: str) -> None:
        body = f'<main><h1>{status.phrase}</h1><p>{escape(sentence)}</p><p><a href="/">All runs</a></p></main>'
        self._send(status, "text/html", document(status.phrase, body))

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)


def _run_page(name: str, run: Path, version: str) -> str:
    body = report_body(run, name)
    top = f'<header class="top"><a href="/">All runs</a>{STATUS}</header>'
    news = f'data-version="{version}" data-news="/news/{quote(name)}"'
    return document(name, f"{top}<main {news}>{body}</main>", SCRIPT)


def _list_page(known: dict[str, Path]) -> str:
    rows = "".join(_row(name, glance(path)) for name, path in known.items())
    head = "".join(f'<th scope="col">{one}</th>' for one in ("run", "state", "rounds", "seed"))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    empty = "<p>No run yet. Begin with: <code>foltr run quickstart</code></p>"
    top = f'<header class="top">{STATUS}</header>'
    news = f'data-version="{_list_version(known)}" data-news="/news"'
    return document("Runs", f"{top}<main {news}><h1>Runs</h1>{table if known else empty}</main>", SCRIPT)


def _row(name: str, one: Glance) -> str:
    look = {"completed": "good", None: "unsure"}.get(one.outcome, "bad")
    state = one.state
    of = f" of {one.of:,}" if one.of else ""
    link = f'<a href="/run/{quote(name)}">{escape(name)}</a>'
    rounds = f"{told(one.rounds) or '?'}{of}"
    return f'<tr><td>{link}</td><td class="{look}">{escape(state)}</td><td>{rounds}</td><td>{one.seed}</td></tr>'


def _list_version(known: dict[str, Path]) -> str:
    """Changes when there is another run, or one of the newest has grown."""
    newest = list(known.items())[:20]
    return f"{len(known)}:" + ",".join(version_of(path) for _, path in newest)

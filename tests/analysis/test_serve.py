"""The live pages: on this machine only, made anew when a run grows, read by a real browser."""

import http.client
import json
import shutil
import subprocess
import threading
from urllib.parse import quote

import pytest

from analysis.glance import glance, version_of
from analysis.pack import pack
from analysis.report import write_report
from analysis.serve import Server, serve
from protocol.errors import UserError
from protocol.journal import Journal
from protocol.presence import announce

NAME = "small/20260101-120000-7"
CHROMIUM = shutil.which("chromium")


@pytest.fixture
def folder(played, tmp_path):
    """A folder with the small run, which may grow."""
    shutil.copytree(played, tmp_path / "runs" / NAME)
    return tmp_path / "runs"


@pytest.fixture
def server(folder):
    """A server on a free port."""
    with Server(folder, 0) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def get(server, path, host=None):
    """The status, the headers and the text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    connection.request("GET", path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, dict(answer.getheaders()), text


def test_the_list_links_to_the_reports(server):
    """Each run with its state and how far it came."""
    status, headers, text = get(server, "/")
    assert status == 200
    assert f'<a href="/run/{NAME}">{NAME}</a>' in text
    assert "completed" in text
    assert "3 of 3" in text
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    status, _headers, text = get(server, f"/run/{NAME}")
    assert status == 200
    assert 'id="verdict"' in text


def test_a_page_changes_when_the_run_grows(server, folder):
    """The news have another version, and the page another contents."""
    version = json.loads(get(server, f"/news/{NAME}")[2])["version"]
    before = get(server, f"/run/{NAME}")[2]
    assert f'data-version="{version}"' in before
    assert json.loads(get(server, f"/news/{NAME}")[2])["version"] == version
    overview = json.loads(get(server, "/news")[2])["version"]
    journal = Journal(folder / NAME, "coordinator")
    journal.append("client.lost", name="host-0", clients=["ann"], round=4)
    journal.close()
    assert json.loads(get(server, f"/news/{NAME}")[2])["version"] != version
    assert json.loads(get(server, "/news")[2])["version"] != overview
    assert "host-0 lost in round 4" not in before
    assert "host-0 lost in round 4" in get(server, f"/run/{NAME}")[2]


def test_only_this_machine_is_answered(server):
    """The address is the machine's own, and another site's name leads nowhere."""
    assert server.server_address[0] == "127.0.0.1"
    assert get(server, "/", host="evil.example")[0] == 403
    assert get(server, "/", host=f"localhost:{server.server_port}")[0] == 200


@pytest.mark.parametrize("path", ["/nothing", "/run/x", "/run/../../etc/passwd", "/news/x", f"/run/{quote('<b>')}"])
def test_what_is_not_there_is_not_found(server, path):
    """No file but the runs' can be reached, and the path is shown as text."""
    status, _headers, text = get(server, path)
    assert status == 404
    assert "<b>" not in text


def test_a_folder_without_runs_says_how_to_begin(tmp_path):
    """And a port that is taken is one sentence."""
    with Server(tmp_path, 0) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        assert "foltr run quickstart" in get(made, "/")[2]
        with pytest.raises(UserError, match=f"port {made.server_port} of 127.0.0.1 cannot be used"):
            serve(tmp_path, made.server_port, print)
        made.shutdown()
        thread.join()


def test_a_glance_at_a_run(folder, tmp_path):
    """From its first record and the log's end; packed from its tables; empty without either."""
    run = folder / NAME
    seen = glance(run)
    assert (seen.run, seen.scenario, seen.seed, seen.rounds, seen.of, seen.outcome) == (
        NAME,
        "small",
        7,
        3,
        3,
        "completed",
    )
    packed = glance(pack(run, tmp_path / "one.duckdb"))
    assert (packed.scenario, packed.rounds, packed.outcome) == ("small", 3, "completed")
    empty = tmp_path / "empty" / "20260101-000000-1"
    (empty / "journal").mkdir(parents=True)
    assert (glance(empty).scenario, glance(empty).rounds, glance(empty).outcome) == ("empty", None, None)
    assert glance(empty).state == "killed"
    version = version_of(empty)
    announce(empty)
    assert glance(empty).state == "going on"
    assert version_of(empty) != version


def browse(address, profile, *options):
    """What Chromium makes of a page."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", *options, address]
    return subprocess.run(command, capture_output=True, timeout=60, check=True).stdout


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_shows_the_live_page_and_runs_its_script(server, tmp_path):
    """The script has said that it works; nothing was refused by the page's own policy."""
    address = f"http://127.0.0.1:{server.server_port}/run/{NAME}"
    shown = browse(address, tmp_path / "profile", "--virtual-time-budget=2000", "--dump-dom").decode()
    assert '<span class="quiet" role="status">updates by itself</span>' in shown
    assert 'class="curves"' in shown


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize(("scheme", "dark"), [("1", False), ("0", True)])
def test_a_browser_draws_the_report_light_and_dark(played, tmp_path, scheme, dark):
    """The paper is light or dark as the reader's setting is, and there is ink on it."""
    from matplotlib.image import imread

    write_report([played], tmp_path / "report.html")
    picture = tmp_path / "report.png"
    options = (f"--screenshot={picture}", f"--blink-settings=preferredColorScheme={scheme}", "--window-size=1100,1600")
    browse((tmp_path / "report.html").as_uri(), tmp_path / "profile", *options)
    pixels = imread(picture)[:, :, :3].mean(axis=2)
    assert (pixels[2, 2] < 0.2) == dark
    assert 0.005 < (abs(pixels - pixels[2, 2]) > 0.3).mean() < 0.5

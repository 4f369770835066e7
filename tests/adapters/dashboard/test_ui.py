"""``review-advisor ui``: the folder that it writes, whose folders it leaves alone, and whom its server answers."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.dashboard.written_dashboard import WrittenDashboard, files
from tests.adapters.hostile_review import hostile_review
from tests.adapters.ledgers import five, meddle, nothing, record, told

from review_advisor.app.ui import write_dashboard
from review_advisor.ledger.chain import canonical, links
from review_advisor.ledger.chains import add_link, begin_chain, chain_id
from review_advisor.ledger.dashboard import MARKER, STATIC, SiteError, own_names, serving, writing
from review_advisor.ledger.database import open_to_write
from review_advisor.ledger.recorder import event_text, keep, write_tables
from review_advisor.ledger.rows import microseconds, readings_of_observation
from review_advisor.review.events import PartEnded
from review_advisor.review.observed import Observed, ObservedLabel

UPLOT = "1.6.32"
VENDORED = {
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uPlot-LICENSE.txt": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}
OURS = [file for file in STATIC.iterdir() if file.name not in VENDORED]


@pytest.fixture
def kept(terminal: Terminal) -> Path:
    """The ledger that the command looks at without being told: the five stories."""
    path = terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"
    record(path, *five())
    return path


def overview(folder: Path) -> Any:
    return WrittenDashboard(folder).overview


def page(folder: Path, run_id: str) -> Any:
    return WrittenDashboard(folder).page(run_id)


def listed(folder: Path) -> list[str]:
    """The runs of the list, in its order."""
    found: list[str] = WrittenDashboard(folder).columns["run_id"]
    return found


def refused(terminal: Terminal, *words: str | Path) -> str:
    done = terminal.run("ui", *words)
    assert done.code == 2, done.err
    return done.sentence


# --- what is written --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_a_dashboard_is_a_folder_of_files_that_ignores_itself(terminal: Terminal) -> None:
    done = terminal.run("ui")
    assert (done.code, done.out, done.err) == (0, "review_logs/dashboard/index.html\n", "5 runs written.\n")
    folder = terminal.folder / "review_logs" / "dashboard"
    written = files(folder)
    assert {name for name in written if "/" not in name} == {file.name for file in STATIC.iterdir()} | {
        MARKER,
        ".gitignore",
    }
    assert written[".gitignore"] == b"*\n"
    assert {name for name in written if "/" in name} == {
        "data/overview.js",
        *(f"data/lists/{digest}.js" for digest in overview(folder)["lists"]),
        *(f"data/{WrittenDashboard(folder).file(f'run-{n}')}.js" for n in range(1, 6)),
    }
    assert len(overview(folder)["lists"]) == 1
    assert listed(folder) == ["run-5", "run-4", "run-3", "run-2", "run-1"]
    assert page(folder, "run-4")["run"]["status"] == "escalated"
    assert overview(folder)["opens"] is None


@pytest.mark.usefixtures("kept")
def test_json_says_what_was_written_and_a_run_says_where_it_opens(terminal: Terminal) -> None:
    done = terminal.run("ui", "--out", "site", "--json", "--run", "run-2")
    assert json.loads(done.out) == {"index": "site/index.html", "runs": 5, "left_out": 0}
    assert overview(terminal.folder / "site")["opens"] == "run-2"


@pytest.mark.usefixtures("kept")
def test_what_is_left_out_is_said_and_counts_in_the_kpis(terminal: Terminal) -> None:
    done = terminal.run("ui", "--out", "site", "--limit", "2")
    assert done.err == (
        "2 runs written. 3 more have no page: they count in the KPIs and plots. --since or --limit chooses.\n"
    )
    about = overview(terminal.folder / "site")
    assert (about["runs"], about["left_out"], about["sums"]["runs"]) == (2, 3, 5)
    assert sum(about["ends"].values()) == 5


@pytest.mark.usefixtures("kept")
def test_a_run_beyond_the_limit_is_listed_apart_and_counts_as_the_listed_ones_do(terminal: Terminal) -> None:
    folder = terminal.folder / "site"
    done = terminal.run("ui", "--out", "site", "--limit", "3", "--run", "run-1")
    assert done.err == (
        "4 runs written. 1 more has no page: it counts in the KPIs and plots. --since or --limit chooses.\n"
    )
    asked = terminal.run("ui", "--out", "site", "--limit", "3", "--run", "run-1", "--json")
    assert json.loads(asked.out) == {"index": "site/index.html", "runs": 4, "left_out": 1}
    about = overview(folder)
    assert listed(folder) == ["run-5", "run-4", "run-3"], "run-2 is newer than run-1, and is not between them"
    assert (about["apart"]["columns"]["run_id"], about["apart_counts"]) == (["run-1"], True)
    assert (about["runs"], about["left_out"], about["sums"]["runs"]) == (3, 1, 5)
    assert about["opens"] == page(folder, "run-1")["run"]["run_id"] == "run-1"
    calls = [sum(cost["calls"] for cost in page(folder, f"run-{n}")["costs"]) for n in (1, 3, 4, 5)]
    assert sum(cost["calls"] for cost in about["costs"]) == sum(calls)


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("since, listed_then", [("2026-01-05T12:00", ["run-5", "run-4", "run-3"]), ("2027-01-01", [])])
def test_a_run_outside_of_the_time_has_its_page_and_is_listed_apart(
    terminal: Terminal, since: str, listed_then: list[str]
) -> None:
    """All that is told of the dashboard's time is what is told without that run."""
    without, folder = terminal.folder / "without", terminal.folder / "site"
    terminal.run("ui", "--out", "without", "--since", since)
    done = terminal.run("ui", "--out", "site", "--since", since, "--run", "run-1", "--json")
    assert json.loads(done.out) == {"index": "site/index.html", "runs": len(listed_then) + 1, "left_out": 0}
    about, other = overview(folder), overview(without)
    assert (about["apart"]["columns"]["run_id"], about["apart_counts"]) == (["run-1"], False)
    assert about["opens"] == page(folder, "run-1")["run"]["run_id"] == "run-1"
    assert (listed(folder) if about["lists"] else []) == listed_then
    told_apart = {"apart", "opens", "made"}
    assert {name: told for name, told in about.items() if name not in told_apart} == {
        name: told for name, told in other.items() if name not in told_apart
    }


def test_a_run_that_begins_while_the_dashboard_is_written_is_not_left_out_as_older(tmp_path: Path) -> None:
    ledger, made = tmp_path / "ledger.sqlite3", datetime(2026, 1, 5, 12, 30, tzinfo=UTC)
    record(ledger, *five(), told(nothing, 90))
    written = write_dashboard(ledger, tmp_path / "site", made)
    about = overview(tmp_path / "site")
    assert (written.runs, written.left_out) == (about["runs"], about["left_out"]) == (3, 0)
    assert (about["sums"]["runs"], sum(about["ends"].values())) == (3, 3)
    assert about["plots"]["starts"] == ["2026-01-05T00:00:00+00:00"]
    assert listed(tmp_path / "site") == ["run-3", "run-2", "run-1"]
    assert write_dashboard(ledger, tmp_path / "site", made, limit=1).left_out == 2
    assert write_dashboard(ledger, tmp_path / "site", made, limit=1, opens="run-4").left_out == 2, "not of this time"


def test_a_run_whose_events_cannot_be_told_is_missed_beside_the_costs(terminal: Terminal, kept: Path) -> None:
    meddle(kept, "UPDATE events SET hash = '0' WHERE position = 2 AND chain = (SELECT min(id) FROM chains)")
    terminal.run("ui", "--out", "site")
    about = overview(terminal.folder / "site")
    assert (about["untold"], about["sums"]["runs"]) == (1, 5)
    terminal.run("ui", "--out", "site", "--since", "2026-01-05T12:00", "--run", "run-1")
    assert overview(terminal.folder / "site")["untold"] == 0, "that run counts in nothing"


@pytest.mark.usefixtures("kept")
def test_since_leaves_out_what_began_before_in_the_kpis_too(terminal: Terminal) -> None:
    terminal.run("ui", "--out", "site", "--since", "2026-01-05T12:00")
    about = overview(terminal.folder / "site")
    assert (about["runs"], about["left_out"], about["sums"]["runs"]) == (3, 0, 3)
    assert about["since"] == "2026-01-05T12:00:00+00:00"


@pytest.mark.every_case
@pytest.mark.usefixtures("kept")
def test_written_again_it_holds_what_the_ledger_holds_now(terminal: Terminal, kept: Path) -> None:
    terminal.run("ui", "--out", "site", "--run", "run-3")
    folder = terminal.folder / "site"
    before, files_before = files(folder), {n: WrittenDashboard(folder).file(f"run-{n}") for n in range(1, 6)}
    (list_before,) = overview(folder)["lists"]
    (folder / "data" / "runs" / f".review-advisor-{'0' * 16}").write_text("half of it")
    record(kept, told(nothing, 6))
    terminal.run("ui", "--out", "site", "--limit", "2")
    after = files(folder)
    gone = {f"data/{files_before[n]}.js" for n in (1, 2, 3, 4)} | {f"data/lists/{list_before}.js"}
    assert before.keys() - after.keys() == gone
    new = {f"data/{WrittenDashboard(folder).file('run-6')}.js", f"data/lists/{overview(folder)['lists'][0]}.js"}
    assert after.keys() - before.keys() == new
    assert not [name for name in after if ".review-advisor-" in name], "no half file is left"


@pytest.mark.parametrize("until", [None, 4])
def test_an_empty_ledger_and_an_unfinished_run_have_their_pages(terminal: Terminal, until: int | None) -> None:
    ledger = terminal.folder / "ledger.sqlite3"
    record(ledger, told(nothing), until=until)
    words = ("--since", "2030-01-01") if until is None else ()
    assert terminal.run("ui", "--ledger", ledger, "--out", "site", *words).code == 0
    about = overview(terminal.folder / "site")
    assert (about["runs"], len(about["lists"]), about["plots"]["starts"]) == (
        (0, 0, []) if until is None else (1, 1, ["2026-01-05T00:00:00+00:00"])
    )
    if until is not None:
        assert page(terminal.folder / "site", "run-1")["run"]["status"] == "unfinished"


@pytest.mark.every_case
def test_what_was_observed_of_a_pull_request_is_on_the_pages_of_its_runs(terminal: Terminal, kept: Path) -> None:
    labels = (ObservedLabel("", "merge", "merged", "its merge"),)
    facts: dict[str, Any] = {"repository": "ACME/shop", "pull_request": 7, "head_sha": "a" * 40, "labels": labels}
    keep(kept, Observed(at=datetime(2026, 2, 1, tzinfo=UTC), run_id="observed-1", **facts))
    terminal.run("ui", "--out", "site")
    folder = terminal.folder / "site"
    assert page(folder, "run-5")["became"] == ["merge: merged (its merge)"]
    assert overview(folder)["runs"] == 5, "an observation is no run"
    meddle(kept, "UPDATE chains SET last_hash = '0' WHERE run_id = 'observed-1'")
    terminal.run("ui", "--out", "site")
    shown = page(folder, "run-5")
    assert shown["became"] == [], "what is not what was recorded is not told"
    assert shown["unlabelled"].startswith("The run observed-1 is not what was recorded: ")
    assert (shown["trouble"], shown["run"]["status"]) == ("", "approved"), "the review itself is sound"


def test_an_observation_that_cannot_be_read_is_no_trouble_of_the_review(terminal: Terminal, kept: Path) -> None:
    """Such as one of another version, in a chain that is whole."""
    facts: dict[str, Any] = {"repository": "acme/shop", "pull_request": 7, "head_sha": "a" * 40, "labels": ()}
    observed = Observed(at=datetime(2026, 2, 1, tzinfo=UTC), run_id="observed-1", **facts)
    with closing(open_to_write(kept)) as connection:
        chain = begin_chain(connection, observed.run_id, microseconds(observed.at))
        told_otherwise = canonical({**json.loads(event_text(observed)), "labels": "in a new way"})
        for link in links(observed.run_id, [told_otherwise]):
            add_link(connection, chain, link)
        write_tables(connection, chain, readings_of_observation(observed))
    terminal.run("ui", "--out", "site")
    shown = page(terminal.folder / "site", "run-5")
    assert shown["unlabelled"] == "Event 0 of observed-1 is none that this version knows."
    assert (shown["trouble"], shown["entries"] != []) == ("", True)


# --- hostile ledgers and folders --------------------------------------------------------------------------------------


def test_nothing_that_a_run_says_is_markup_or_a_name_or_a_key(terminal: Terminal) -> None:
    ledger = terminal.folder / "ledger.sqlite3"
    record(ledger, hostile_review())
    assert terminal.run("ui", "--ledger", ledger, "--out", "site").code == 0
    folder = terminal.folder / "site"
    for name, content in files(folder).items():
        if name.startswith("data/"):
            assert b"<" not in content, name
            assert content.isascii(), name
    assert page(folder, "run-1")["run"]["title"].startswith("title</script><script>alert(1)")
    assert "__proto__" not in json.dumps(overview(folder))


def test_a_run_that_was_tampered_with_says_so_on_its_page(terminal: Terminal) -> None:
    ledger = terminal.folder / "ledger.sqlite3"
    record(ledger, told(nothing), told(nothing, 2), told(nothing, 3))
    meddle(
        ledger,
        "UPDATE chains SET run_id = '../../../run' WHERE run_id = 'run-1'",
        "UPDATE events SET hash = '0' WHERE position = 2 AND chain = (SELECT id FROM chains WHERE run_id = 'run-2')",
    )
    assert terminal.run("ui", "--ledger", ledger, "--out", "site").code == 0
    folder = terminal.folder / "site"
    assert page(folder, "../../../run")["trouble"].startswith("The run is not what was recorded: event 0")
    assert page(folder, "run-2")["trouble"].startswith("The run is not what was recorded: event 2")
    assert page(folder, "run-3")["trouble"] == ""
    assert not [file for file in terminal.folder.parent.rglob("*.js") if folder not in file.parents]


def test_a_run_whose_events_are_in_an_order_that_no_review_has_says_so(terminal: Terminal) -> None:
    ledger = terminal.folder / "ledger.sqlite3"
    first, *others = told(nothing).events
    part = next(event for event in others if isinstance(event, PartEnded))
    forged = (first, replace(part, repaired=True), others[-1])
    record(ledger, told(nothing), until=1)
    with closing(open_to_write(ledger)) as connection:
        for link in links("run-1", map(event_text, forged))[1:]:
            add_link(connection, chain_id(connection, "run-1") or 0, link)
    assert terminal.run("ui", "--ledger", ledger, "--out", "site").code == 0
    assert page(terminal.folder / "site", "run-1")["trouble"] == "The events of run-1 are those of no review."


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    "words, says",
    [
        (("--run", "run-9"), "The ledger review_logs/ledger/ledger.sqlite3 has no run 'run-9'."),
        (("--run", "run-"), "Several runs begin with 'run-': "),
        (("--ledger", "none.sqlite3"), "There is no ledger none.sqlite3."),
        (("--since", "soon"), "Invalid value for '--since': 'soon' is not a date"),
        (("--port", "8765"), "--port is of no use without --serve: add it, or leave out --port."),
        (("--port", "70000", "--serve"), "Invalid value for '--port': 70000 is not in the range"),
    ],
)
def test_a_question_that_means_nothing_is_one_sentence(terminal: Terminal, words: tuple[str, ...], says: str) -> None:
    assert refused(terminal, *words).startswith(says)
    assert not (terminal.folder / "review_logs" / "dashboard").exists()


# --- what is shipped --------------------------------------------------------------------------------------------------


def test_the_chart_library_is_the_one_that_was_published() -> None:
    for name, digest in VENDORED.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest, name
    assert f"(v{UPLOT})".encode() in (STATIC / "uPlot.iife.min.js").read_bytes()[:200]
    assert b"The MIT License" in (STATIC / "uPlot-LICENSE.txt").read_bytes()


@pytest.mark.parametrize("file", OURS, ids=lambda file: file.name)
def test_no_text_ever_becomes_markup_and_nothing_comes_from_elsewhere(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|DOMParser|srcdoc|ContextualFrag"
    assert re.findall(ways, text) == []
    assert re.findall(r"fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import\(|@import|url\(", text) == []
    assert set(re.findall(r"https?://[^\"'` $]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert re.findall(r"\son[a-z]+=|javascript:|\sstyle=", text) == []


def test_the_page_allows_nothing_inline_and_names_every_script_once() -> None:
    html = (STATIC / "index.html").read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    named = re.findall(r'(?:src|href)="([^"#]+)"', html)
    assert sorted(named) == sorted({file.name for file in STATIC.iterdir()} - {"index.html", "uPlot-LICENSE.txt"})


# --- the server -------------------------------------------------------------------------------------------------------


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """The server's port, while it serves."""
    with serving(folder, 0) as server:
        running = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        running.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            running.join()


def asked(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """The answer: its status, headers and body. ``Host`` and others may be told."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": f"127.0.0.1:{port}", **headers}.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), answer.read()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A served dashboard."""
    folder = tmp_path_factory.mktemp("served")
    with writing(folder / "site") as site:
        site.finish({"runs": 0})
    (folder / "site" / "data" / "secret.txt").write_text("secret")
    (folder / "secret.js").write_text("secret")
    with served(folder / "site") as number:
        yield number


def test_the_pages_and_their_data_are_served_with_headers_that_keep_others_out(port: int) -> None:
    status, headers, body = asked(port, "/")
    assert (status, body) == (200, (STATIC / "index.html").read_bytes())
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers
    status, headers, body = asked(port, "/data/overview.js")
    assert (status, headers["Content-Type"], body) == (
        200,
        "text/javascript; charset=utf-8",
        b'dashboard.receive("overview",{"runs":0});\n',
    )
    assert asked(port, "/dom.js", "HEAD")[::2] == (200, b"")


@pytest.mark.parametrize(
    "path",
    [
        *("/data/", "/data", "/.gitignore", "/data/secret.txt", "/../secret.js", "/data/../../secret.js", "//etc"),
        *(
            "/data/%2e%2e/secret.js",
            "/data/runs/",
            "/nothing.html",
            f"/data/lists/{'0' * 32}.js",
            "/?run=1",
            "/index.html/",
        ),
    ],
)
def test_nothing_else_is_served_and_no_folder_is_listed(port: int, path: str) -> None:
    status, _, body = asked(port, path)
    assert (status, body) == (404, b"")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "127.0.0.1"},
        {"Host": "localhost"},
        {"Host": ""},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_a_name_that_is_not_its_own_and_a_foreign_page_get_nothing(port: int, headers: dict[str, str]) -> None:
    assert asked(port, "/data/overview.js", **headers)[::2] == (403, b"")


def test_its_own_names_are_answered(port: int) -> None:
    for host in (f"127.0.0.1:{port}", f"localhost:{port}"):
        assert asked(port, "/", Host=host, Sec_Fetch_Site="same-origin")[0] == 200


def test_a_browser_does_not_name_the_port_that_it_takes_by_itself() -> None:
    assert own_names(80) == {"127.0.0.1", "localhost", "127.0.0.1:80", "localhost:80"}
    assert own_names(8_765) == {"127.0.0.1:8765", "localhost:8765"}


def test_nothing_can_be_written_through_it(port: int) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert asked(port, "/index.html", method)[0] == 501


def test_a_port_that_is_taken_is_one_sentence(port: int, tmp_path: Path) -> None:
    with pytest.raises(SiteError, match=rf"Port {port} of 127\.0\.0\.1 cannot be served: "), serving(tmp_path, port):
        pass


@pytest.mark.usefixtures("kept")
def test_serve_prints_where_and_ends_with_ctrl_c(terminal: Terminal) -> None:
    running = terminal.start("ui", "--serve", "--port", "0", "--json")
    try:
        assert running.stdout is not None
        said = json.loads(running.stdout.readline())
        assert said["runs"] == 5
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", said["url"])
        assert found is not None
        (digest,) = overview(terminal.folder / "review_logs" / "dashboard")["lists"]
        assert asked(int(found[1]), f"/data/lists/{digest}.js")[0] == 200
    finally:
        running.send_signal(signal.SIGINT)
        _, said_last = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said_last.endswith("Interrupted.\n")

"""The dashboard in a real Chromium: what a reader sees and does, and what never happens whatever a run says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from dashboard_ledger import fill
from tests.adapters.dashboard.test_how_alike_members_vote import judged
from tests.adapters.hostile_review import hostile_review
from tests.adapters.ledgers import five, meddle, nothing, record, told
from tests.adapters.observing.test_calibrate import ledger_of
from tests.e2e.browser.reader import NARROW, WIDE, Reader
from tests.scenarios.task_runs import consult, done, guidance, play

from review_advisor.app.ui import write_dashboard
from review_advisor.ledger.dashboard import serving
from review_advisor.ledger.kpis import Sums, kpis
from review_advisor.ledger.queries import Between, RunFilter, RunLine
from review_advisor.ledger.recorder import TaskRecorder, keep
from review_advisor.ledger.run_queries import list_runs, show_run
from review_advisor.mockworld.agents import approve, confirm, plan, vote
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import RoleSkipped
from review_advisor.review.observed import Observed, ObservedLabel

RUNS = 300
MANY = 10_000
MADE = datetime(2026, 7, 1, tzinfo=UTC)


class Written:
    """A ledger, and its dashboard in a folder."""

    def __init__(self, folder: Path) -> None:
        self.ledger, self.site = folder / "ledger.sqlite3", folder / "site"

    def write(self, **asked: Any) -> Written:
        write_dashboard(self.ledger, self.site, MADE, **asked)
        return self

    @property
    def place(self) -> str:
        return self.site.as_uri()

    def one(self, **wanted: Any) -> RunLine:
        """The newest run like this."""
        return next(line for line in list_runs(self.ledger, RunFilter(limit=MANY)) if _is(line, wanted))

    def event(self, run: RunLine, kind: str, **facts: Any) -> int:
        """The number of the run's first event of a kind."""
        events = show_run(self.ledger, run.run_id).events
        return next(n for n, event in enumerate(events) if event["kind"] == kind and facts.items() <= event.items())


def _is(line: RunLine, wanted: dict[str, Any]) -> bool:
    return wanted.items() <= line.as_json().items()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Some hundred reviews of a shop."""
    written = Written(tmp_path_factory.mktemp("shop"))
    fill(written.ledger, RUNS)
    return written.write()


@contextmanager
def served(written: Written) -> Iterator[str]:
    with serving(written.site, 0) as server:
        running = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        running.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            running.join()


def shown_runs(page: Any) -> list[str]:
    """The ids of the runs that the list shows, in its order."""
    return [str(each).rpartition("/")[2] for each in page.locator("a.run").evaluate_all("all => all.map(a => a.hash)")]


# --- opening ----------------------------------------------------------------------------------------------------------


def _walk(reader: Reader, place: str, written: Written) -> None:
    page = reader.opens(place)
    assert reader.heading() == "Overview"
    assert page.locator(".kpi").count() == len(kpis(Sums()))
    page.get_by_role("link", name="Runs", exact=True).click()
    page.wait_for_selector("a.run")
    assert page.locator("#count").inner_text() == f"{RUNS} runs"
    newest = written.one()
    assert shown_runs(page)[0] == newest.run_id
    page.locator("a.run").nth(1).click()
    page.wait_for_selector(".timeline")
    assert page.locator(".crumbs code").inner_text() == shown_runs_of(written)[1]


def shown_runs_of(written: Written) -> list[str]:
    return [line.run_id for line in list_runs(written.ledger, RunFilter(limit=MANY))]


def test_it_opens_as_files(reader: Reader, shop: Written) -> None:
    _walk(reader, shop.place, shop)


def test_it_opens_from_the_server(reader: Reader, shop: Written) -> None:
    with served(shop) as place:
        _walk(reader, place, shop)
        reader.leaves()


def test_it_opens_at_the_run_that_was_asked_for(reader: Reader, tmp_path: Path) -> None:
    written = Written(tmp_path)
    record(written.ledger, told(nothing), told(nothing, 2))
    page = reader.opens(written.write(opens="run-1").place)
    page.wait_for_selector(".timeline")
    assert page.locator(".crumbs code").inner_text() == "run-1"
    page.get_by_role("link", name="Overview").click()
    page.wait_for_selector(".kpis")


# --- overview ---------------------------------------------------------------------------------------------------------


def test_the_overview_tells_how_alike_members_of_councils_vote(reader: Reader, tmp_path: Path) -> None:
    written = Written(tmp_path)
    record(written.ledger, judged(1, vote(90)))
    page = reader.opens(written.write().place, "#/overview")
    rows = page.get_by_role("group", name="How alike members of councils vote").locator("tbody tr")
    assert rows.all_inner_texts() == ["hydraflow-review-advisor, one\t1\ttoo few\tnot known"]


def test_the_overview_tells_what_rollup_tells_and_plots_have_tables(reader: Reader, shop: Written) -> None:
    page = reader.opens(shop.place, "#/overview")
    lines = list_runs(shop.ledger, RunFilter(limit=MANY))
    tiles = page.locator(".tile").all_inner_texts()
    approved = sum(line.status == "approved" for line in lines)
    assert tiles[0].split("\n")[:2] == [str(approved), "Approved"]
    assert page.locator(".kpi", has_text="Objections proved right").locator(".value").inner_text() == "not measured"
    told = {"Consult share": "the consults' part of all tokens", "Assurance share": "the part of plan and judgement"}
    for name, words in told.items():
        share = page.locator(".kpi", has_text=name).inner_text()
        assert f"{words}; {len(lines):,} runs." in share
        assert "\n0.0%\n" not in share
    assert page.locator(".plot").count() == 5
    assert page.locator(".plot canvas").count() == 5
    plot = page.locator(".plot", has=page.get_by_role("heading", name="Reviews by outcome"))
    plot.locator("summary").click()
    rows = plot.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    assert sum(int(row[1]) for row in rows) == approved
    assert sum(int(cell) for row in rows for cell in row[1:]) == RUNS
    page.locator(".plot .u-over").first.hover()
    assert plot.locator(".readout").inner_text().startswith("2026-")
    page.locator(".tile").nth(2).click()
    page.wait_for_selector("a.run")
    assert page.locator("#filter-status").input_value() == "escalated"


# --- calibration ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judged_often(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Reviews of which people judged forty findings."""
    written = Written(tmp_path_factory.mktemp("judged"))
    ledger_of(written.ledger, 20)
    return written.write()


def test_calibration_is_plotted_and_its_tables_have_the_numbers(reader: Reader, judged_often: Written) -> None:
    page = reader.opens(judged_often.place)
    page.get_by_role("link", name="Calibration", exact=True).click()
    page.locator("svg.drawing").first.wait_for()
    assert reader.heading() == "Calibration"
    assert page.locator("svg.drawing").count() == 2
    reliability, risk = page.locator(".plot").all()
    reliability.locator("summary").click()
    bins = [int(each) for each in reliability.locator("tbody tr td:nth-of-type(1)").all_inner_texts()]
    assert sum(bins) == 40
    assert reliability.locator("circle").count() == len(bins)
    risk.locator("summary").click()
    assert risk.locator("tbody tr").last.locator("td").first.inner_text() == "100.0%"
    assert page.locator("svg.drawing").evaluate_all(
        "all => all.every(each => each.getBoundingClientRect().width > 200)"
    )


def test_a_finding_is_told_with_how_often_its_kind_was_right(reader: Reader, judged_often: Written) -> None:
    page = reader.opens(judged_often.place, "#/run/run-7")
    page.locator("details.finding").first.locator("summary").click()
    assert page.locator(".known").first.inner_text().endswith("of the time, as people said (n = 40).")


def test_without_labels_calibration_says_what_it_needs(reader: Reader, shop: Written) -> None:
    assert "Plots need 30 findings" in reader.opens(shop.place, "#/calibration").locator(".empty").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_calibration(reader: Reader, judged_often: Written, scheme: str) -> None:
    barriers = []
    for size in (WIDE, NARROW):
        page = reader.opens(judged_often.place, "#/calibration", scheme=scheme, size=size)
        page.locator("svg.drawing").first.wait_for()
        page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
        barriers += reader.finds_barriers()
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert barriers == []


# --- the list ---------------------------------------------------------------------------------------------------------

FILTERS: list[tuple[dict[str, str], RunFilter]] = [
    ({"status": "escalated"}, RunFilter(status="escalated")),
    ({"text": "VOUCHERS"}, RunFilter(text="vouchers")),
    ({"repository": "acme/billing", "status": "approved"}, RunFilter(repository="acme/billing", status="approved")),
    ({"pr": "7"}, RunFilter(pull_request=7)),
    ({"cost": "0.12..0.2"}, RunFilter(cost_usd=Between(0.12, 0.2))),
    ({"consults": "1.."}, RunFilter(consults=Between(1))),
    ({"error": "any"}, RunFilter(error="any")),
    ({"error": "none", "role": "pre_flight"}, RunFilter(error="none", role="pre_flight")),
    ({"role": "post_verify", "error": "crash"}, RunFilter(role="post_verify", error="crash")),
    ({"model": "opus", "role": "executor"}, RunFilter(model="opus", role="executor")),
    ({"surface": "pr_review", "model": "opus"}, RunFilter(surface="pr_review", model="opus")),
    (
        {"since": "2026-05-20", "until": "2026-06-02"},
        RunFilter(since=datetime(2026, 5, 20, tzinfo=UTC), until=datetime(2026, 6, 2, tzinfo=UTC)),
    ),
]


def test_each_filter_finds_what_runs_list_finds_and_stands_in_the_address(reader: Reader, shop: Written) -> None:
    page = reader.opens(shop.place, "#/runs")
    page.wait_for_selector("a.run")
    for asked, wanted in FILTERS:
        page.get_by_role("button", name="Clear").click()
        for name, value in asked.items():
            field = page.locator(f"#filter-{name}")
            if field.evaluate("field => field.tagName") == "SELECT":
                field.select_option(value=value)
            else:
                field.fill(value)
        found = [line.run_id for line in list_runs(shop.ledger, wanted)]
        many = len(list_runs(shop.ledger, replace(wanted, limit=MANY)))
        said = f"{RUNS} runs" if many == RUNS else f"{many} of {RUNS} runs"
        assert (page.locator("#count").inner_text(), shown_runs(page)[:20]) == (said, found), asked
        page.reload()
        page.wait_for_selector("#count")
        assert (page.locator("#count").inner_text(), shown_runs(page)[:20]) == (said, found), page.url


def test_pages_turn_and_filters_are_cleared(reader: Reader, shop: Written) -> None:
    page = reader.opens(shop.place, "#/runs?status=approved")
    page.wait_for_selector("a.run")
    first = shown_runs(page)
    page.get_by_role("link", name="Older").click()
    page.locator(".turning", has_text="Page 2 of").wait_for()
    assert not set(first) & set(shown_runs(page))
    page.get_by_role("button", name="Clear").click()
    assert page.locator("#count").inner_text() == f"{RUNS} runs"
    assert page.evaluate("location.hash") == "#/runs"


def test_what_is_no_range_is_said_beside_the_field(reader: Reader, shop: Written) -> None:
    page = reader.opens(shop.place, "#/runs")
    page.wait_for_selector("a.run")
    page.locator("#filter-cost").fill("much")
    assert page.locator("#filter-cost-wrong").inner_text() == "Give N, A..B, A.. or ..B."
    assert page.locator("#filter-cost").get_attribute("aria-invalid") == "true"
    page.locator("#filter-text").fill("no such words")
    assert "No run matches" in page.locator("main").inner_text()


# --- a run ------------------------------------------------------------------------------------------------------------


def test_a_consult_shows_question_options_guidance_and_what_it_changed(reader: Reader, shop: Written) -> None:
    run = shop.one(consults=1)
    number = shop.event(run, "consulted")
    page = reader.opens(shop.place, f"#/run/{run.run_id}/e{number}")
    page.wait_for_selector(f"#e{number}.named")
    told_of = page.locator(f"#e{number}").inner_text()
    for words in (
        "Does the bank know a refund",
        "no: a refund may be paid twice",
        "Take it for unsafe",
        "What it changed",
    ):
        assert words in told_of


def test_a_veto_shows_the_findings_before_and_after_and_the_patch(reader: Reader, shop: Written) -> None:
    run = next(each for each in list_runs(shop.ledger, RunFilter(limit=MANY)) if each.recovered)
    number = shop.event(run, "verified")
    page = reader.opens(shop.place, f"#/run/{run.run_id}/e{number}")
    page.wait_for_selector(f"#e{number}.named")
    entry = page.locator(f"#e{number}")
    assert entry.locator(".compared .gone").inner_text().split("\n")[-1].endswith("shop/cart.py:17")
    added = entry.locator(".patch .added").all_inner_texts()
    assert "+            self.codes.add(code)\n" in [f"{line.rstrip()}\n" for line in added]


def test_a_deep_link_opens_the_event_and_is_where_the_reader_is(reader: Reader, shop: Written) -> None:
    run = shop.one(vetoes=2)
    number = shop.event(run, "verified")
    page = reader.opens(shop.place, f"#/run/{run.run_id}/e{number}")
    page.wait_for_selector(f"#e{number}.named")
    assert page.evaluate("document.activeElement.id") == f"e{number}"
    assert page.locator(f"#e{number} details:not([open])").count() == 0
    assert page.locator(".timeline details:not([open])").count() > 0
    assert page.locator(f"#e{number}").evaluate("entry => entry.getBoundingClientRect().top < innerHeight")
    page.locator("#e0 .anchor").click()
    page.wait_for_selector("#e0.named")
    assert page.evaluate("location.hash") == f"#/run/{run.run_id}/e0"


def long_review() -> OutcomeDocument:
    """One of more events than a page shows at once."""
    document = told(nothing)
    first, *others, last = document.events
    skipped = [RoleSkipped(at=last.at, surface=Surface.PR_REVIEW, role=Role.PRE_FLIGHT, because=("why",))]
    return outcome_document([first, *others, *(skipped * 900), last])


def test_an_event_far_down_is_shown_whatever_leads_to_it(reader: Reader, tmp_path: Path) -> None:
    """A link from elsewhere, another number in the address, a link of the page itself, and Back."""
    written = Written(tmp_path)
    record(written.ledger, long_review())
    place = written.write().place
    page = reader.opens(place, "#/run/run-1")
    page.wait_for_selector(".timeline")
    assert page.locator(".entry").count() == 200, "a page does not show all at once"
    page.evaluate("location.hash = '#/run/run-1/e500'")
    page.wait_for_selector("#e500.named")
    assert page.evaluate("document.activeElement.id") == "e500"
    shown = page.locator(".entry").count()
    assert 200 < shown <= 501
    page.locator("#e3 .anchor").click()
    page.wait_for_selector("#e3.named")
    page.evaluate("location.hash = '#/run/run-1/e700'")
    page.wait_for_selector("#e700.named")
    page.go_back()
    page.wait_for_selector("#e3.named")
    page.go_forward()
    page.wait_for_selector("#e700.named")
    assert page.locator("#e500").count() == page.locator("#e3").count() == 1
    page.evaluate("location.hash = '#/run/run-1/e9999'")
    page.locator("#said", has_text="This run has no such event.").wait_for(state="attached")
    assert reader.opens(place, "#/run/run-1/e650").locator("#e650.named").count() == 1


@pytest.mark.parametrize(
    "fragment", ["#/run/nobody", "#/nowhere", "#/run/%E0%A4%A", "#/run/<img src=x onerror=alert(1)>"]
)
def test_what_is_not_there_is_said(reader: Reader, shop: Written, fragment: str) -> None:
    page = reader.opens(shop.place, fragment)
    assert reader.heading() == "Nothing to show"
    assert page.get_by_role("alert").is_visible()


def test_an_unfinished_run_says_so(reader: Reader, shop: Written) -> None:
    run = shop.one(status="unfinished")
    page = reader.opens(shop.place, f"#/run/{run.run_id}")
    page.wait_for_selector(".notice")
    assert "No end of this run is recorded" in page.locator(".notice").inner_text()


def test_an_empty_ledger_says_so_on_both_pages(reader: Reader, tmp_path: Path) -> None:
    written = Written(tmp_path)
    record(written.ledger, told(nothing))
    place = written.write(since=MADE).place
    assert "The ledger has no run of this time" in reader.opens(place).locator(".empty").inner_text()
    assert reader.opens(place, "#/runs").locator(".empty").inner_text() == "No run is recorded in this time."


def test_a_run_outside_of_the_time_is_shown_and_listed_apart(reader: Reader, tmp_path: Path) -> None:
    written = Written(tmp_path)
    record(written.ledger, told(nothing), told(nothing, 5))
    since = datetime(2026, 1, 5, 12, tzinfo=UTC)
    page = reader.opens(written.write(since=since, opens="run-1").place)
    page.wait_for_selector(".timeline")
    assert page.locator(".crumbs code").inner_text() == "run-1"
    page.locator("#to-runs").click()
    page.wait_for_selector("#count")
    assert page.locator("#count").inner_text() == "1 run"
    assert shown_runs(page) == ["run-5", "run-1"]
    apart = page.locator("section", has=page.get_by_role("heading", name="Asked for, and not in the list"))
    assert apart.locator("a.run").count() == 1
    assert "It is not of this time, and counts in nothing else" in apart.inner_text()
    assert reader.finds_barriers() == []
    place = written.write(since=MADE, opens="run-1").place
    assert "The ledger has no run of this time" in reader.opens(place, "#/overview").locator(".empty").inner_text()
    page = reader.opens(place, "#/runs")
    assert shown_runs(page) == ["run-1"]


def test_a_run_beyond_the_limit_is_listed_apart_and_nothing_is_called_older_than_it(
    reader: Reader, tmp_path: Path
) -> None:
    written = Written(tmp_path)
    record(written.ledger, *(told(nothing, number) for number in (1, 2, 3)))
    place = written.write(limit=1, opens="run-1").place
    page = reader.opens(place, "#/runs")
    page.wait_for_selector("#count")
    assert page.locator("#count").inner_text() == "1 run; 1 more has no page"
    assert shown_runs(page) == ["run-3", "run-1"]
    apart = page.locator("section", has=page.get_by_role("heading", name="Asked for, and not in the list"))
    assert "It is of this time, and counts as the listed ones do." in apart.inner_text()
    assert reader.finds_barriers() == []
    page = reader.opens(place, "#/overview")
    assert (
        page.locator(".notice")
        .first.inner_text()
        .startswith("1 run has no page here and counts in the KPIs and plots only: ")
    )
    assert page.locator(".notice").last.inner_text() == "Not in this table: what 1 run used that has no page."
    page = reader.opens(place, "#/run/run-1")
    page.wait_for_selector(".timeline")


def test_consults_whose_cost_is_counted_with_the_executor_say_so(reader: Reader, tmp_path: Path) -> None:
    def story(world: MockWorld) -> None:
        world.switch("HYDRAFLOW_REVIEW_EXECUTOR_MODEL", "opus")
        world.agents.script(Role.EXECUTOR, approve().costing(0.11).after_asking("one?", "two?"))

    written = Written(tmp_path)
    record(written.ledger, told(story))
    page = reader.opens(written.write().place, "#/overview")
    page.wait_for_selector("table >> text=Mid-flight")
    rows = [row.split("\t") for row in page.locator("table", has_text="Cost per call").inner_text().splitlines()]
    executor, consults = (next(row for row in rows if row[0] == role) for role in ("Executor", "Mid-flight"))
    assert (executor[2], executor[7], executor[8]) == ("1", "$0.1100, consults included", "$0.1100")
    assert consults[1:] == ["opus", "2 consults", *["with the executor"] * 5, "unknown"]


def test_a_cost_that_is_known_in_part_is_said_so_wherever_it_stands(reader: Reader, tmp_path: Path) -> None:
    def story(world: MockWorld) -> None:
        world.agents.script(Role.PRE_FLIGHT, plan().costing(0.02))
        world.agents.script(Role.EXECUTOR, approve().costing(None))
        world.agents.script(Role.POST_VERIFY, confirm().costing(0.19))

    written = Written(tmp_path)
    record(written.ledger, told(story))
    page = reader.opens(written.write().place, "#/runs")
    page.wait_for_selector("a.run")
    assert page.locator("a.run .cost").inner_text() == "$0.2100, and 1 call unknown"
    page.locator("a.run").click()
    page.wait_for_selector(".timeline")
    assert "$0.2100, and 1 call unknown" in page.locator(".summary").inner_text()
    page = reader.opens(written.place, "#/overview")
    assert "$0.2100 spent, as the calls reported; what 1 call of sonnet cost is unknown." in (
        page.locator(".ends").inner_text()
    )


def test_what_cannot_be_told_is_said_beside_what_is(reader: Reader, tmp_path: Path) -> None:
    """A broken run's costs, an older run's, and what was seen of a pull request."""
    written = Written(tmp_path)
    record(written.ledger, *(told(nothing, number) for number in (1, 2, 3)))
    facts: dict[str, Any] = {"repository": "acme/shop", "pull_request": 7, "head_sha": "a" * 40}
    seen = (ObservedLabel("", "merge", "merged", "its merge"),)
    keep(written.ledger, Observed(at=MADE, run_id="observed-1", labels=seen, **facts))
    meddle(
        written.ledger,
        "UPDATE chains SET last_hash = '0' WHERE run_id = 'observed-1'",
        "UPDATE events SET hash = '0' WHERE position = 2 AND chain = (SELECT id FROM chains WHERE run_id = 'run-3')",
    )
    page = reader.opens(written.write(limit=2).place, "#/overview")
    assert page.locator(".notice").last.inner_text() == (
        "Not in this table: what 1 run used that has no page; what 1 run used whose events cannot be told."
    )
    page = reader.opens(written.place, "#/run/run-2")
    page.wait_for_selector(".timeline")
    section = page.locator("section", has=page.get_by_role("heading", name="What became of the pull request"))
    assert section.locator(".notice").inner_text().startswith("The run observed-1 is not what was recorded")
    assert reader.finds_barriers() == []


# --- people -----------------------------------------------------------------------------------------------------------


def test_the_keyboard_alone_reaches_a_run(reader: Reader, shop: Written) -> None:
    page = reader.opens(shop.place)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Runs"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_selector("a.run")
    assert page.evaluate("document.activeElement.tagName") == "H1", "the reader is told where they are"
    presses = 0
    while not page.evaluate("document.activeElement.classList.contains('run')"):
        page.keyboard.press("Tab")
        presses += 1
        assert presses < 40
    page.keyboard.press("Enter")
    page.wait_for_selector(".timeline")
    assert reader.heading() == shop.one().title


def test_light_and_dark_follow_the_system_unless_the_reader_chose(reader: Reader, shop: Written) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = reader.opens(shop.place).evaluate(ground)
    page = reader.opens(shop.place, scheme="dark")
    dark = page.evaluate(ground)
    assert light != dark
    page.get_by_label("Theme").select_option("light")
    assert page.evaluate(ground) == light
    reader.goes_to("#/runs")
    page.reload()
    page.wait_for_selector("a.run")
    assert page.evaluate(ground) == light, "the choice is kept"
    page.get_by_label("Theme").select_option("system")
    assert page.evaluate(ground) == dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_people_from_using_it(reader: Reader, shop: Written, scheme: str) -> None:
    vetoed, consulted = shop.one(vetoes=2), shop.one(recovered=True)
    barriers = {}
    for fragment in (
        *("#/overview", "#/runs", "#/runs?cost=much&text=none", "#/nowhere"),
        *(f"#/run/{run.run_id}/e{shop.event(run, 'verified')}" for run in (vetoed, consulted)),
        f"#/run/{shop.one(status='unfinished').run_id}",
    ):
        page = reader.opens(shop.place, fragment, scheme=scheme)
        page.wait_for_load_state("networkidle")
        page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
        barriers[fragment] = reader.finds_barriers()
    reader.opens(shop.place, "#/runs", scheme=scheme, size=NARROW).wait_for_selector("a.run")
    barriers["narrow"] = reader.finds_barriers()
    assert {where: found for where, found in barriers.items() if found} == {}


@pytest.mark.parametrize("fragment", ["#/overview", "#/runs", "run"])
def test_a_narrow_page_is_one_column_that_does_not_scroll_sideways(
    reader: Reader, shop: Written, fragment: str
) -> None:
    where = f"#/run/{shop.one(recovered=True).run_id}" if fragment == "run" else fragment
    page = reader.opens(shop.place, where, size=NARROW)
    page.wait_for_selector(".kpi, .runhead, a.run")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    lefts = page.locator(".kpi, a.run, .entry").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().left)"
    )
    assert len(set(lefts)) == 1


# --- many runs --------------------------------------------------------------------------------------------------------


@pytest.mark.timeout(600)  # most of it is making the ledger
def test_ten_thousand_runs_open_and_are_filtered(reader: Reader, tmp_path: Path) -> None:
    written = Written(tmp_path)
    fill(written.ledger, MANY)
    page = reader.opens(written.write(limit=MANY).place, "#/runs")
    page.wait_for_selector("a.run")
    assert page.locator("#count").inner_text() == "10,000 runs"
    assert page.locator("a.run").count() == 50, "only the rows of one page are made"
    page.locator("#filter-pr").fill("4711")
    assert page.locator("#count").inner_text() == "1 of 10,000 runs"
    page.locator("a.run").click()
    page.wait_for_selector(".timeline")
    assert reader.heading().endswith("(4711)")
    scripts = page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert sum("/data/runs/" in name for name in scripts) <= 1, "a run's file is loaded when the run is asked for"


# --- written anew, and slow -------------------------------------------------------------------------------------------


def test_an_open_page_never_mixes_two_dashboards(reader: Reader, tmp_path: Path) -> None:
    """What is as it was still opens; what is not says so, until the page is loaded again."""
    written = Written(tmp_path)
    record(written.ledger, told(nothing), told(nothing, 2))
    page = reader.opens(written.write().place, "#/run/run-1")
    page.wait_for_selector(".timeline")
    record(written.ledger, told(nothing, 3))
    written.write()
    page.evaluate("location.hash = '#/run/run-2'")
    page.locator(".crumbs code", has_text="run-2").wait_for()
    page = reader.opens(written.place, "#/overview")
    record(written.ledger, told(nothing, 4))
    written.write()
    page.get_by_role("link", name="Runs", exact=True).click()
    page.wait_for_selector("[role=alert]")
    assert "If the dashboard was written anew, load this page again." in page.get_by_role("alert").inner_text()
    assert reader.troubles.pop().startswith("console error: Failed to load resource")
    page.reload()
    page.wait_for_selector("a.run")
    assert shown_runs(page) == [f"run-{number}" for number in (4, 3, 2, 1)]


def test_what_comes_late_does_not_take_the_place_of_where_the_reader_has_gone(reader: Reader, tmp_path: Path) -> None:
    written = Written(tmp_path)
    record(written.ledger, told(nothing))
    with served(written.write()) as place:
        page = reader.opens(place, "#/nowhere")
        held: list[Any] = []
        page.route("**/data/lists/*", lambda route: held.append(route))  # noqa: PLW0108 (it takes no builtin)
        with page.expect_request("**/data/lists/*") as asked:
            page.evaluate("location.hash = '#/run/nobody'")
        page.evaluate("location.hash = '#/overview'")
        page.wait_for_selector(".ends")
        with page.expect_response(asked.value.url):
            held[0].continue_()
        page.evaluate("(name) => dashboard.load(name).then(() => true)", asked.value.url.split("/data/")[1][:-3])
        assert reader.heading() == "Overview"
        reader.leaves()


# --- hostile runs -----------------------------------------------------------------------------------------------------


def test_nothing_that_a_run_says_runs_asks_or_becomes_markup(reader: Reader, tmp_path: Path) -> None:
    written = Written(tmp_path)
    record(written.ledger, hostile_review())
    place = written.write().place
    for fragment in ("#/overview", "#/runs", "#/run/run-1", "#/run/run-1/e9"):
        page = reader.opens(place, fragment)
        page.wait_for_selector("main .card, .timeline")
        page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
        page.wait_for_load_state("networkidle")
        for foreign in (
            "main img",
            "main iframe",
            "main svg",
            "main script",
            "main [onerror]",
            "main [style*=expression]",
        ):
            assert page.locator(foreign).count() == 0, (fragment, foreign)
        links = page.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
        assert [link for link in links if not link.startswith("#/") and link != "#main"] == []
    told_of = reader.page.locator("main").inner_text()
    for what in ("question", "context", "option", "guidance", "rationale", "finding", "body", "reasoning", "direction"):
        assert f"{what}</script><script>alert(1)</script><img src=x onerror=alert(2)>" in told_of, what


# --- going on and back ------------------------------------------------------------------------------------------------


def test_whoever_goes_back_is_where_they_were(reader: Reader, shop: Written) -> None:
    page = reader.opens(shop.place, "#/runs")
    page.wait_for_selector("a.run")
    row = page.locator("a.run").nth(30)
    row.scroll_into_view_if_needed()
    page.wait_for_timeout(100)
    before = page.evaluate("scrollY")
    assert before > 800
    row.click()
    page.wait_for_selector(".runhead")
    assert page.evaluate("scrollY") < before
    page.go_back()
    page.wait_for_selector("a.run")
    page.wait_for_function("before => Math.abs(scrollY - before) < 3", arg=before)
    page.go_forward()
    page.wait_for_selector(".runhead")
    assert page.evaluate("scrollY") < before


def test_filters_are_folded_on_a_phone_unless_one_is_set(reader: Reader, shop: Written) -> None:
    page = reader.opens(shop.place, "#/runs", size=NARROW)
    page.wait_for_selector("a.run")
    assert not page.locator("#filter-status").is_visible()
    assert page.locator("a.run").first.bounding_box()["y"] < NARROW["height"]
    page.get_by_text("Filters", exact=True).click()
    assert page.locator("#filter-status").is_visible()
    page = reader.opens(shop.place, "#/runs?status=approved", size=NARROW)
    page.wait_for_selector("a.run")
    assert page.locator("#filter-status").is_visible()
    page = reader.opens(shop.place, "#/runs")
    page.wait_for_selector("a.run")
    assert page.locator("#filter-status").is_visible()


def test_a_vetoed_run_tells_the_disagreement_and_links_to_github(reader: Reader, shop: Written) -> None:
    run = shop.one(recovered=True)
    page = reader.opens(shop.place, f"#/run/{run.run_id}")
    told = page.get_by_role("region", name="Disagreement").inner_text()
    assert "the advisor vetoes it" in told
    assert "then: retry, because vetoed" in told
    assert "Findings (0)" not in page.locator("main").inner_text()
    link = page.locator(".runhead a").get_attribute("href")
    assert link == f"https://github.com/{run.repository}/pull/{run.pull_request}"


# --- tasks ------------------------------------------------------------------------------------------------------------


def test_tasks_stand_beside_reviews_are_found_by_the_filters_and_have_a_page(reader: Reader, tmp_path: Path) -> None:
    written = Written(tmp_path)
    record(written.ledger, *five())
    says = [consult("Which <b>way</b>?", options=["left", "right"]), done(applied=[1])]
    recorder = TaskRecorder(written.ledger, pytest.fail)
    for event in play(says, [guidance("Left.")], task="Mend <i>the</i> parser").events:
        recorder(event)
    page = reader.opens(written.write().place, "#/runs")
    assert page.inner_text("#count") == "6 runs"
    for filters, count in (
        ("surface=task", 1),
        ("status=completed", 1),
        ("model=scripted", 1),
        ("backend=scripted", 1),
        ("text=PARSER", 1),
    ):
        reader.goes_to(f"#/runs?{filters}")
        assert (filters, page.inner_text("#count")) == (filters, f"{count} of 6 runs")
    for filters in (
        "backend=opus",
        "backend=scripted&surface=pr_review",
        "status=completed&error=any",
        "surface=task&consults=2..",
    ):
        reader.goes_to(f"#/runs?{filters}")
        assert page.inner_text("#count") == "0 of 6 runs"
    reader.goes_to("#/runs?surface=task&consults=1&error=none")
    row = page.locator("a.run")
    assert "Mend <i>the</i> parser" in row.inner_text()
    assert "finding" not in row.inner_text()
    row.click()
    page.wait_for_selector(".timeline")
    assert reader.heading() == "Mend <i>the</i> parser"
    assert page.locator("#findings-heading").count() == 0
    timeline = page.inner_text(".timeline")
    for told_there in ("Which <b>way</b>?", "left", "Left.", "It is shorter.", "The task ended: completed"):
        assert told_there in timeline
    assert reader.finds_barriers() == []
    reader.goes_to("#/overview")
    assert "the list of runs also has 1 task." in page.inner_text("main")

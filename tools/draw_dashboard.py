"""Draw docs/images/dashboard-*.png: the dashboard of a ledger of invented reviews.

It needs Chromium, and Playwright from where `make pictures` installs it. Nothing is fetched.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from dashboard_ledger import fill
from PIL import Image
from playwright.sync_api import sync_playwright

from review_advisor.app.ui import write_dashboard
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.run_queries import list_runs, show_run

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
RUNS = 400
MADE = datetime(2026, 7, 1, 6, 0, tzinfo=UTC)
WIDTH = 1_240
COLOURS = 128


@dataclass(frozen=True)
class Shot:
    """One picture: what is opened, what must be there before it is taken, and how tall it is."""

    name: str
    fragment: str
    wait_for: str
    height: int
    scheme: str = "light"

    @property
    def file(self) -> Path:
        """Where it lies."""
        return IMAGES / f"dashboard-{self.name}.png"


def shots(ledger: Path) -> list[Shot]:
    """The pictures of docs/dashboard.md."""
    run = next(line for line in list_runs(ledger, RunFilter(limit=RUNS)) if line.recovered)
    veto = next(n for n, event in enumerate(show_run(ledger, run.run_id).events) if event["kind"] == "verified")
    return [
        Shot("overview", "#/overview", ".plot canvas", 1_600),
        Shot("runs", "#/runs?repository=acme%2Fshop", "a.run", 820),
        Shot("run-dark", f"#/run/{run.run_id}/e{veto}", f"#e{veto}.named", 900, "dark"),
    ]


def main() -> None:
    """Record, write, draw."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--chromium", default="chromium", help="the command that starts Chromium")
    chromium = shutil.which(options.parse_args().chromium)
    if chromium is None:
        raise SystemExit("there is no such command: name that of Chromium with --chromium")
    flags = ["--force-color-profile=srgb", "--disable-lcd-text", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        ledger, site = Path(folder, "ledger.sqlite3"), Path(folder, "site")
        fill(ledger, RUNS)
        write_dashboard(ledger, site, MADE)
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        for shot in shots(ledger):
            page = browser.new_page(viewport={"width": WIDTH, "height": shot.height}, color_scheme=shot.scheme)
            page.goto(f"{site.as_uri()}/index.html{shot.fragment}")
            page.wait_for_selector(shot.wait_for)
            with Image.open(BytesIO(page.screenshot())) as shown:
                told = shown.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=3)
            told.save(shot.file, optimize=True)
            print(f"{shot.file.relative_to(ROOT)} is drawn ({shot.file.stat().st_size // 1_000} kB)")
        browser.close()


if __name__ == "__main__":
    main()

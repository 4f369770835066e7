"""How a benchmark tells its figures: on the terminal and, with --write, in docs/benchmarks.md too."""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"

Row = tuple[str, str, str]
"""What was measured, its value, and how it stands to its bar."""


def command_line(description: str | None) -> argparse.ArgumentParser:
    """A parser with the option that all benchmarks share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/benchmarks.md, if it has them")
    return parser


def held(value: float, bar: float, unit: str) -> str:
    """Whether a bar holds, in words."""
    return f"bar {bar:g} {unit}: {'held' if value <= bar else 'MISSED'}"


def has_bar(row: Row) -> bool:
    """Whether a row stands to a bar."""
    return re.search(r"\bbars? \d", row[2]) is not None


def every_row(_: Row) -> bool:
    """Any row."""
    return True


def tell(
    benchmark: str, tables: Mapping[str, Sequence[Row]], *, write: bool, on_page: Callable[[Row], bool] = has_bar
) -> None:
    """Print each table under its title; with ``write``, put the rows ``on_page`` between its marks in the page."""
    for title, rows in tables.items():
        print(title)
        wide, value_wide = (max(len(row[column]) for row in rows) for column in (0, 1))
        for what, value, remark in rows:
            print(f"  {what:<{wide}}  {value:>{value_wide}}  {remark}".rstrip())
    if write:
        page = PAGE.read_text(encoding="utf-8")
        kept = {title: [row for row in rows if on_page(row)] for title, rows in tables.items()}
        figures = measured(page) + _markdown({title: rows for title, rows in kept.items() if rows})
        PAGE.write_text(with_figures(page, benchmark, figures), encoding="utf-8")


def with_figures(page: str, benchmark: str, figures: str) -> str:
    """The page with these figures between the benchmark's marks, as it is without them. Raises ``ValueError``."""
    name = re.escape(benchmark)
    marked = re.compile(rf"(<!-- figures:{name} -->\n).*?(<!-- /figures:{name} -->)", re.DOTALL)
    if len(marked.findall(page)) > 1:
        raise ValueError(f"the page has several marks for the figures of {benchmark}")
    return marked.sub(lambda found: f"{found[1]}{figures}{found[2]}", page)


def measured(page: str) -> str:
    """What stands above figures: the load, the cores, and the machine unless the page's first lines name this one."""
    machine = _machine()
    named = "" if machine in page.partition("\n## ")[0] else f", {machine}"
    return f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores{named}.\n\n"


def _machine() -> str:
    """What figures depend on, besides the load."""
    git = subprocess.run(["git", "version"], check=True, capture_output=True, text=True).stdout.split()[2]
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, git {git}"


def _markdown(tables: Mapping[str, Sequence[Row]]) -> str:
    blocks = []
    for title, rows in tables.items():
        lines = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in [(title, "figure", "remark"), *rows]]
        lines.insert(1, "--- | ---: | ---")
        blocks.append("\n".join(f"| {line} |" for line in lines) + "\n")
    return "\n".join(blocks)

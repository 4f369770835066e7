"""What the review of a dependency bump costs whose lock file changes in 10,000 lines.

As ``review_cost.py``, with its assumptions: the pinned CLI sends the real prompts to a stub of the Messages API. The
lock files are those of the attack tests, without an attack, as public registries make them.
Needs the CLI of ``make e2e``.
"""

from __future__ import annotations

import math
import os
import tempfile
from pathlib import Path

from _figures import Row, command_line, every_row, held, tell
from _runs import BOT, git
from _watched import watch
from review_cost import ASSUMPTIONS, CLI, ENDED, Counts, Models, billed, by_role
from tests.attacks.further_lock_files import FORMATS, PUBLIC
from tests.attacks.lock_files import bumped, changed, old, sha512
from tests.e2e.stub_api import stub_api

from review_advisor.change.lockfiles import hosts_in, names_a_source

LINES = 10_000
BAR_USD = 0.15
MANIFEST = "manifest.txt"
BUMPS, PACKAGES = 200, 2_000
READ_ALL = "package-lock.json"
"""The lock file that is reviewed a second time, by models."""
UNSEALED = "composer.lock"
"""The lock file that models read, because Packagist has no hash of an archive."""


def texts(path: str) -> tuple[str, str]:
    """The lock file at that path before and after a bump that changes so many lines of it."""
    form, sample = PUBLIC[path], 60
    of_sample = changed(path, form(old, sample), form(bumped, sample)).changed_lines
    packages = math.ceil(LINES * sample / of_sample)
    return form(old, packages), form(bumped, packages)


def false_doubts() -> float:
    """The share of ordinary bumps of 2,000 packages in which a hash looks like a source or a host by chance."""
    lines = ([f'"integrity": "{sha512(f"{bump} {each}")}"' for each in range(PACKAGES)] for bump in range(BUMPS))
    return sum(any(names_a_source(line) or hosts_in(line) for line in bump) for bump in lines) / BUMPS


def review(folder: Path, path: str, config: str = "") -> Counts:
    """The requests of one review of the bump."""
    before, after = texts(path)
    with stub_api() as api, tempfile.TemporaryDirectory(dir=folder) as home:
        place = Path(home, "change")
        place.mkdir()
        git(place, "init", "--quiet", "--initial-branch=main")
        (place / ".review-advisor.toml").write_text(config)
        (place / path).parent.mkdir(exist_ok=True)
        for text, line in ((before, "pkg-1 1.0.0\n"), (after, "pkg-1 1.1.0\n")):
            (place / path).write_text(text)
            (place / MANIFEST).write_text(line)
            git(place, "add", "--all")
            git(place, "commit", "--quiet", "--message=Bump the dependencies")
        models = Models((MANIFEST,), vetoes=0)
        api.script(models.reply)
        where = ("--base", "HEAD~1", "--repo", place, "--claude-bin", CLI, "--artifacts", Path(home, "l"))
        environment = {"PATH": os.environ["PATH"], "HOME": home, "ANTHROPIC_API_KEY": "none-needed"}
        run = watch([BOT, "review", *where], folder, environment | {"ANTHROPIC_BASE_URL": api.url})
        if run.code not in ENDED:
            raise SystemExit(f"the review did not run to its end ({run.code}): {run.complaint}")
        return Counts(tuple(billed(api.requests, models.written)), by_role(api.requests))


def main() -> None:
    """Review a bump of each format, and once more what models read of one of them."""
    chosen = command_line(__doc__).parse_args()
    if not CLI.is_file():
        raise SystemExit("needs the pinned CLI: run make e2e once")
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        usd = {path: review(Path(name), path).usd for path in FORMATS}
        read = review(Path(name), READ_ALL, "exclude = []\n").usd
    share = false_doubts()
    print(ASSUMPTIONS)
    each: list[Row] = [(path, f"{costs:.3f} USD", "") for path, costs in usd.items()]
    dearest = max(costs for path, costs in usd.items() if path != UNSEALED)
    rows: list[Row] = [
        (f"the dearest of {len(usd) - 1} lock files with hashes", f"{dearest:.2f} USD", held(dearest, BAR_USD, "USD")),
        (f"{UNSEALED}, without hashes", f"{usd[UNSEALED]:.2f} USD", "models read all of it"),
        (f"of {BUMPS} bumps of {PACKAGES:,} packages read for nothing", f"{share:.1%}", held(share, 0, "%")),
        (f"{READ_ALL}, exclude = []", f"{read:.2f} USD", "models read all of it"),
    ]
    tell(Path(__file__).stem, {"by format": each}, write=False)
    tell(Path(__file__).stem, {f"a bump of {LINES:,} changed lines": rows}, write=chosen.write, on_page=every_row)


if __name__ == "__main__":
    main()

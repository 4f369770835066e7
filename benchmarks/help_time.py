"""How long `review-advisor --help` takes, beside a bare interpreter."""

from __future__ import annotations

import argparse
import sys

from _runs import BOT, command, held, medians, report

BAR_SECONDS = 0.15


def main() -> None:
    """Print both medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    shown, bare = medians(runs, command(BOT, "--help"), command(sys.executable, "-c", "pass"))
    report(
        [
            ("review-advisor --help", f"{shown:.3f} s", held(shown, BAR_SECONDS, "s")),
            ("python -c pass", f"{bare:.3f} s", f"median of {runs}, taking turns"),
        ]
    )


if __name__ == "__main__":
    main()

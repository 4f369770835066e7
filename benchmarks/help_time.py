"""How long `review-advisor --help` takes, beside a bare interpreter."""

from __future__ import annotations

import sys
from pathlib import Path

from _figures import command_line, held, tell
from _runs import BOT, command, medians

BAR_SECONDS = 0.15


def main() -> None:
    """Tell both medians."""
    parser = command_line(__doc__)
    parser.add_argument("--runs", type=int, default=15)
    chosen = parser.parse_args()
    runs = chosen.runs
    shown, bare = medians(runs, command(BOT, "--help"), command(sys.executable, "-c", "pass"))
    rows = [
        ("review-advisor --help", f"{shown:.3f} s", held(shown, BAR_SECONDS, "s")),
        ("python -c pass", f"{bare:.3f} s", f"median of {runs}, taking turns"),
    ]
    tell(Path(__file__).stem, {"the start": rows}, write=chosen.write)


if __name__ == "__main__":
    main()

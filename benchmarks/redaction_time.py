"""How much processor time the search for secrets in a large diff takes, with ten secrets of our own and without."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from time import process_time

from _figures import command_line, held, tell
from _runs import medians

from review_advisor.change.redaction import Redactor, redactor

BAR_SECONDS = 2.0
LINE = "              {n} +    total = prices.get(item_{n}, 0) * quantity  # see docs/prices.md\n"


def token(number: int) -> str:
    """One made-up secret."""
    return base64.b64encode(hashlib.sha256(str(number).encode()).digest()).decode()


def main() -> None:
    """Tell the medians."""
    parser = command_line(__doc__)
    parser.add_argument("--megabytes", type=int, default=5)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    text = "".join(LINE.format(n=n) for n in range(options.megabytes * 1_000_000 // len(LINE)))
    own = redactor({f"SECRET_{number}": token(number) for number in range(10)})
    shapes, all_of_them, half = medians(
        options.runs,
        lambda: Redactor().redact(text),
        lambda: own.redact(text),
        lambda: own.redact(text[: len(text) // 2]),
        clock=process_time,
    )
    rows = [
        ("shapes only", f"{shapes:.3f} s", f"{options.megabytes} MB of diff, median of {options.runs}"),
        ("shapes and ten secrets", f"{all_of_them:.3f} s", held(all_of_them, BAR_SECONDS, "s")),
        ("the same, half the text", f"{half:.3f} s", f"{all_of_them / half:.1f} times less; 2.0 is linear"),
    ]
    tell(Path(__file__).stem, {"the search for secrets": rows}, write=options.write)


if __name__ == "__main__":
    main()

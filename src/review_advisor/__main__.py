"""The only place where exceptions become exit codes: 2 for a clear refusal, 130 and 143 for signals, 1 for a bug."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit."""
    from review_advisor.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()

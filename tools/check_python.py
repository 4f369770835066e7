"""Say in one sentence that this Python is too old; kept readable for the old ones, which must be able to run it."""

import sys

OLDEST = (3, 11)

if sys.version_info < OLDEST:
    sys.exit(
        "review-advisor needs Python %d.%d or newer, and `%s` is %d.%d. Name another one: make setup PYTHON=python3.12"  # noqa: UP031
        % (OLDEST + (sys.executable,) + sys.version_info[:2])  # noqa: RUF005
    )

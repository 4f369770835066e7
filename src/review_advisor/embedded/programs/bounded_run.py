"""One run of a checker within bounds of time and output."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Timer

TIMEOUT = 60.0
MOST_OUTPUT = 50_000_000
RunChecker = Callable[[Sequence[str]], tuple[int, bytes]]
"""One run of a checker by its arguments: its exit code and what it wrote."""


class CheckerError(Exception):
    """A checker that did not end in time, wrote too much or could not run. The message says which."""


def bounded_run(
    command: Sequence[str], folder: Path, *, timeout: float = TIMEOUT, most_output: int = MOST_OUTPUT
) -> tuple[int, bytes]:
    """Run ``command`` in ``folder`` without an environment. Returns its exit code and what it wrote.

    Raises ``CheckerError``.
    """
    name = Path(command[0]).name
    try:
        process = subprocess.Popen(
            command, cwd=folder, env={}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise CheckerError(f"{name} cannot be run: {error.strerror}") from error
    late: list[bool] = []

    def end() -> None:
        late.append(True)
        process.kill()

    timer = Timer(timeout, end)
    timer.start()
    try:
        with process:
            written = b"" if process.stdout is None else process.stdout.read(most_output + 1)
            if len(written) > most_output:
                process.kill()
    finally:
        timer.cancel()
    if late:
        raise CheckerError(f"{name} did not end within {timeout:.0f} seconds")
    if len(written) > most_output:
        raise CheckerError(f"{name} wrote more than {most_output:,} bytes")
    return process.returncode, written

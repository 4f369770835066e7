"""`python -I -m review_advisor.agents.static`: the embedded agent as a program."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType

from review_advisor.agents.static.agent import VERSION_LINE, CliSession, Options, UsageError, parse
from review_advisor.safety.memory import collect_rarely

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would look through every installed distribution


_MAX_STDIN = 10_000_000


_ENDED_BY_TERM = 143


def main(words: list[str]) -> int:
    """Run one ``claude -p`` call. Exit 0 with an answer, 1 without; 143 after SIGTERM, 0 after SIGINT, as the CLI."""
    collect_rarely()
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits that it is ignored
    try:
        options = parse(words)
        if options is None:
            sys.stdout.write(VERSION_LINE + "\n")
            return 0
        return _run(options, _prompt())
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _run(options: Options, prompt: str) -> int:
    session = CliSession(options, prompt, Path.cwd(), sys.stdout)
    try:
        if options.script is not None:
            from review_advisor.agents.static.script import Script, play  # noqa: PLC0415 - each mode loads its own half

            return play(session, Script(options.script))
        from review_advisor.agents.static.roles import answer  # noqa: PLC0415

        return answer(session, prompt)
    except KeyboardInterrupt:
        session.result(subtype="error_during_execution", is_error=True, terminal_reason="aborted_streaming")
        return 0


def _prompt() -> str:
    given = sys.stdin.buffer.read(_MAX_STDIN + 1)
    if len(given) > _MAX_STDIN:
        raise UsageError("Error: piped stdin input exceeds 10MB")
    if not given.strip():
        raise UsageError(
            "Error: Input must be provided either through stdin or as a prompt argument when using --print"
        )
    return _said(given.split(b"\n", 1)[0])


def _said(line: bytes) -> str:
    """The text of the one user message that this product sends."""
    try:
        content = json.loads(line)["message"]["content"]
        return "".join(str(block["text"]) for block in content)
    except (ValueError, LookupError, TypeError) as error:
        raise UsageError("Error: the line of input is no user message of text blocks") from error


def _end(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(_ENDED_BY_TERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

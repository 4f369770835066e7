"""Run the bot on this checkout with the embedded agent; its exit code is ours. Without a base: say so, and pass."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from comparison_base import NoBaseError, comparison_base

ESCALATED = 11


def main() -> int:
    """Review base..HEAD as a gate."""
    try:
        base = comparison_base(Path.cwd(), os.environ)
    except NoBaseError as why:
        print(f"own review: skipped, {why}")
        return 0
    print(f"own review: {base[:12]}..HEAD", flush=True)
    bot = Path(sys.executable).with_name("review-advisor")
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "outcome.json"
        words = ("--base", base, "--agent", "embedded", "--allow-unchecked", "--gate", "--output", str(output))
        code = subprocess.run([str(bot), "review", *words], check=False).returncode
        return passed(code, output)


def passed(code: int, output: Path) -> int:
    """The exit code for ``make``: who runs it decides about a change of the bot itself, and a serious fault fails."""
    if code != ESCALATED:
        return code
    outcome = json.loads(output.read_text(encoding="utf-8"))
    serious = [each for each in outcome["findings"] if each["severity"] in ("critical", "high")]
    guarded = bool(outcome["policy"]["guard"]["paths"])
    if serious or not guarded or any(file["read"] in ("not", "partly") for file in outcome["coverage"]):
        return code
    print("own review: passed; you decide about a change of the bot itself")
    return 0


if __name__ == "__main__":
    sys.exit(main())

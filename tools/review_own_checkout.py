"""Run the bot on this checkout with the embedded agent; its exit code is ours. Without a base: say so, and pass."""

import os
import subprocess
import sys
from pathlib import Path

from comparison_base import NoBaseError, comparison_base


def main() -> int:
    """Review base..HEAD as a gate."""
    try:
        base = comparison_base(Path.cwd(), os.environ)
    except NoBaseError as why:
        print(f"own review: skipped, {why}")
        return 0
    print(f"own review: {base[:12]}..HEAD", flush=True)
    bot = Path(sys.executable).with_name("review-advisor")
    return subprocess.run([str(bot), "review", "--base", base, "--agent", "embedded", "--gate"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

"""Say how many tests `make test-all` left to `make e2e`: collected, not run, so the real CLI is not needed."""

import subprocess
import sys
from pathlib import Path

END_TO_END = Path("tests/e2e")


def count(printed: str) -> int:
    """The number of test ids in what ``pytest --collect-only -q`` printed."""
    return sum(line.startswith(f"{END_TO_END}/") and "::" in line for line in printed.splitlines())


def main() -> int:
    """Print the closing line of `make test-all`."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", str(END_TO_END)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    left = count(done.stdout)
    if not left:
        print(f"{done.stdout}{done.stderr}\nNo end-to-end test could be collected from {END_TO_END}.")
        return 1
    print(f"Left to `make e2e`: {left} end-to-end tests, which run the real CLI against a loopback API.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

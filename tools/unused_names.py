"""Name the functions, classes, properties and imports of the product that nothing in the product uses.

Vulture cannot tell a pydantic or dataclass field from a forgotten variable, so "unused variable" is left out here;
ruff finds the real ones (F841, ARG).
"""

import subprocess
import sys
from pathlib import Path

FOUND_SOMETHING = 3
FIELDS = "unused variable"
VOCABULARY = "src/review_advisor/mockworld/"  # words for stories: each test uses the ones it needs


def main() -> int:
    """Print what is left over; 1 if anything is."""
    vulture = Path(sys.executable).with_name("vulture")
    done = subprocess.run([str(vulture)], capture_output=True, text=True, check=False)
    if done.returncode not in {0, FOUND_SOMETHING}:
        print(f"{done.stdout}{done.stderr}vulture failed ({done.returncode})")
        return 1
    left_over = [line for line in done.stdout.splitlines() if FIELDS not in line and not line.startswith(VOCABULARY)]
    print(*left_over, sep="\n", end="\n" if left_over else "")
    return 1 if left_over else 0


if __name__ == "__main__":
    sys.exit(main())

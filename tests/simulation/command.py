"""The verb as its users meet it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
STORIES = sorted((ROOT / "stories").glob("*.yaml"))


def simulate(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("review-advisor")), "simulate", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

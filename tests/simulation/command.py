"""The verb as its users meet it."""

import os
import tempfile
from pathlib import Path

from tests.adapters.command_line import Done, in_this_process

ROOT = Path(__file__).parents[2]
STORIES = sorted((ROOT / "stories").glob("*.yaml"))


def simulate(*words: str | Path) -> Done:
    environ = {"PATH": os.environ["PATH"], "TMPDIR": tempfile.gettempdir(), "LC_ALL": "C.UTF-8"}
    return in_this_process(("simulate", *words), environ, ROOT)

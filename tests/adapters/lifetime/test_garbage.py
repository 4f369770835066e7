"""A start does not look for garbage again and again: nearly all that it makes is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

COUNTED = """
import gc, runpy, sys

looks = 0

def seen(phase, _):
    global looks
    looks += phase == "stop"

gc.callbacks.append(seen)
sys.argv = sys.argv[1:]
try:
    runpy.run_module("review_advisor", run_name="__main__", alter_sys=True)
finally:
    print("looks:", looks, file=sys.stderr)
"""


def test_a_start_looks_for_garbage_a_few_times(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    words = ["review-advisor", "config", "show"]
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "budget" in done.stdout, done.stderr
    assert int(done.stderr.rpartition("looks:")[2]) <= 40

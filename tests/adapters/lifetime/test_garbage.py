"""A process does not look for garbage again and again, because nearly all that it makes is kept, nor for plugins."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COUNTED = """
import gc, importlib.metadata, runpy, sys

looks, plugins = 0, []
importlib.metadata.entry_points = lambda **group: plugins.append(group) or ()

def seen(phase, _):
    global looks
    looks += phase == "stop"

gc.callbacks.append(seen)
sys.argv = sys.argv[1:]
try:
    runpy.run_module("review_advisor", run_name="__main__", alter_sys=True)
finally:
    print("looks:", looks, "plugins:", plugins, file=sys.stderr)
"""


@pytest.mark.every_case
def test_a_start_looks_for_garbage_a_few_times_and_for_no_plugin(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    words = ["review-advisor", "config", "show"]
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "budget" in done.stdout, done.stderr
    looks, _, plugins = done.stderr.rpartition("looks:")[2].partition(" plugins:")
    assert int(looks) <= 40
    assert plugins.strip() == "[]", "of every installed distribution"


LEFT = """
import gc, runpy, sys

class Left:
    def __del__(self):
        print("was looked for", file=sys.stderr)

gc.disable()
one, other = Left(), Left()
one.other, other.one = other, one
del one, other
sys.argv = ["review-advisor", "--version"]
runpy.run_module("review_advisor", run_name="__main__", alter_sys=True)
"""


def test_at_its_end_a_process_looks_for_no_garbage() -> None:
    done = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("review-advisor")
    assert done.stderr == ""

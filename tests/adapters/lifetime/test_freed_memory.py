"""The text of a large change that is freed goes back to the system, whichever thread held it."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

HELD = """
import sys, threading

from review_advisor.safety.memory import give_back_freed_memory

def kilobytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))

def hold():
    for _ in range(200):
        texts.append("x" * 100_000)
        pins.append("x" * 1_000)

if sys.argv[1] == "yes":
    give_back_freed_memory()
texts, pins = [], []
threads = [threading.Thread(target=hold) for _ in range(2)]
for thread in threads:
    thread.start()
    thread.join()
held = kilobytes()
texts.clear()
print(held - kilobytes())
"""


def given_back(told: str) -> int:
    done = subprocess.run([sys.executable, "-c", HELD, told], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not platform.libc_ver()[0].startswith("glibc"), reason="another C library")
def test_text_that_is_freed_goes_back_to_the_system() -> None:
    assert given_back("no") < 30_000, "of 40 MB: the rest is holes in the heap"
    assert given_back("yes") > 35_000

"""A git on the path that writes down each time that it is started, and is git otherwise."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.adapters.command_line import executable


def counting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put it first on the path; the file with one line for each process that was started."""
    git, started = shutil.which("git"), folder / "started"
    executable(folder / "git", f'#!/bin/sh\nprintf "%s\\n" "$*" >> {started}\nexec {git} "$@"\n')
    monkeypatch.setenv("PATH", os.pathsep.join((str(folder), os.environ["PATH"])))
    return started

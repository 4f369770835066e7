"""A dashboard that was written, read as its pages read it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class WrittenDashboard:
    """What the files of a dashboard hand to its pages."""

    folder: Path

    def data(self, name: str) -> Any:
        """What one file of data hands over."""
        text = (self.folder / "data" / f"{name}.js").read_text(encoding="ascii")
        found = re.fullmatch(r'dashboard\.receive\("([a-z0-9/]+)",(.*)\);\n', text)
        assert found is not None, text[:200]
        assert found[1] == name
        return json.loads(found[2])

    @property
    def overview(self) -> Any:
        return self.data("overview")

    @property
    def columns(self) -> Any:
        """The list's first chunk."""
        return self.data(f"lists/{self.overview['lists'][0]}")["columns"]

    def file(self, run_id: str) -> str:
        """What the file of a run is called."""
        overview = self.overview
        chunks = [self.data(f"lists/{each}") for each in overview["lists"]]
        for chunk in [*chunks, *([overview["apart"]] if overview["apart"] else [])]:
            if run_id in chunk["columns"]["run_id"]:
                return f"runs/{chunk['columns']['file'][chunk['columns']['run_id'].index(run_id)]}"
        raise AssertionError(f"{run_id} is in no list")

    def page(self, run_id: str) -> Any:
        return self.data(self.file(run_id))


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path from there."""
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}

"""Where the advisors for the change of a source are declared."""

from __future__ import annotations

from review_advisor.adapters.git.patch_source import PatchSource
from review_advisor.adapters.git.source import GitSource
from review_advisor.app.roster.declared_files import Declares, HeadFiles
from review_advisor.core.roster.wanted import wanted_by


def declares_of(source: GitSource | PatchSource) -> Declares:
    """The base's files, and of a pull request the head's and its labels, too."""
    if isinstance(source, PatchSource) or source.change().pull_request is None:
        return Declares(source.base_declared)
    paths = tuple(path for file in source.change().files for path in file.paths)
    return Declares(
        source.base_declared, HeadFiles(source.head_declared, source.head_config), paths, wanted_by(source.labels)
    )

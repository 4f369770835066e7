"""Where the advisors for the change of a source are declared, and the prices for what has no change."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from review_advisor.adapters.git.open import open_head
from review_advisor.adapters.git.patch_source import PatchSource
from review_advisor.adapters.git.source import GitSource
from review_advisor.adapters.price_file import read_prices
from review_advisor.app.roster.believed import prices_in
from review_advisor.app.roster.declared_files import Declares, HeadFiles
from review_advisor.app.settings import ConfigError
from review_advisor.core.metrics.prices import Price
from review_advisor.core.roster.wanted import wanted_by


def declares_of(source: GitSource | PatchSource) -> Declares:
    """The base's files, and of a pull request the head's and its labels, too."""
    if isinstance(source, PatchSource) or not source.is_pull_request:
        return Declares(source.base_declared)
    paths = tuple(path for file in source.change().files for path in file.paths)
    return Declares(
        source.base_declared, HeadFiles(source.head_declared, source.head_config), paths, wanted_by(source.labels)
    )


def prices_at_head(repo: Path) -> tuple[Price, ...]:
    """The shipped prices and, in a repository, those of its HEAD. Raises ``ConfigError``."""
    shipped, head = read_prices(), open_head(repo)
    if head is None:
        return shipped
    with closing(head.store) as store:
        try:
            return prices_in(store.declared(head.tree)).beside(shipped)
        except ConfigError as problem:
            raise ConfigError(f"{problem} This is the file at HEAD, {head.commit[:12]}: mend it there.") from None

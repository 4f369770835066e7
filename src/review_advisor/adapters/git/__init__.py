"""Changes read from git: ranges, the index and patches, all by plumbing and none by searching text."""

from __future__ import annotations

from review_advisor.adapters.git.open import base_file, open_base, open_patch, open_range, open_staged
from review_advisor.adapters.git.patch_source import PatchSource
from review_advisor.adapters.git.source import GitSource

__all__ = ["GitSource", "PatchSource", "base_file", "open_base", "open_patch", "open_range", "open_staged"]

"""What a reviewer would look up in a tree: texts of some files, and where names stand; no further than bounds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from review_advisor.adapters.git.object_store import name_in_tree
from review_advisor.adapters.git.run import Git
from review_advisor.adapters.git.tree_entries import listed_entries
from review_advisor.core.facts.patches.around import LARGEST_FILE, MOST_BYTES, UseCollector
from review_advisor.core.facts.patches.patch_files import shown_name
from review_advisor.ports.review import SourceError

_GREP = ("grep", "-F", "-w", "-n", "-z", "-I", "--full-name", "--no-color", "--no-textconv", "--no-recurse-submodules")
_SECONDS = 5.0
"""So long git may look: whoever needs more has tools to look for it."""
_PATHS_AT_ONCE = 200
_MATCH = re.compile(rb"([^\0]*+)\0(\d++)\0([^\n]*+)\n")
"""git writes ``TREE:path NUL number NUL text LF``; a path may hold a line feed."""
_FOUND, _NONE = 0, 1


def collect_uses(git: Git, tree: str, collector: UseCollector) -> bool:
    """Give ``collector`` the lines of ``tree`` in which its names stand; False if they may not be all.

    The names are fixed texts, each behind its own ``-e``: none of them is a pattern or an option. Symbolic links,
    submodules and binary files are passed over, and the attributes of the tree say nothing here.
    """
    named = [word for name in collector.names for word in ("-e", name)]
    try:
        output, code = git.beginning(*_GREP, *named, tree, "--", most=MOST_BYTES, seconds=_SECONDS)
    except SourceError:
        return False
    at = 0
    while found := _MATCH.match(output, at):  # one that was cut off at the end is none
        collector.add(shown_name(found[1][len(tree) + 1 :]), int(found[2]), found[3].decode("utf-8", "replace"))
        at = found.end()
    return code in (_FOUND, _NONE) and len(output) <= MOST_BYTES


def small_texts(git: Git, tree: str, paths: Iterable[str]) -> dict[str, str]:
    """The texts of regular files of ``tree``, by their paths. What is no text, too large, or not there is left out."""
    try:
        names = list(_within_bounds(_listed(git, tree, [path for path in paths if name_in_tree(path)])))
        asked = "".join(f"{name}\n" for _, name in names).encode("ascii")
        output = git.run("cat-file", "--batch", stdin=asked) if names else b""
    except SourceError:  # a damaged or partial clone: without them a review has to look for itself
        return {}
    return dict(_texts(output, [path for path, _ in names]))


def _listed(git: Git, tree: str, paths: list[str]) -> Iterator[tuple[str, str, int]]:
    """Path, name and size of each regular file among ``paths``, in their order."""
    for begin in range(0, len(paths), _PATHS_AT_ONCE):
        wanted = paths[begin : begin + _PATHS_AT_ONCE]
        files = (each for each in listed_entries(git, tree, "-l", paths=wanted) if each.is_file and not each.is_missing)
        found = {shown_name(each.path): (each.name, each.size) for each in files}
        yield from ((path, *found[path]) for path in wanted if path in found)


def _within_bounds(files: Iterable[tuple[str, str, int]]) -> Iterator[tuple[str, str]]:
    left = MOST_BYTES
    for path, name, size in files:
        if size <= min(LARGEST_FILE, left):
            left -= size
            yield path, name


def _texts(output: bytes, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each answer of ``cat-file --batch``: a line that ends with the size, the bytes, and a line end."""
    at = 0
    for path in paths:
        begins = output.index(b"\n", at) + 1
        *_, size = output[at:begins].split()
        if not size.isdigit():  # missing: ls-tree could tell its size from a pack's index alone
            at = begins
            continue
        raw = output[begins : begins + int(size)]
        at = begins + int(size) + 1
        if b"\0" not in raw:
            yield path, raw.decode("utf-8", "replace")

"""Print the commit that this checkout is reviewed against, or say on stderr why there is none and exit 3.

The order: QUALITY_BASE if set; the fork point from origin's main, unless that is HEAD itself; the commit before HEAD.
A shallow clone shows no fork point for certain, and not how many commits the change has, so there it is none.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

NOTHING_TO_COMPARE = 3
DEEPEN = "git fetch --unshallow origin '+refs/heads/*:refs/remotes/origin/*'"


class NoBaseError(Exception):
    """There is nothing to compare with; the message says why."""


def git(checkout: Path, *arguments: str) -> str | None:
    """What git printed, or None if it refused."""
    done = subprocess.run(["git", "-C", str(checkout), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def comparison_base(checkout: Path, environment: Mapping[str, str]) -> str:
    """The base commit's id."""
    head = git(checkout, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if head is None:
        raise NoBaseError("nothing to compare: this checkout has no commit yet")
    if wanted := environment.get("QUALITY_BASE"):
        look_up = ("rev-parse", "--verify", "--end-of-options", f"{wanted}^{{commit}}")
        command = ["git", "-C", str(checkout), "-c", "core.warnAmbiguousRefs=true", *look_up]
        in_english = {**os.environ, "LC_ALL": "C"}
        done = subprocess.run(command, env=in_english, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"QUALITY_BASE={wanted} is not a commit of this checkout")
        if "is ambiguous" in done.stderr.replace("'HEAD' is ambiguous", ""):
            raise SystemExit(f"QUALITY_BASE={wanted} names more than one thing: give the full name")
        return done.stdout.strip()
    if git(checkout, "rev-parse", "--is-shallow-repository") == "true":
        raise NoBaseError(f"nothing to compare: this clone is shallow; `{DEEPEN}` helps")
    fork_point = git(checkout, "merge-base", "refs/remotes/origin/main", "HEAD")
    if fork_point and fork_point != head:
        return fork_point
    if before := git(checkout, "rev-parse", "--verify", "--quiet", "HEAD~1^{commit}"):
        return before
    raise NoBaseError("nothing to compare: this checkout has one commit only")


if __name__ == "__main__":
    try:
        sys.stdout.write(comparison_base(Path.cwd(), os.environ) + "\n")
    except NoBaseError as why:
        sys.stderr.write(f"{why}\n")
        sys.exit(NOTHING_TO_COMPARE)

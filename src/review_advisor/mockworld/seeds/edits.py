"""Random edits of an executor that may repair: mostly what it may do, now and then everything that it may not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from review_advisor.mockworld.editable_copies import EditVerb
from review_advisor.mockworld.promises.on_prompts import CANARY
from review_advisor.mockworld.seeds.changes import CRITICAL, OWN, OWN_HERE
from review_advisor.mockworld.seeds.dice import Dice
from review_advisor.mockworld.stories.story_change import FileBlock
from review_advisor.mockworld.stories.story_lines import EditBlock

TELLING = (*OWN, *OWN_HERE, ".gitattributes", f"{CANARY}{{n}}/.gitignore", "AGENTS.md", ".github/CODEOWNERS")
MENDED = CANARY + " mended {n}"
HIDING = CANARY + " \u202e mended"
SECRET = CANARY + " = 'ghp_" + "a1B2" * 9 + "'"
TESTS = tuple(f"{folder}/test_{CANARY}{n}_new.py" for folder in ("tests", "tests/auth") for n in (1, 2))
MODES: tuple[EditVerb, ...] = ("deletes", "links", "nests", "runs", "blobs")


def some_edits(dice: Dice, files: Sequence[FileBlock], attempt: int) -> tuple[EditBlock, ...]:
    """The edits of one attempt. ``files`` are the change's own. A later attempt often takes everything back."""
    if attempt > 1 and dice.chance(0.4):
        return taken_back(files)
    count = dice.weighted(((1, 80), (2, 15), (3, 5)))
    return tuple(dice.weighted(KINDS)(dice, files) for _ in range(count))


def taken_back(files: Sequence[FileBlock]) -> tuple[EditBlock, ...]:
    """Every edit that may have been made before, undone."""
    return tuple(EditBlock(path=path, does="undoes") for path in (*(file.path for file in files), *TESTS))


def repaired(dice: Dice, files: Sequence[FileBlock]) -> tuple[EditBlock, ...]:
    """An edit that is allowed."""
    return (dice.pick((_mended, _test))(dice, files),)


def _mended(dice: Dice, files: Sequence[FileBlock]) -> EditBlock:
    if not files:
        return _test(dice, files)
    removed = dice.whole(1, 3) if dice.chance(0.3) else 0
    return EditBlock(path=dice.pick(files).path, added=dice.whole(1, 4), removed=removed, text=MENDED)


def _test(dice: Dice, files: Sequence[FileBlock]) -> EditBlock:
    del files
    return EditBlock(path=dice.pick(TESTS), does="creates", added=dice.whole(1, 5), text=MENDED)


def _telling(dice: Dice, files: Sequence[FileBlock]) -> EditBlock:
    del files
    does: EditVerb = dice.pick(("writes", "creates"))
    return EditBlock(path=dice.pick(TELLING).format(n=1), does=does, text=MENDED)


def _elsewhere(dice: Dice, files: Sequence[FileBlock]) -> EditBlock:
    del files
    does: EditVerb = dice.pick(("writes", "creates"))
    return EditBlock(path=dice.pick((*CRITICAL, f"src/{CANARY}{{n}}.py")).format(n=99), does=does, text=MENDED)


def _no_text(dice: Dice, files: Sequence[FileBlock]) -> EditBlock:
    path = dice.pick(files).path if files and dice.chance(0.5) else f"tests/test_{CANARY}.py"
    return EditBlock(path=path, does=dice.pick(MODES))


def _too_much(dice: Dice, files: Sequence[FileBlock]) -> EditBlock:
    path = dice.pick(files).path if files else f"tests/test_{CANARY}.py"
    return EditBlock(path=path, added=dice.whole(401, 410), text=MENDED)


def _unseemly(dice: Dice, files: Sequence[FileBlock]) -> EditBlock:
    path = dice.pick(files).path if files else f"tests/test_{CANARY}.py"
    return EditBlock(path=path, text=dice.pick((HIDING, SECRET)))


KINDS: tuple[tuple[Callable[[Dice, Sequence[FileBlock]], EditBlock], float], ...] = (
    (_mended, 60),
    (_test, 10),
    (_telling, 7),
    (_elsewhere, 4),
    (_no_text, 7),
    (_too_much, 2),
    (_unseemly, 3),
)

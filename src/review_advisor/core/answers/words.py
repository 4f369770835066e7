"""How single words of an answer are read: in any case, with any marks around and invisible characters in them.

The values come from a model, and nothing in them has to fit a schema.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from review_advisor.core.policy.switches import NO

CLEAR_NOES = frozenset({*NO, "none", "null", "not", "never", "unset"})
_STOP_NAMES = ("stopsignal", "stop")


def bare(text: str) -> str:
    """The letters and digits of a text in lower case: ``**Stop-Signal**`` and ``stop_signal`` are one word."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def every_object(said: object) -> Iterator[Mapping[str, Any]]:
    """Every object in it, the outermost first."""
    return (each for each in _everything(said) if isinstance(each, Mapping))


def every_word(said: object) -> Iterator[str]:
    """Every text in it, bare."""
    return (bare(each) for each in _everything(said) if isinstance(each, str))


def values_under(names: Collection[str], said: object) -> Iterator[object]:
    """The value of every key in it that is one of these bare names."""
    return (value for each in every_object(said) for name, value in each.items() if bare(str(name)) in names)


def sets_stop(said: object) -> bool:
    """Whether a stop signal stands anywhere in it that is not a clear no: in doubt, a person looks."""
    return any(not _is_clear_no(value) for value in values_under(_STOP_NAMES, said))


def _is_clear_no(value: object) -> bool:
    return value in (None, False, "") or (isinstance(value, str) and bare(value) in CLEAR_NOES)


def worst_named(severities: Sequence[str], said: object) -> str:
    """The worst of the severities (the worst come first) that is named; where none is, it may be the worst of all."""
    named = set(every_word(said))
    return next((each for each in severities if each in named), severities[0])


def _everything(said: object) -> Iterator[object]:
    waiting: deque[object] = deque([said])
    while waiting:
        each = waiting.popleft()
        yield each
        if isinstance(each, Mapping):
            waiting.extend(each.values())
        elif isinstance(each, list | tuple):
            waiting.extend(each)

"""One roster from its layers: presets, declarations, and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import ADVISORS, DECLARED, LENS_MAP, OPTIONAL, PRICES, stands_for_prices
from review_advisor.policy.declarations import ID, Declared, DeclaredFile, read_declarations
from review_advisor.policy.lenses import NO_MAP, LensMap, mapped_paths, read_lens_map
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, PresetName, Roster
from review_advisor.safety.stated_values import nearest_of

_SECURITY = (
    Advisor(
        id="securityArchitect",
        persona=(
            "You are a security architect. Follow untrusted input to where it does harm: who may call this, what is"
            " checked before it acts, which secret or permission becomes reachable. A weakness counts if you can name"
            " who exploits it and how."
        ),
        on="finish",
        scopes=("trust boundaries", "authentication and authorization", "secrets"),
        veto=True,
    ),
    Advisor(
        id="abuseAnalyst",
        persona=(
            "You look at a change as somebody who wants to misuse it: automation, repeated and concurrent requests,"
            " quotas, money, and data of other people."
        ),
        scopes=("limits", "concurrency", "data of other users"),
    ),
)


_RELEASE = (
    Advisor(
        id="releaseManager",
        persona=(
            "You decide whether a change can ship today: compatibility with what is deployed, the order of the"
            " deployment, feature flags, how it is noticed that it fails, and how it is taken back."
        ),
        on="finish",
        scopes=("compatibility", "deployment", "rollback"),
        veto=True,
    ),
    Advisor(
        id="dataSteward",
        persona=(
            "You look after the data: whether a migration loses or locks any, whether it can run twice, how long it"
            " takes on a large table, and whether old and new code both work while it runs."
        ),
        on="finish",
        scopes=("migrations", "schemas"),
        temperament="dissenting",
    ),
    Advisor(
        id="testCritic",
        persona="You ask of each behaviour that a change adds or alters which test would fail without it.",
        scopes=("tests",),
    ),
)


PRESETS: Mapping[PresetName, tuple[Advisor, ...]] = {"default": (), "security": _SECURITY, "release": _RELEASE}
"""What each preset adds to the ADR's advisor, whom every roster has."""


def shipped_advisors() -> tuple[Advisor, ...]:
    """Everybody who ships, whatever preset a repository chooses."""
    return tuple(each for advisors in PRESETS.values() for each in advisors)


MOST_ADVISORS = 20


_OF_THE_ADR = frozenset({"weight", "scopes"})
"""What may be declared of the ADR's advisor. Its words and its model have their own places, its veto is the product."""


def made_roster(
    preset: PresetName,
    files: Sequence[DeclaredFile],
    optional: Sequence[DeclaredFile] = (),
    wanted: Iterable[str] = (),
    lens_map: LensMap = NO_MAP,
) -> tuple[Roster, tuple[str, ...]]:
    """The roster, and every mistake of its declarations as a sentence; without any, the roster is whole.

    ``files`` patch the presets field by field, in their order, the later over the earlier. ``optional`` advisors are
    members only if their id, in any case, is among those that a label has ``wanted``; they are checked all the same. A
    label that names nobody is no mistake of the repository's: it is one of the roster's blind spots. ``lens_map`` adds
    offered advisors to the change of some paths, see ``roster_for``.
    """
    chosen = dict.fromkeys((preset, *(name for file in files for name in file.presets)))
    shipped = {each.id: each for each in shipped_advisors()}
    members = {ADR_ADVISOR.id: ADR_ADVISOR} | {each.id: each for name in chosen for each in PRESETS[name]}
    problems = [problem for file in (*files, *optional) for problem in file.problems]
    problems += _patch(members, [each for file in files for each in file.advisors], ())
    extra = [each for file in optional for each in file.advisors]
    problems += [
        f"{each.source}: {each.said.id!r} is a member already; a label cannot change it."
        for each in extra
        if each.said.id in members
    ]
    named = dict.fromkeys(each.said.id for each in extra if each.said.id not in members)
    offered = {id_: shipped[id_] for id_ in named if id_ in shipped}
    problems += _patch(offered, [each for each in extra if each.said.id in named], members)
    mapped, unknown = mapped_paths(lens_map.rules, members, offered)
    problems += [*lens_map.problems, *unknown]
    joining = {each.id for rule in mapped for each in rule.advisors}
    room = MOST_ADVISORS - len(members) - len(joining)
    if room < 0:
        problems.append(f"A roster has at most {MOST_ADVISORS} advisors; {MOST_ADVISORS - room} are declared.")
    added, blind = _by_labels(wanted, members, offered, max(0, room))
    return Roster((*members.values(), *added), blind, mapped), tuple(problems)


def twice_declared(files: Sequence[DeclaredFile]) -> tuple[str, ...]:
    """A remark on each id that several declarations of one layer have, with their files: it is one advisor."""
    places: dict[str, list[str]] = {}
    for each in (each for file in files for each in file.advisors):
        places.setdefault(each.said.id, []).append(each.source)
    return tuple(
        f"The advisor {id_!r} is declared {len(found)} times, in {', '.join(dict.fromkeys(found))}: it is one advisor,"
        " and a later declaration changes it field by field."
        for id_, found in places.items()
        if len(found) > 1
    )


def _by_labels(
    wanted: Iterable[str], members: Iterable[str], offered: Mapping[str, Advisor], room: int
) -> tuple[tuple[Advisor, ...], tuple[str, ...]]:
    """The offered advisors that labels add, at most ``room``, and a blind spot for each label that adds nobody."""
    by_small = {id_.casefold(): id_ for id_ in (*members, *offered)}
    asked = {each: by_small.get(each.casefold()) for each in dict.fromkeys(wanted)}
    found = list(dict.fromkeys(id_ for id_ in asked.values() if id_ is not None and id_ in offered))
    blind = [_names_nobody(each, offered) for each, id_ in asked.items() if id_ is None]
    blind += [f"a label asks for {id_!r}, and a roster has at most {MOST_ADVISORS} advisors" for id_ in found[room:]]
    return tuple(replace(offered[id_], by_label=True) for id_ in found[:room]), tuple(blind)


def _names_nobody(word: str, offered: Iterable[str]) -> str:
    if re.fullmatch(ID, word) is None:
        return "a label asks for an advisor by a text that is no id"
    return f"a label asks for {word!r}, and no optional advisor has this id; {nearest_of(word, offered)}"


def _patch(members: dict[str, Advisor], declared: Sequence[Declared], others: Iterable[str]) -> list[str]:
    """Lay declarations over ``members``, and say what is wrong with some. ``others`` are further ids that are taken."""
    problems: list[str] = []
    for each in declared:
        patched = _only_advising(_patched(members.get(each.said.id), each, (*members, *others)))
        if isinstance(patched, str):
            problems.append(f"{each.source}: {patched}")
        else:
            members[patched.id] = patched
    return problems


def _only_advising(made: Advisor | str) -> Advisor | str:
    """The same advisor; what is wrong with an inline one that claims more than to advise."""
    if not isinstance(made, Advisor) or not made.inline:
        return made
    if made.veto:
        return f"{made.id!r} cannot have a veto: an inline advisor only advises."
    if made.model:
        return f"{made.id!r} cannot have a model: inline advisors share one call."
    if made.instanced:
        return f"{made.id!r} cannot be instanced: inline advisors are not shown the executor's findings."
    return made if made.on == "finish" else f"{made.id!r} needs `on: finish`: an inline advisor speaks in post-verify."


def _patched(known: Advisor | None, declared: Declared, taken: Sequence[str]) -> Advisor | str:
    """The advisor after one more declaration, or what is wrong with that."""
    said = declared.said
    told = said.told
    if known is None:
        twin = next((id_ for id_ in taken if id_.casefold() == said.id.casefold()), None)
        if twin is not None:
            return f"the id {said.id!r} differs from {twin!r} in its letters' case alone."
        if "persona" not in told:
            hint = nearest_of(said.id, taken)
            return f"no advisor has the id {said.id!r}, and a new one needs a persona; {hint}"
        return Advisor(id=said.id, source=declared.source, **told)
    if known.id == ADR_ADVISOR.id:
        fixed = sorted(key for key, value in told.items() if key not in _OF_THE_ADR and value != getattr(known, key))
        if fixed:
            return f"{fixed[0]!r} of {known.id!r} cannot be declared: no roster is without it and its veto."
        if told.get("weight") == 0:
            return f"the weight of {known.id!r} cannot be 0: no roster is without its voice."
    if known.on is not None and told.get("on", known.on) != known.on:
        return f"`on` of {said.id!r} is {known.on!r} already and cannot become {said.on!r}."
    source = ", ".join(filter(None, dict.fromkeys((known.source, declared.source))))
    return replace(known, source=source, **told)


_README = "readme.md"


def declared_roster(
    preset: PresetName, texts: Mapping[str, BaseText], wanted: Iterable[str] = ()
) -> tuple[Roster, tuple[str, ...]]:
    """The roster of these files, by their paths, and every mistake in them as a sentence.

    ``wanted`` are the ids that labels ask for: see ``made_roster``.
    """
    files: dict[str, list[DeclaredFile]] = {ADVISORS: [], OPTIONAL: []}
    problems: list[str] = []
    lens_map = NO_MAP
    for path, text in sorted(texts.items()):
        if path == PRICES or _says_nothing(path):
            continue
        told = _misplaced(path) or text.problem
        if told:
            problems.append(f"{path}: {told}.")
        elif path == LENS_MAP:
            lens_map = read_lens_map(text.text)
        else:
            files[str(PurePosixPath(path).parent)].append(read_declarations(path, text.text))
    roster, mistakes = made_roster(preset, files[ADVISORS], files[OPTIONAL], wanted, lens_map)
    return roster, (*problems, *mistakes)


def declared_again(texts: Mapping[str, BaseText]) -> tuple[str, ...]:
    """A remark on each advisor that several of these files declare, or one of them several times."""
    files = (
        read_declarations(path, text.text)
        for path, text in sorted(texts.items())
        if str(PurePosixPath(path).parent) == ADVISORS and not (_says_nothing(path) or text.problem or _misplaced(path))
    )
    return twice_declared(tuple(files))


def _says_nothing(path: str) -> bool:
    """Whether a file in a folder is there for people or for tools alone."""
    name = PurePosixPath(path).name
    return "/" in path and (name.startswith(".") or name.casefold() == _README)


def _misplaced(path: str) -> str:
    """Why nobody reads the file at this path; empty if it is read."""
    if path.casefold() in (DECLARED, ADVISORS, OPTIONAL):
        return "it is not a folder, and links are not followed"
    if path == LENS_MAP:
        return ""
    if path.casefold() == LENS_MAP:
        return f"files there are not read: the map of paths is {LENS_MAP}"
    if stands_for_prices(path):
        return f"files there are not read: the list of prices is {PRICES}"
    if str(PurePosixPath(path).parent) not in (ADVISORS, OPTIONAL):
        return f"files there are not read: declare advisors in {ADVISORS}, or in {OPTIONAL}"
    if PurePosixPath(path).suffix not in (".md", ".json"):
        return "advisors are declared in files that end in .md or .json"
    return ""


LABEL = "review-advisor:with:"
"""A label of a pull request that begins so asks for the optional advisor whose id follows."""


def wanted_by(labels: Iterable[str]) -> tuple[str, ...]:
    """The ids that the labels of a pull request ask for."""
    prefix = len(LABEL)
    return tuple(label[prefix:].strip() for label in labels if label[:prefix].casefold() == LABEL)

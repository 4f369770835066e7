"""Which configuration applies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from review_advisor.agents.prompts import Instructions
from review_advisor.agents.recordings import Recording, RecordingFolder, read_recording
from review_advisor.app.agent_choice import Diagnosis, repository_top
from review_advisor.change.change import Change, FileChange, SourceError, Status
from review_advisor.change.decision_records import changed_records
from review_advisor.change.git import why_not_yours
from review_advisor.change.guidelines import (
    MOST_READ,
    BaseText,
    FoundGuidelines,
    GuidelineFile,
    GuidelineRules,
    base_text,
    found_guidelines,
    looked_for,
)
from review_advisor.change.kinds import (
    DECLARED,
    MOST_DECLARED,
    PRICES,
    PYPROJECT,
    TOO_MANY,
    PathRule,
    is_declared,
    kind_of_path,
    stands_for_prices,
)
from review_advisor.change.lock_formats import ecosystem_of
from review_advisor.change.patch_source import PatchSource
from review_advisor.change.pull_request import BelievedBase, PullRequest
from review_advisor.change.sources import GitSource, open_head
from review_advisor.change.work_folder import WorkFolder
from review_advisor.github.forge import FolderEntry, Forge, ForgeError, ForgeMissing, ForgeRejected
from review_advisor.ledger.chain import LedgerError
from review_advisor.policy.escalation_rules import EscalationProfile, Threshold
from review_advisor.policy.exclusion import excluding_glob
from review_advisor.policy.lenses import roster_for
from review_advisor.policy.policy import RECORDING_DAYS, Mode, Rules
from review_advisor.policy.prices import NO_PRICES, OwnPrices, Price, PriceError, own_prices, read_prices
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.risk import implementation_globs
from review_advisor.policy.roster import DEFAULT_ROSTER, PresetName, Roster
from review_advisor.policy.roster_layers import wanted_by
from review_advisor.policy.settings import (
    CONFIG_FILE,
    TABLE,
    Config,
    ConfigError,
    Profile,
    Settings,
    guideline_rules,
    has_table,
    make_settings,
    parse_config,
)
from review_advisor.policy.thresholds import THRESHOLDS_FILE, parse_thresholds
from review_advisor.review.document import OutcomeDocument
from review_advisor.safety.files import LARGEST, required_file
from review_advisor.safety.stated_values import read_toml
from review_advisor.safety.wording import counted, printable_line

Files = Callable[[], Mapping[str, BaseText]]


FileReader = Callable[[str], bytes | None]
"""A file of a commit by its path; None if there is none."""


_MOST_TOLD = 10


class RosterError(ConfigError):
    """Declared advisors that cannot be used. A sentence for each mistake, with its file."""


@dataclass(frozen=True, slots=True)
class HeadFiles:
    """The head of a pull request: its files that declare advisors, and any other one by its path."""

    declared: Files
    file: FileReader


@dataclass(frozen=True, slots=True)
class Declares:
    """Where advisors are declared: the ``base``'s files, which hold, and the ``head``'s, which the change brings.

    ``paths`` are those of the change; ``wanted`` the ids that labels ask for. Only a pull request has a ``head`` here.
    """

    base: Files = dict
    head: HeadFiles | None = None
    paths: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()


NOBODY = Declares()


def roster_of(preset: PresetName, files: Mapping[str, BaseText], wanted: Iterable[str] = ()) -> Roster:
    """Everybody who may be asked, by these files. Raises ``RosterError`` with every mistake in them."""
    if preset == "default" and not files.keys() - {PRICES}:
        return DEFAULT_ROSTER
    from review_advisor.policy.roster_layers import declared_roster

    roster, problems = declared_roster(preset, files, wanted)
    if problems:
        more = f" There are {len(problems) - _MOST_TOLD} more." if len(problems) > _MOST_TOLD else ""
        raise RosterError(" ".join(problems[:_MOST_TOLD]) + more)
    return roster


def roster_remarks(files: Mapping[str, BaseText]) -> tuple[str, ...]:
    """What is allowed in these files and may be a slip."""
    if not files.keys() - {PRICES}:
        return ()
    from review_advisor.policy.roster_layers import declared_again

    return declared_again(files)


def working_files(top: Path) -> dict[str, BaseText]:
    """The files of a working tree that declare advisors, as a commit of them would hold them."""
    place = top / DECLARED
    if place.is_symlink() or not place.is_dir():
        return {DECLARED: text_at(place)} if place.is_symlink() or place.exists() else {}
    every = (path for folder, folders, names in os.walk(place) for path in _files(Path(folder), folders, names))
    found = sorted(name for name in (path.relative_to(top).as_posix() for path in every) if is_declared(name))
    texts = {name: text_at(top / name) for name in found[:MOST_DECLARED]}
    return texts | {name: BaseText(problem=TOO_MANY) for name in found[MOST_DECLARED:]}


def _files(folder: Path, folders: Iterable[str], names: Iterable[str]) -> Iterator[Path]:
    """What lies in a folder and is none itself: a link to a folder is a link."""
    yield from (folder / name for name in names)
    yield from (folder / name for name in folders if (folder / name).is_symlink())


def text_at(path: Path) -> BaseText:
    """The beginning of a file of a working tree. A link is not followed, and nothing but a file is read."""
    if path.is_symlink():
        return BaseText(problem="it is a symbolic link")
    raw = WorkFolder(path.parent, "").read(path.name, MOST_READ)
    return BaseText(problem=raw) if isinstance(raw, str) else base_text(raw)


_NONE_IS_ENOUGH = (Threshold(1.0),)
"""The threshold if nobody can say which confidence is enough."""


class Believed(NamedTuple):
    """What the base declares beside its configuration."""

    roster: Roster
    thresholds: tuple[Threshold, ...]
    prices: OwnPrices


@dataclass(frozen=True, slots=True)
class _Broken:
    """Files of the base that cannot be used: why, which paths they have, and how the head's are read."""

    problem: ConfigError
    owns: Callable[[str], bool]
    read: Callable[[HeadFiles], object]


def believed_declarations(config: Config, base_file: FileReader, declares: Declares = NOBODY) -> Believed:
    """The roster, the thresholds and the prices of the base. Raises ``ConfigError`` with every mistake in them.

    A pull request that mends all that is broken, and touches nothing else, is reviewed all the same: by the preset
    alone where the advisors are broken, with the highest threshold where the thresholds are, and with the shipped
    prices alone where the prices are. These files steer the bot, so the guard holds.
    """
    preset = config.advisors.preset
    broken: list[_Broken] = []
    files = declares.base()
    try:
        roster = roster_of(preset, files, declares.wanted)
    except RosterError as problem:
        roster = roster_of(preset, {})
        broken.append(_Broken(problem, _declares_advisors, lambda head: roster_of(preset, head.declared())))
    try:
        thresholds = _thresholds(config, base_file, "base")
    except ConfigError as problem:
        thresholds = _NONE_IS_ENOUGH
        broken.append(_Broken(problem, THRESHOLDS_FILE.__eq__, lambda head: _thresholds(config, head.file, "head")))
    try:
        prices = prices_in(files)
    except ConfigError as problem:
        prices = NO_PRICES
        broken.append(_Broken(problem, PRICES.__eq__, lambda head: prices_in(head.declared())))
    if broken and not _are_mended(broken, declares):
        raise ConfigError(" ".join(str(each.problem) for each in broken))
    return Believed(roster, thresholds, prices)


def prices_in(files: Mapping[str, BaseText]) -> OwnPrices:
    """The repository's own prices, of its declared files. Raises ``ConfigError``."""
    wrong = next(filter(stands_for_prices, files), None)
    if wrong is not None:
        raise ConfigError(f"{wrong}: files there are not read: the list of prices is {PRICES}.")
    try:
        return own_prices(files.get(PRICES))
    except PriceError as problem:
        raise ConfigError(str(problem)) from None


def _declares_advisors(path: str) -> bool:
    return is_declared(path) and path != PRICES


def _are_mended(broken: Sequence[_Broken], declares: Declares) -> bool:
    """Whether the change touches nothing but broken files, and all of them can be used at its head."""
    if declares.head is None or not declares.paths:
        return False
    if not all(any(each.owns(path) for each in broken) for path in declares.paths):
        return False
    with suppress(ConfigError):
        for each in broken:
            each.read(declares.head)
        return True
    return False


def _thresholds(config: Config, file: FileReader, side: str) -> tuple[Threshold, ...]:
    """The thresholds of a commit, where a profile of escalation uses them."""
    raw = None if config.escalation.profile == "adr" else file(THRESHOLDS_FILE)
    try:
        return () if raw is None else parse_thresholds(raw.decode())
    except UnicodeDecodeError:
        raise ConfigError(f"{THRESHOLDS_FILE} of the {side} commit is not UTF-8 text.") from None
    except ValueError as problem:
        raise ConfigError(str(problem)) from None


def load_instructions() -> Instructions:
    """The standing instructions that ship with the package."""
    folder = Path(__file__).parents[1] / "agents"
    return Instructions({path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.md")})


BaseFile = Callable[[str], bytes | None]
"""A file of the base commit by its path; None if there is none."""


Mended = Callable[[], tuple[Config, str] | None]
"""The configuration for a change that only mends the base's, and its file; None for any other change."""


def believed_base(forge: Forge, pull_request: PullRequest) -> BelievedBase:
    """The branch whose configuration applies to a pull request, and its commit.

    Its base, if that is the default branch or one that the default branch's file names in ``github.trusted_bases``;
    else the default branch, also where the named branch is gone. A file that cannot be used names no branch. The commit
    is the branch's present tip. A pull request records the tip at its last push, which its author times. Raises
    ``ConfigError`` where the default branch is not known, and ``ForgeError`` where it cannot be read.
    """
    default = pull_request.default_branch
    if not default:
        raise ConfigError(
            "GitHub does not say which branch is the repository's default, so no configuration can be believed."
        )
    held = BelievedBase(default, forge.tip(default))
    if pull_request.base_ref == default:
        return held
    with suppress(ConfigError, ForgeMissing):
        config, _ = base_config(files_of(forge, held.commit))
        if pull_request.base_ref in config.github.trusted_bases:
            return BelievedBase(pull_request.base_ref, forge.tip(pull_request.base_ref))
    return held


def files_of(forge: Forge, commit: str) -> BaseFile:
    """The files of a commit. A file too large for the forge to hand out is no configuration."""

    def file(path: str) -> bytes | None:
        try:
            return forge.file(path, commit)
        except ForgeRejected as problem:
            raise ConfigError(str(problem)) from None

    return file


def load_settings(
    repo: Path,
    named: Path | None,
    base_file: BaseFile,
    environ: Mapping[str, str],
    profile: Profile | None,
    *,
    mended: Mended = lambda: None,
    declares: Declares = NOBODY,
    escalation: EscalationProfile | None = None,
) -> Settings:
    """Configuration and switches, as one snapshot. Raises ``ConfigError`` and ``SwitchError``.

    ``mended`` is asked for the configuration where that of the base cannot be used. ``declares`` says where advisors
    are declared. ``escalation`` beats the configuration's profile.
    """
    try:
        config, stands_at = load_config(repo, named, base_file)
    except ConfigError:
        instead = mended() if named is None else None
        if instead is None:
            raise
        config, stands_at = instead
    if escalation is not None:
        chosen = config.escalation.model_copy(update={"profile": escalation})
        config = config.model_copy(update={"escalation": chosen})
    roster, thresholds, prices = believed_declarations(config, base_file, declares)
    settings = make_settings(
        config, environ, profile=profile, config_path=stands_at, roster=roster, thresholds=thresholds
    )
    return replace(settings, prices=prices)


def publication_rules(config: Config) -> PublicationRules:
    """The rules by which the bot publishes: those of the configuration's mode."""
    return config.github.of_mode(config.mode)


def load_config(repo: Path, named: Path | None, base_file: BaseFile) -> tuple[Config, str | None]:
    """The configuration, and where in the repository it stands. Raises ``ConfigError``.

    Unless the user has ``named`` a file, it is read from the base commit, never from the change. A named one that lies
    in the repository is the bot's own implementation all the same.
    """
    if named is not None:
        return parse_config(read_text(named, "configuration"), str(named)), _place_in(repo, named)
    return base_config(base_file)


def _place_in(repo: Path, file: Path) -> str | None:
    top = repository_top(repo)
    place = file.resolve()
    return place.relative_to(top).as_posix() if place.is_relative_to(top) else None


def base_config(base_file: BaseFile) -> tuple[Config, str | None]:
    """The configuration of a commit, and its file; the defaults and None without one. Raises ``ConfigError``."""

    def text(name: str) -> str | None:
        raw = base_file(name)
        return None if raw is None else _decoded(raw, f"{name} of the base commit")

    return _found_config(text)


def _found_config(text_of: Callable[[str], str | None]) -> tuple[Config, str | None]:
    """The configuration in the first file that holds one, and that file; the defaults and None without one."""
    for name in (CONFIG_FILE, PYPROJECT):
        text = text_of(name)
        if text is not None and (name == CONFIG_FILE or has_table(text)):
            return parse_config(text, name), name
    return Config(), None


def mended_config(base_file: BaseFile, head_file: BaseFile, paths: Iterable[str]) -> tuple[Config, str] | None:
    """What applies to a change of ``paths`` that mends an unusable configuration, and that file.

    These are the defaults, with the base's mode and the valid keys of its ``github`` table. The file steers the bot, so
    the guard holds. None unless the change touches that file alone, and the file is valid at the head.
    """
    (path, *others) = dict.fromkeys(paths) or ("",)
    if others or path not in (CONFIG_FILE, PYPROJECT):
        return None
    try:
        base_config(head_file)
    except ConfigError:
        return None
    return Config(mode=mode_that_stands(base_file), github=rules_that_stand(base_file)), path


def mended_on(forge: Forge, pull_request: PullRequest, commit: str) -> tuple[Config, str] | None:
    """The same for a pull request, as the forge shows it; ``commit`` is the one whose configuration holds."""
    files = forge.changed_files(pull_request.number)
    paths = (path for file in files for path in (file.path, file.old_path) if path is not None)
    return mended_config(files_of(forge, commit), files_of(forge, pull_request.head_sha), paths)


def mended_by(source: GitSource) -> tuple[Config, str] | None:
    """The same for the source of a pull request; None for any other change."""
    change = source.change()
    if change.pull_request is None:
        return None
    paths = (path for file in change.files for path in file.paths)
    return mended_config(source.base_file, source.head_config, paths)


def rules_that_stand(base_file: BaseFile) -> PublicationRules:
    """The valid keys of the ``github`` table of a commit's unusable configuration.

    They name the bot's own account and the required check, which a mistake elsewhere in the file must not lose.
    """
    right = {}
    for key, value in _github_table(base_file).items():
        with suppress(ValidationError):
            PublicationRules.model_validate({key: value})
            right[key] = value
    return PublicationRules.model_validate(right)


def mode_that_stands(base_file: BaseFile) -> Mode:
    """The mode of a commit's unusable configuration: ``enforce``, unless it clearly says otherwise."""
    return "shadow" if _table_that_stands(base_file).get("mode") == "shadow" else "enforce"


def _github_table(base_file: BaseFile) -> dict[str, Any]:
    table = _table_that_stands(base_file).get("github")
    return table if isinstance(table, dict) else {}


def _table_that_stands(base_file: BaseFile) -> dict[str, Any]:
    for name, above in ((CONFIG_FILE, ()), (PYPROJECT, ("tool", TABLE))):
        try:
            raw = base_file(name)
            table: Any = read_toml((raw or b"").decode())
        except ValueError:  # also of what is not UTF-8
            return {}
        for step in above:
            table = table.get(step) if isinstance(table, dict) else None
        if raw is not None and isinstance(table, dict):
            return table
    return {}


def working_config(repo: Path) -> tuple[Config, str | None]:
    """The configuration as it stands in the working tree, and its file; the defaults and None without one."""
    top = repository_top(repo)

    def text(name: str) -> str | None:
        path = top / name
        if path.is_symlink():
            raise ConfigError(f"{name} is a symbolic link, which a review does not follow. Put the file itself there.")
        return read_text(path, "configuration") if path.is_file() else None

    return _found_config(text)


def working_roster(repo: Path, config: Config) -> Roster:
    """Everybody who may be asked, by the working tree's files. Raises ``ConfigError`` with every mistake in them."""
    return roster_of(config.advisors.preset, working_files(repository_top(repo)))


def working_prices(repo: Path) -> OwnPrices:
    """The repository's own prices, by the working tree's file. Raises ``ConfigError``."""
    return prices_in(working_files(repository_top(repo)))


def read_text(path: Path, what: str) -> str:
    """A text file that the user named. Raises ``ConfigError`` with one sentence."""
    named = f"The {what} {printable_line(str(path))}"
    return _decoded(required_file(path, LARGEST, ConfigError, named), named)


def _decoded(raw: bytes, what: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{what} is not UTF-8 text.") from None


_RECORDED = {"none": "nothing", "answers": "replies", "full": "prompts, replies and the output of the CLI"}


def read_recorded(artifacts: Path, run: str) -> Recording:
    """The recording of a run. Raises ``LedgerError`` with one sentence, also where a branch may have brought it."""
    folder = RecordingFolder(artifacts)
    if why := why_not_yours(folder.path):
        raise LedgerError(f"The recordings in {folder.path} do not count: {why}.")
    try:
        return read_recording(folder.read(run))
    except LookupError as problem:
        raise LedgerError(str(problem.args[0])) from None
    except OSError as error:
        raise LedgerError(f"The recording of {run} cannot be read: {error.strerror}.") from None


def examine_recordings(repo: Path, artifacts: Path) -> tuple[Diagnosis, ...]:
    """What the working tree's configuration records, and what lies in the folder of these artefacts."""
    try:
        config, _ = working_config(repo)
    except ConfigError as problem:
        return (Diagnosis("privacy", "recording", False, str(problem)),)
    folder = RecordingFolder(artifacts)
    kept = folder.kept()
    says = f'recording = "{config.recording}" keeps {_RECORDED[config.recording]}'
    if kept.recordings:
        days = counted(RECORDING_DAYS, "day")
        says += f"; {counted(kept.recordings, 'recording')}, {kept.size:,} bytes, in {folder.path}, kept for {days}"
    if kept.others_may_read:
        says += f". Others on this machine may read them: chmod 700 {folder.path}"
    return (Diagnosis("privacy", "recording", not kept.others_may_read, f"{says}."),)


def kind_notes(
    file: Callable[[str], bytes | None], document: OutcomeDocument, warn: Callable[[str], None]
) -> Mapping[str, str]:
    """A sentence for each finding of a kind that is known well enough, by the finding's id.

    ``file`` reads the believed commit. A file that cannot be used says nothing, and ``warn`` is told.
    """
    if not document.findings:
        return {}
    from review_advisor.ledger.kind_records import KINDS_FILE, parse_kind_records

    try:
        raw = file(KINDS_FILE)
        return {} if raw is None else parse_kind_records(raw.decode()).notes(document)
    except UnicodeDecodeError:
        warn(f"{KINDS_FILE} of the base commit is not UTF-8 text, so findings come without their kind's record.")
    except (ConfigError, ForgeError, SourceError, ValueError) as problem:
        warn(f"{problem} Findings come without their kind's record.")
    return {}


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


MOST_FOLDERS = 10
"""The most folders that are listed: each takes a request."""


def declares_on(
    forge: Forge, pull_request: PullRequest, commit: str, paths: Iterable[str], head_file: FileReader
) -> Declares:
    """Where advisors are declared for a pull request that changes ``paths``; those of ``commit`` apply.

    No request is made before a layer is read. Reading raises ``ForgeError``, and ``ConfigError`` for what GitHub does
    not hand out whole.
    """
    return Declares(
        lambda: declared_at(forge, commit),
        HeadFiles(lambda: declared_at(forge, pull_request.head_sha), head_file),
        tuple(paths),
        wanted_by(pull_request.labels),
    )


def declared_at(forge: Forge, commit: str) -> dict[str, BaseText]:
    """The files of a commit that declare advisors, by their paths, as git would list them.

    One request where nothing is declared; otherwise one more for each folder and each file. No link is followed.
    """
    found: list[FolderEntry] = []
    waiting, listed = [DECLARED], 0
    while waiting:
        listed += 1
        if listed > MOST_FOLDERS:
            raise ConfigError(f"{DECLARED} has more than {MOST_FOLDERS} folders, the most that are read.")
        for entry in filter(lambda each: is_declared(each.path), _inside(forge, waiting.pop(0), commit)):
            if entry.kind == "folder":
                waiting.append(entry.path)
            else:
                found.append(entry)
    found.sort(key=lambda entry: entry.path)
    texts = {entry.path: _text(forge, entry, commit) for entry in found[:MOST_DECLARED]}
    return texts | {entry.path: BaseText(problem=TOO_MANY) for entry in found[MOST_DECLARED:]}


def _inside(forge: Forge, folder: str, commit: str) -> tuple[FolderEntry, ...]:
    try:
        return forge.folder(folder, commit)
    except ForgeRejected as problem:
        raise ConfigError(str(problem)) from None


def _text(forge: Forge, entry: FolderEntry, commit: str) -> BaseText:
    """A file's text. A submodule comes as a file that is not there."""
    if entry.kind != "file":
        return BaseText(problem="it is a symbolic link")
    try:
        raw = forge.file(entry.path, commit)
    except ForgeRejected as problem:
        return BaseText(problem=str(problem).removesuffix("."))
    return BaseText(problem="it is no file") if raw is None else base_text(raw)


NONE_YET = "none: a REVIEW.md in the repository would hold your own rules for reviews"


@dataclass(frozen=True, slots=True)
class CommittedRules:
    """The rules at HEAD. ``commit`` is its name; empty where there is no commit. ``files`` are their paths."""

    commit: str
    files: dict[str, BaseText]

    @property
    def source(self) -> str:
        """Where they were read, in words."""
        return f"HEAD {self.commit[:12]}" if self.commit else "no commit"


def committed_rules(repo: Path, rules: GuidelineRules, about: Iterable[str] | None = None) -> CommittedRules:
    """The files of rules at HEAD: all that can be rules, or those looked for on behalf of the paths ``about``."""
    head = open_head(repo)
    if head is None:
        return CommittedRules("", {})
    with closing(head.store) as store:
        if about is not None:
            return CommittedRules(head.commit, store.texts(head.tree, looked_for(rules, about)))
        known: tuple[str, ...] = get_args(GuidelineFile)
        below = store.paths_named(head.tree, [name for name in known if "/" not in name])
        at_root = (name for name in known if "/" in name)
        given = (each.file for each in rules.configured if each.file)
        return CommittedRules(head.commit, store.texts(head.tree, dict.fromkeys((*below, *at_root, *given))))


def examine_rules(repo: Path) -> tuple[Diagnosis, ...]:
    """Which rules of the team's own a review here would read; nothing if nothing is committed."""
    rules = guideline_rules(_usable(repo))
    found = committed_rules(repo, rules)
    if not found.commit:
        return ()
    return tuple(Diagnosis("rules", "team rules", ok, says) for ok, says in _words(found, rules))


def examine_mode(repo: Path) -> tuple[Diagnosis, ...]:
    """A note if the working tree's configuration is in shadow mode, which enforces nothing."""
    config = _usable(repo)
    if config.mode == "enforce":
        return ()
    from review_advisor.github.branch_rules import mode_remark

    return tuple(Diagnosis("github", each.name, each.ok, each.says) for each in mode_remark(publication_rules(config)))


def _usable(repo: Path) -> Config:
    """The working tree's configuration; the defaults for one that cannot be used, which ``config check`` tells."""
    try:
        return working_config(repo)[0]
    except ConfigError:
        return Config()


def _words(found: CommittedRules, rules: GuidelineRules) -> Iterator[tuple[bool, str]]:
    """What to say of the rules of a repository, and whether it is as it should be."""
    named = {*rules.files, *(each.file for each in rules.configured)}

    def is_read(path: str) -> bool:
        return path in named or any("/" not in name and path.endswith(f"/{name}") for name in rules.files)

    read = [path for path, each in found.files.items() if is_read(path) and not each.problem]
    given = sum(bool(each.text) for each in rules.configured)
    told = [*sorted(read), *([f"{given} in the configuration"] if given else [])]
    unread = [path for path in sorted(found.files) if not is_read(path)]
    rest = f"; not read, because `guideline_files` does not name them: {', '.join(unread)}" if unread else ""
    yield True, f"{', '.join(told) if told else NONE_YET}{rest}"
    for path, each in found.files.items():
        if is_read(path) and each.problem:
            yield False, f"{path} is not read: {each.problem}."
    for given_file in (each.file for each in rules.configured):
        if given_file and given_file not in found.files:
            yield False, f"{given_file} is not read: the configuration names it, and it is not committed."


def examine_roster(repo: Path) -> Iterator[Diagnosis]:
    """Who the working tree declares, or what is wrong with it; nothing for the default roster."""
    try:
        roster = working_roster(repo, _usable(repo))
    except ConfigError as problem:
        yield Diagnosis("rules", "advisors", False, str(problem))
        return
    yield from _examined_prices(repo)
    if roster != DEFAULT_ROSTER:
        told = (f"{each.id} ({each.source or 'shipped'})" for each in roster.advisors)
        yield Diagnosis("rules", "advisors", True, ", ".join(told))


def _examined_prices(repo: Path) -> Iterator[Diagnosis]:
    """The repository's own prices in the working tree, if it has any."""
    try:
        own = working_prices(repo)
    except ConfigError as problem:
        yield Diagnosis("rules", "prices", False, str(problem))
        return
    if own.source:
        yield Diagnosis("rules", "prices", True, f"{own.words} ({own.source})")


@dataclass(frozen=True, slots=True)
class Applies:
    """One thing that holds for a path. ``source`` is where it comes from."""

    name: str
    value: str
    source: str


def what_applies(path: str, config: Config, settings: Settings, committed: CommittedRules) -> tuple[Applies, ...]:
    """Everything that decides how a change of ``path`` is treated."""
    rules, origin = settings.rules, settings.rules.config_path or "the default"
    critical = origin if config.critical_paths is not None else f"profile {config.profile}"
    own = implementation_globs(rules.own_globs, here=False, pyproject=rules.config_path == PYPROJECT)
    records = changed_records(Change("", files=(FileChange(Status.MODIFIED, path),)), rules.adr_folders)
    found = found_guidelines(rules.guidelines, [path], committed.files, rules.config_path)
    roster = roster_for(rules.roster, [FileChange(Status.MODIFIED, path)])
    return (
        Applies("kind", kind_of_path(path).value, "its name"),
        Applies("critical path", ", ".join(rules.critical_paths.because(path)) or "no", critical),
        Applies("the bot's own path", _by(own, path), "the self-modification guard"),
        Applies("excluded", _excluded(path, own, rules), _set("exclude", config, origin)),
        Applies("decision record", "yes" if records else "no", _set("adr_folders", config, origin)),
        Applies("compared as a picture", _by(rules.visual_paths, path), _set("visual_paths", config, origin)),
        *_rules(found, committed, origin),
        *(Applies(f"advisor {each.id}", each.words, each.source or "the preset") for each in roster.advisors[1:]),
        *(Applies("blind spot", each, "the map of lenses") for each in roster.blind_spots),
    )


def _excluded(path: str, own: tuple[str, ...], rules: Rules) -> str:
    """Whether a change of the file is left unread, or why not."""
    glob = excluding_glob(rules.exclude, path)
    if glob is None:
        return "no"
    if rules.critical_paths.matches(path) or PathRule(own).matches(path):
        return f"no: {glob} matches, and it is a critical path or one that the guard watches"
    ecosystem = ecosystem_of(path)
    what = f"a lock file of {ecosystem}" if ecosystem else "a file"
    return f"{glob}: {what}, left unread unless it is added, deleted or renamed"


def _rules(found: FoundGuidelines, committed: CommittedRules, origin: str) -> Iterator[Applies]:
    for number, each in enumerate(found.applied, 1):
        given = each.file != each.name
        cut = f", cut by {each.cut:,} characters" if each.cut else ""
        yield Applies(f"rules {number}", each.name + cut, origin if given else committed.source)
    for problem in found.problems:
        yield Applies("rules", f"{problem.name} is not applied: {problem.problem}", committed.source)
    if not found.facts:
        yield Applies("rules", "none", committed.source)


def _by(patterns: tuple[str, ...], path: str) -> str:
    """The globs that match."""
    return ", ".join(each for each in dict.fromkeys(patterns) if PathRule((each,)).matches(path)) or "no"


def _set(key: str, config: Config, origin: str) -> str:
    return origin if key in config.model_fields_set else "the default"

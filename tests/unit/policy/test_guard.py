import pytest

from review_advisor.change.change import SUBMODULE_MODE, SYMLINK_MODE, Change, FileChange, Status
from review_advisor.change.guidelines import DEFAULT_RULES, ConfiguredGuideline, GuidelineRules
from review_advisor.change.kinds import PathRule
from review_advisor.mockworld.world import deleted, edited, renamed
from review_advisor.policy.policy import Rules, _surface_policy, decide_policy
from review_advisor.policy.risk import (
    Blast,
    BlastRadius,
    Guard,
    TriggerFacts,
    every_implementation,
    gives_orders,
    guard,
)
from review_advisor.policy.surfaces import Authority, Surface
from review_advisor.policy.switches import read_switches
from review_advisor.policy.thresholds import THRESHOLDS_FILE


def held(
    *files: FileChange,
    own_repository: bool = False,
    config_path: str | None = None,
    guidelines: GuidelineRules = DEFAULT_RULES,
) -> tuple[str, ...]:
    rules = Rules(config_path=config_path, guidelines=guidelines)
    return guard(Change("pr-7", files=files, own_repository=own_repository), rules.own_globs).paths


OWN_EVERYWHERE = [
    ".review-advisor.toml",
    "services/api/.review-advisor.toml",
    ".review-advisor/advisors/data.md",
    ".Review-Advisor/Advisors/optional/ux.json",
    ".review-advisor/memory.toml",
    THRESHOLDS_FILE,
    ".claude/settings.json",
    ".claude/agents/hydraflow-review-advisor.md",
    "deep/down/.claude/agents/x.md",
    ".mcp.json",
    "CLAUDE.md",
    "web/CLAUDE.md",
    "REVIEW.md",
    "services/api/REVIEW.md",
    ".github/workflows/review.yml",
    "src/review_advisor.py",
    "src/review_phase.py",
]
OWN_HERE = [
    "src/review_advisor/policy/risk.py",
    "src/review_advisor/review/phase.py",
    "src/review_advisor/agents/executor.md",
    "action.yml",
    "Makefile",
    "pyproject.toml",
    "requirements/runtime.txt",
    ".ci/run",
]
NOT_OURS = [
    "src/review_advisor.py.bak",
    "src/review_advisor.pyi",
    "src/review_phases.py",
    "lib/src/review_advisor.py",
    "docs/src/review_phase.py/notes.md.txt",
    ".claudette/settings.json",
    "CLAUDE.md.txt",
    ".mcp.json.example",
    ".github/workflows.md",
    "docs/how-src-review_advisor.py-works.md",
    ".review-advisor.toml.orig",
]


class TestSelfModificationGuard:
    """T29: who changes the judge is judged with a veto."""

    @pytest.mark.parametrize("path", OWN_EVERYWHERE)
    def test_the_bots_own_files_are_guarded_in_every_repository_d14(self, path: str) -> None:
        assert held(edited(path, 1)) == (path,)

    @pytest.mark.parametrize("path", OWN_HERE)
    def test_the_whole_package_and_its_build_are_guarded_in_its_own_repository_d14(self, path: str) -> None:
        assert held(edited(path, 1), own_repository=True) == (path,)
        assert held(edited(path, 1)) == ()

    @pytest.mark.parametrize("path", NOT_OURS)
    def test_a_name_that_only_begins_alike_is_not_guarded_d15(self, path: str) -> None:
        assert held(edited(path, 1)) == ()

    def test_a_document_that_quotes_the_path_is_not_guarded_d15(self) -> None:
        quoting = edited("docs/notes.md", 3, text="diff --git a/src/review_advisor.py b/src/review_advisor.py")
        assert held(quoting) == ()

    @pytest.mark.parametrize(
        "path", [".CLAUDE/settings.json", "Claude.MD", ".GitHub/Workflows/CI.yml", "SRC/Review_Advisor.py"]
    )
    def test_case_hides_nothing(self, path: str) -> None:
        assert held(edited(path, 1)) == (path,)

    def test_moving_a_guarded_file_away_is_seen_d15_d17(self) -> None:
        assert held(renamed("src/review_advisor.py", "attic/old.py")) == ("src/review_advisor.py",)

    def test_moving_a_file_to_a_guarded_place_is_seen_d15_d17(self) -> None:
        assert held(renamed("attic/evil.py", "src/review_advisor.py")) == ("src/review_advisor.py",)

    def test_a_copy_from_a_guarded_file_is_seen(self) -> None:
        assert held(FileChange(Status.COPIED, "x.json", old_path=".mcp.json")) == (".mcp.json",)

    def test_deleting_a_guarded_file_is_seen_d17(self) -> None:
        assert held(deleted("src/review_phase.py")) == ("src/review_phase.py",)

    @pytest.mark.parametrize("mode", [SYMLINK_MODE, SUBMODULE_MODE], ids=["symlink", "submodule"])
    @pytest.mark.parametrize("path", [".claude", ".github/workflows", "sub/.claude"])
    def test_a_link_in_the_place_of_a_guarded_folder_is_seen(self, path: str, mode: str) -> None:
        link = FileChange(Status.ADDED, path, old_mode="000000", new_mode=mode, added=1)
        assert held(link) == (path,)

    def test_no_classification_hides_a_guarded_file(self) -> None:
        file = FileChange(Status.MODIFIED, ".claude/x.md", generated=True, vendored=True, documentation=True)
        assert held(file) == (".claude/x.md",)

    def test_the_file_the_configuration_was_read_from_is_guarded_wherever_it_stands(self) -> None:
        assert held(edited("ops/bot.toml", 1), config_path="ops/bot.toml") == ("ops/bot.toml",)
        assert held(edited("pyproject.toml", 1), config_path="pyproject.toml") == ("pyproject.toml",)
        assert held(edited("ops/bot.toml", 1)) == ()
        assert held(edited("x/ops/bot.toml", 1), config_path="ops/bot.toml") == ()

    @pytest.mark.parametrize("path", ["ops/[bot].toml", "ops/b*t.toml", "#bot.toml", "!bot.toml", "a b.toml "])
    def test_a_configuration_with_an_odd_name_is_guarded_by_that_name_alone(self, path: str) -> None:
        assert held(edited(path, 1), config_path=path) == (path,)
        assert held(edited("ops/bot.toml", 1), config_path=path) == ()

    def test_a_file_of_the_teams_own_rules_is_guarded_where_it_is_read(self) -> None:
        configured = (
            ConfiguredGuideline(("*.py",), file="docs/api rules.md"),
            ConfiguredGuideline(("*.py",), text="x"),
        )
        read = GuidelineRules(("REVIEW.md", "AGENTS.md", ".github/copilot-instructions.md"), configured)
        paths = ("AGENTS.md", "web/AGENTS.md", ".github/copilot-instructions.md", "docs/api rules.md")
        assert held(*(edited(path, 1) for path in paths), guidelines=read) == paths
        assert held(*(edited(path, 1) for path in paths)) == ()
        assert held(edited("x/docs/api rules.md", 1), guidelines=read) == ()

    def test_a_pyproject_that_configures_the_bot_on_either_side_is_guarded_d14(self) -> None:
        files = (edited("pyproject.toml", 1), edited("web/pyproject.toml", 1))
        change = Change("pr-7", files=files, config_in_pyproject=True)
        assert guard(change, ()).paths == ("pyproject.toml",)
        assert held(*files) == ()

    def test_whoever_does_not_know_the_repository_takes_it_for_the_bots_own(self) -> None:
        everywhere = PathRule(every_implementation())
        assert [path for path in (*OWN_EVERYWHERE, *OWN_HERE) if not everywhere.matches(path)] == []
        assert [path for path in NOT_OURS if everywhere.matches(path)] == []

    @pytest.mark.parametrize("path", [*OWN_EVERYWHERE, ".gitattributes", ".vscode/tasks.json", "sub/.gitmodules"])
    def test_what_tells_an_agent_git_or_an_editor_what_to_do_gives_orders(self, path: str) -> None:
        assert gives_orders(path)

    @pytest.mark.parametrize("path", ["src/app.py", "docs/guide.md", "tests/test_app.py", "src/review_phases.py"])
    def test_an_ordinary_file_gives_no_orders(self, path: str) -> None:
        assert not gives_orders(path)

    def test_every_guarded_path_is_named_once(self) -> None:
        assert held(edited(".mcp.json"), edited("src/app.py"), renamed(".mcp.json", "CLAUDE.md")) == (
            ".mcp.json",
            "CLAUDE.md",
        )

    def test_it_forces_the_veto_and_a_high_blast_on_every_surface_d16(self) -> None:
        change = Change("pr-7", files=(edited("CLAUDE.md", 1), edited("docs/adr/0001-x.md", 1)))
        policy = decide_policy(change, Rules(), read_switches({}))
        assert policy.guard.holds
        assert policy.blast.radius == "high"
        assert {row.surface for row in policy.surfaces} == {Surface.PR_REVIEW, Surface.ADR_REVIEW}
        assert {row.authority for row in policy.surfaces} == {Authority.VETO}
        assert {row.authority_because for row in policy.surfaces} == {"the self-modification guard holds"}

    def test_without_it_a_surface_keeps_its_own_authority(self) -> None:
        policy = decide_policy(Change("pr-7", files=(edited("src/app.py", 1),)), Rules(), read_switches({}))
        assert not policy.guard.holds
        assert policy.surfaces[0].authority_because == "this surface's default"

    def test_it_turns_an_advisory_surface_into_one_with_a_veto_d16(self) -> None:
        facts, switches, blast = TriggerFacts(False, 0, (), 1), read_switches({}), Blast(BlastRadius.HIGH, ())
        authority = {
            paths: _surface_policy(Surface.WIKI_INGEST, facts, switches, Guard(paths), blast).authority
            for paths in ((), ("CLAUDE.md",))
        }
        assert authority == {(): Authority.ADVISORY, ("CLAUDE.md",): Authority.VETO}

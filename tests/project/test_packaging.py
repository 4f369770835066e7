"""What package tools read of the project: the wheel, and hooks for pre-commit that name real options."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import click
import pytest
import yaml
from packaging.metadata import Metadata

from review_advisor.app.review import review

ROOT = Path(__file__).parents[2]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_runs_a_command_that_there_is_on_what_is_staged(hook: dict[str, object]) -> None:
    program, verb, *options = shlex.split(str(hook["entry"]))
    assert (program, verb) == ("review-advisor", "review")
    with review.make_context("review", options) as context:
        assert isinstance(context, click.Context)
        assert (context.params["staged"], context.params["gate"]) == (True, True)
    assert (hook["pass_filenames"], hook["always_run"]) == (False, True)


def test_the_hook_without_a_model_brings_the_static_checks_along() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (embedded,) = [hook for hook in HOOKS if "--agent embedded" in hook["entry"]]
    assert embedded["additional_dependencies"] == extras["embedded"]


def test_money_is_spent_only_when_the_hook_is_asked_for() -> None:
    assert [hook["stages"] for hook in HOOKS if "--agent embedded" not in hook["entry"]] == [["manual"]]


@pytest.mark.every_case
def test_the_wheel_is_small_and_holds_the_product_alone(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.stat().st_size < 1_700_000
    assert {name.partition("/")[0].partition("-")[0] for name in names} <= {"review_advisor"}
    kept = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert {name.removeprefix("src/") for name in kept.splitlines()} <= set(names), (
        "prompts, pages and schemas come along"
    )
    (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    said = zipfile.ZipFile(wheel).read(metadata)
    read = Metadata.from_email(said, validate=True)
    assert (read.name, read.description_content_type, read.license_expression) == (
        "review-advisor",
        "text/markdown",
        "Apache-2.0",
    )
    assert read.description == (ROOT / "README.md").read_text(encoding="utf-8")

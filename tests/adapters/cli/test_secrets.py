"""Whatever a command prints or stores, a secret of its environment is not in it, and neither is what looks like one."""

import base64
import subprocess
import sys
from io import StringIO

import pytest
from rich.console import Console
from tests.adapters.command_line import Terminal
from tests.adapters.git_repository import Repo

from review_advisor.app.progress import LiveProgress

SECRET = "Zq7_pX2-mW9kLv4TbN8sYd3R"
TOKEN = "ghp_" + "A1b2C3d4" * 5
FORMS = [
    pytest.param(SECRET, id="plain"),
    pytest.param(base64.b64encode(SECRET.encode()).decode(), id="base64"),
    pytest.param(SECRET.encode().hex(), id="hex"),
    pytest.param(SECRET[::-1], id="reversed"),
    pytest.param(SECRET[7:], id="without its beginning"),
    pytest.param(TOKEN, id="a token's shape"),
]
RANGE = ("--agent", "embedded", "--range", "HEAD~1..HEAD")
WORDS = {
    "a command": ("{}",),
    "an option": ("review", "--{}"),
    "a choice": ("review", "--agent", "{}"),
    "a number": ("review", *RANGE, "--jobs", "{}"),
    "a range": ("review", "--agent", "embedded", "--range", "{}"),
    "a patch": ("review", "--agent", "embedded", "--patch", "{}"),
    "a specification": ("review", *RANGE, "--spec", "{}"),
    "a repository": ("review", *RANGE, "--repo", "{}"),
    "the artefact folder": ("review", *RANGE, "--artifacts", "/proc/{}"),
    "the program": ("review", "--range", "HEAD~1..HEAD", "--claude-bin", "/none/{}"),
    "a story": ("simulate", "{}.yaml"),
}


@pytest.fixture
def keyed(terminal: Terminal) -> Terminal:
    terminal.environ["SOME_API_KEY"] = SECRET
    return terminal


@pytest.mark.parametrize(
    "words, form",
    [
        *(pytest.param(words, SECRET, id=name) for name, words in WORDS.items()),
        *(pytest.param(WORDS["a range"], *form.values, id=f"a range, {form.id}") for form in FORMS[1:]),
    ],
)
def test_a_refusal_that_quotes_its_words_quotes_no_secret(keyed: Terminal, words: tuple[str, ...], form: str) -> None:
    done = keyed.run(*(word.format(form) for word in words))
    assert done.code == 2
    assert "Error: " in done.err
    assert form not in done.out + done.err


@pytest.mark.one_in(4)
@pytest.mark.parametrize("verb", [("doctor",), ("config", "show"), ("config", "check"), ("review", *RANGE)])
@pytest.mark.parametrize("name", ["HYDRAFLOW_REVIEW_ADVISOR_ENABLED", "HYDRAFLOW_REVIEW_EXECUTOR_MODEL"])
def test_a_secret_in_the_wrong_variable_is_not_shown(keyed: Terminal, verb: tuple[str, ...], name: str) -> None:
    done = keyed.run(*verb, env={name: SECRET})
    assert SECRET not in done.out + done.err
    if name.endswith("ENABLED"):
        assert f"{name} is '[secret removed]'" in done.out + done.err


@pytest.mark.parametrize("verb", [("config", "show"), ("config", "show", "--json"), ("doctor",)])
@pytest.mark.parametrize("text", ['wiki_folder = "{}"\n', "{} = 1\n", 'profile = "{}"\n', "[[[{}"])
def test_a_secret_in_the_configuration_is_not_shown(keyed: Terminal, verb: tuple[str, ...], text: str) -> None:
    (keyed.folder / ".review-advisor.toml").write_text(text.format(SECRET))
    done = keyed.run(*verb)
    assert done.code in (0, 2)
    assert SECRET not in done.out + done.err


@pytest.mark.one_in(7)
@pytest.mark.parametrize(
    "form, options", [*(pytest.param(*form.values, (), id=form.id) for form in FORMS), (SECRET, ("--json",))]
)
def test_a_review_of_what_is_full_of_it_prints_and_stores_none(
    keyed: Terminal, form: str, options: tuple[str, ...]
) -> None:
    repo = Repo(keyed.folder)
    name = form.replace("/", "-")
    repo.write("app.py", f"import subprocess\nsubprocess.call('{form}', shell=True)\n")
    repo.write(f"{name}.py", f"key = '{form}'\n")
    repo.write("blob.png", f"\0{form}")
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--file=-", stdin=f"Add {form}\n\n{form}\n".encode())
    repo.git("checkout", "--quiet", "-b", f"topic-{name}")
    # The static checks quote what they find, and take a second for it.
    done = keyed.examine(*options) if form == SECRET else keyed.review()
    assert done.code in (0, 10, 11), done.err
    stored = [path for path in (keyed.folder / "review_logs").rglob("*") if path.is_file()]
    assert {"outcome.json", "report.txt"} <= {path.name for path in stored}
    texts = [path.read_bytes().decode("utf-8", "replace") for path in stored]
    exported = keyed.folder / "exported.jsonl"
    assert keyed.run("ledger", "export", exported).code == 0  # its file holds some events compressed
    ledger = exported.read_text()
    assert ledger.count("review_ended") == 1
    told = [done.out, done.err, ledger, *texts, *map(str, stored)]
    assert [text[:60] for text in told if form in text] == []


def test_a_story_that_tells_one_is_shown_without_it(keyed: Terminal) -> None:
    (keyed.folder / "story.yaml").write_text(f"story: {SECRET}\nsteps: [review: {{expect: {{outcome: stopped}}}}]\n")
    for options in ((), ("--json",)):
        done = keyed.run("simulate", "story.yaml", *options)
        assert "[secret removed]" in done.out
        assert SECRET not in done.out + done.err


def test_a_bugs_traceback_tells_none() -> None:
    code = "from review_advisor.app.terminal import prepare\nprepare()\n"
    code += "raise KeyError(__import__('os').environ['A_TOKEN'])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env={"A_TOKEN": SECRET}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert done.stderr.endswith("KeyError: '[secret removed]'\n")


def test_a_warning_in_a_live_terminal_tells_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", SECRET)
    written = StringIO()
    LiveProgress(Console(file=written, width=200)).warning(f"the folder {SECRET} is full")
    assert written.getvalue() == "warning: the folder [secret removed] is full\n"

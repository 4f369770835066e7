import pytest
from tests.attacks.workflow_edits import CI, OURS, edited_workflow

from review_advisor.change.change import Change, FileChange, Status, Workflows
from review_advisor.change.ci_files import CiEdit, concern, only_bumps, own_names, watched

SHA, OTHER = "a" * 40, "b" * 40


def test_where_nobody_read_the_workflows_every_change_of_one_is_watched() -> None:
    change = edited_workflow(CI, CI.replace("3.12", "3.13"))
    unread = Change("patch-1", files=change.files)
    assert list(watched(unread, "review-advisor")) == [change.files[0].path]


@pytest.mark.parametrize(
    "old, new, yes",
    [
        (f"      - uses: actions/checkout@{SHA} # v4.1.0", f"      - uses: actions/checkout@{OTHER} # v4.2.0", True),
        (f"        uses: 'a/b/c@{SHA}'", f"        uses: 'a/b/c@{OTHER}'", True),
        ("      - uses: actions/checkout@v3", "      - uses: actions/checkout@v4", True),
        ("      - uses: actions/checkout@v3", f"      - uses: actions/checkout@{SHA}", True),
        (f"      - uses: actions/checkout@{SHA}", "      - uses: actions/checkout@v4", False),
        (f"      - uses: actions/checkout@{SHA}", "      - uses: actions/checkout@main", False),
        ("      - uses: actions/checkout@main", "      - uses: actions/checkout@v4", False),
        (f"      - uses: actions/checkout@{SHA}", f"      - uses: evil/checkout@{OTHER}", False),
        (f"      - uses: actions/checkout@{SHA}", "      - run: make", False),
        ("      - uses: ./actions@v1", "      - uses: ./actions@v2", False),
        ("      - run: uses a@v1", "      - run: uses a@v2", False),
    ],
)
def test_a_bump_moves_the_same_action_and_never_unpins_it(old: str, new: str, yes: bool) -> None:
    assert only_bumps((f"-{old}", f"+{new}")) is yes
    assert not only_bumps((f"-{old}", f"+{new}", "+      - run: make"))


@pytest.mark.parametrize("end", ["\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_a_bump_hides_nothing_behind_a_line_end_that_git_does_not_see(end: str) -> None:
    old, new = f"-      - uses: actions/checkout@{SHA}", f"+      - uses: actions/checkout@{OTHER}"
    hidden = f"# v5{end}permissions: write-all"
    assert not only_bumps((old, f"{new} {hidden}"))
    assert not only_bumps((f"{old} {hidden}", new))
    assert not only_bumps((old, f"{new} # v5{end}\r"))
    assert not only_bumps((old, new.replace("uses:", f"uses:{end}")))
    assert only_bumps((f"{old}\r", f"{new} # v5\r"))


@pytest.mark.parametrize(
    "first, second",
    [
        ('      checks: "wr\\', '        ite"'),
        ('    "secr\\', '      ets": "${{ toJSON(secrets) }}"'),
        ('    "secrets": "inh\\', '      erit"'),
        ('    name: "review-\\', '      advisor"'),
        ('    name: "our \\', '      check"'),
        ("    name: our", "      check"),
        ('  "pull_request_\\', '    target":'),
    ],
)
def test_a_word_that_goes_on_in_the_next_line_is_the_whole_word(first: str, second: str) -> None:
    for end in ("", "\r"):
        after = f"on: push\n{first}{end}\n{second}{end}\n"
        assert concern(CiEdit((f"+{first}{end}", f"+{second}{end}"), in_place=True, after=after), ("our check",))
        unchanged = CiEdit(("+ x: 1",), in_place=True, after=after)
        assert "target" in second or concern(unchanged, ("review-advisor", "our check"))


@pytest.mark.parametrize(
    "line", ['  name: "\\x72eview"', '  - "\\u0070ull_request"', '-  "permissio\\', '  "a\\\x85b"']
)
def test_an_edit_that_may_spell_a_word_in_another_way_is_watched(line: str) -> None:
    assert concern(CiEdit((f"+{line}",), in_place=True, after="on: push\n"), ())


def test_a_shells_line_that_goes_on_in_the_next_one_is_ordinary() -> None:
    edit = CiEdit(("+        make test \\", "+          --fast"), in_place=True, after="make test \\\n  --fast\n")
    assert concern(edit, ("review-advisor",)) is None


@pytest.mark.parametrize(
    "text, whichever",
    [
        ("${{ toJSON(true && secrets) }}", True),
        ("${{ toJSON(secrets || 1) }}", True),
        ("${{ toJSON(\n secrets\n) }}", True),
        ("${{ (secrets)['A'] }}", True),
        ("${{ case(true, secrets, 1) }}", True),
        ("${{ secrets [matrix.name] }}", True),
        ("${{ join(secrets.*) }}", True),
        ("secrets: &all inherit", True),
        ("secrets: # all\n  inherit", True),
        ("env: {A: &x inherit}\nsecrets: *x", True),
        ("${{ secrets.NPM }}", False),
        ("secrets:\n  token: ${{ secrets.NPM }}", False),
        ('{"secrets": {}}', False),
        ("run: detect-secrets scan", False),
    ],
)
def test_secrets_as_a_whole_are_whichever_secret_it_likes(text: str, whichever: bool) -> None:
    edit = CiEdit(("+ x: 1",), in_place=True, after=text)
    assert (concern(edit, ()) == "it takes whichever secret it likes") is whichever


@pytest.mark.parametrize("scope", ["checks: # pages:\n    write", "checks: &issues: write", "checks: write"])
def test_no_other_scope_hides_the_leave_to_write_checks(scope: str) -> None:
    assert concern(CiEdit(("+ x: 1",), in_place=True, after=f"permissions:\n  {scope}\n"), ())


def test_nothing_is_no_bump_and_a_bump_has_two_sides() -> None:
    assert not only_bumps(())
    assert not only_bumps((f"+      - uses: actions/checkout@{SHA}",))


def test_a_text_that_is_unknown_and_a_file_that_takes_anothers_place_concern_the_bot() -> None:
    assert concern(CiEdit((), in_place=True, after=None), ()) is not None
    assert concern(CiEdit((), in_place=False, after=CI), ()) is not None


def test_of_an_edit_without_lines_only_what_its_text_names_is_known() -> None:
    assert concern(CiEdit(None, in_place=True, after="permissions: write-all"), ()) is None
    assert concern(CiEdit(None, in_place=True, after="name: our check"), ("our check",)) is not None


def test_the_secrets_of_the_workflow_that_runs_the_bot_are_ours_under_whatever_name() -> None:
    text = "${{ secrets.MODEL_KEY }} ${{ secrets.GITHUB_TOKEN }}"
    running = Workflows(running=((".github/workflows/review.yml", text),))
    assert "MODEL_KEY" in own_names("gate", running)
    assert "GITHUB_TOKEN" not in own_names("gate", running)
    assert "gate" in own_names("gate")


@pytest.mark.parametrize(
    "path, yes",
    [
        (".github/workflows/review.yml", True),
        (".github/actions/prepare/run.sh", True),
        ("scripts/prepare.sh", True),
        ("ci/deep/notify.py", True),
        ("scripts/prepare.sh.md", False),
        ("src/app.py", False),
        ("docs/github.md", False),
        ("actions/prepare", False),
    ],
)
def test_what_the_bots_workflow_calls_is_known_by_its_path_its_folder_or_its_tail(path: str, yes: bool) -> None:
    change = Change("x", files=(FileChange(Status.MODIFIED, path),), workflows=Workflows(running=OURS))
    assert list(watched(change, "review-advisor")) == ([path] if yes else [])

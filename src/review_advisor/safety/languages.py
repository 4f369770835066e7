"""The languages of files: what begins and ends a literal or a comment in each, and what a file's name tells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, eq=False)
class Quote:
    """A literal or a comment: patterns of its beginning and end."""

    begin: str
    end: str
    """``{h}`` in it is the beginning's group ``h``."""
    escape: str = r"\\(?s:.)"
    """A pattern of what never ends it."""
    holes: tuple[str, ...] = ()
    """Its interpolations."""
    lines: bool = False
    """It may have several lines."""
    nests: bool = False
    """Its beginning counts within it."""
    data: bool = True
    """False for a pattern or a command, which is code."""
    sure: bool = True


HOLES: Mapping[str, tuple[str, str]] = {
    "{": (r"\{", "{}"),
    "${": (r"\$\{", "{}"),
    "%{": (r"%\{", "{}"),
    "#{": (r"#\{", "{}"),
    "{$": (r"\{(?=\$)", "{}"),
    "@{": (r"@\{", "{}"),
    "$(": (r"\$\(", "()"),
    "\\(": (r"\\#{0,8}\(", "()"),
    "$x": (r"\$\w++(?:(?:->|::|\??\.)[A-Za-z_]\w*+)*+", ""),
    "#@": (r"#[@$]\w++", ""),
    "@x": (r"[@$]\w++(?:(?:->)?[\[{][^\]}\n\"']{0,80}[\]}])*+", ""),
}
"""The beginning of each kind of interpolation, and the brackets that it is counted by; none: it ends with its match."""

END_OF_LINE = r"(?=\n)"
_SLASHES = Quote(r"//", END_OF_LINE, escape="(?!)")
_HASH = Quote(r"#", END_OF_LINE, escape="(?!)")
_DASHES = Quote(r"--", END_OF_LINE, escape="(?!)")
_STARS = Quote(r"/\*", r"\*/", escape="(?!)", lines=True)
_NESTED_STARS = Quote(r"/\*", r"\*/", escape="(?!)", lines=True, nests=True)
_DOUBLE = Quote('"', '"')
_SINGLE = Quote("'", "'")
_CHAR = Quote(r"'(?=\\|[^'\n]')", "'")
_BACKTICK_RAW = Quote("`", "`", escape="(?!)", lines=True)


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """The rules of a family of languages."""

    quotes: tuple[Quote, ...]
    skip: str = "(?!)"
    """A pattern of code in which a delimiter begins nothing."""
    heredoc: str = ""
    """A pattern of the beginning of a here-document, with groups ``raw`` and ``word``."""
    regex: bool = False
    """A slash may begin a pattern."""
    template: tuple[str, str] | None = None
    """The marks between which code stands in a file that is text."""
    doubt: str = "(?!)"


_C_LIKE = (_SLASHES, _STARS)
_PYTHON_F = r"(?i:(?<![A-Za-z0-9_])(?:[ft]r?|r[ft]))"
_PYTHON_P = r"(?i:(?<![A-Za-z0-9_])(?:r|b|u|br|rb))?"
_NUMBER = r"(?<![\w$])\d[\w']*+(?:\.\d[\w']*+)?"

_PYTHON = Grammar(
    (
        _HASH,
        *(Quote(f"{_PYTHON_F}{q * 3}", q * 3, r"\\(?s:.)|\{\{", ("{",), lines=True) for q in "\"'"),
        *(Quote(f"{_PYTHON_F}{q}", q, r"\\(?s:.)|\{\{", ("{",)) for q in "\"'"),
        *(Quote(f"{_PYTHON_P}{q * 3}", q * 3, lines=True) for q in "\"'"),
        *(Quote(f"{_PYTHON_P}{q}", q) for q in "\"'"),
    )
)

JAVASCRIPT = Grammar((*_C_LIKE, _DOUBLE, _SINGLE, Quote("`", "`", holes=("${",), lines=True)), regex=True)

_RUBY = Grammar(
    (
        Quote(r"(?m:^=begin\b)", r"\n=end\b", escape="(?!)", lines=True),
        Quote(r"(?m:^__END__$)", r"\Z", escape="(?!)", lines=True),
        _HASH,
        Quote('"', '"', holes=("#{", "#@"), lines=True, sure=False),
        Quote("'", "'", lines=True, sure=False),
        Quote("`", "`", lines=True, data=False),
        *(
            Quote(
                rf"(?<![\w)\]}}%.])%[{kinds}]?{re.escape(pair[0])}(?! )",
                re.escape(pair[1]),
                holes=holes,
                lines=True,
                data=data,
            )
            for pair in ("()", "[]", "{}", "<>", "||", "!!")
            for kinds, holes, data in (("qwis", (), True), ("QWI", ("#{",), True), ("xr", ("#{",), False))
        ),
    ),
    skip=r"\$['\"`#/]|(?<![\w)\]}])\?\\?['\"`#/](?!\w)|:(?=['\"])",
    heredoc=r"<<[~-]?(?P<raw>['\"`]?)(?P<word>[A-Z_]\w*+)(?P=raw)",
    regex=True,
)

_PERL = Grammar(
    (
        Quote(r"(?m:^=[a-z]\w*+)", r"\n=cut\b", escape="(?!)", lines=True),
        Quote(r"(?m:^__(?:END|DATA)__$)", r"\Z", escape="(?!)", lines=True),
        _HASH,
        Quote('"', '"', holes=("@{", "${", "@x"), lines=True, sure=False),
        Quote("'", "'", lines=True, sure=False),
        Quote("`", "`", lines=True, data=False),
        *(
            Quote(
                rf"(?<![\w$@%&>{{-])q{kind}[ \t]?{re.escape(pair[0])}",
                re.escape(pair[1]),
                holes=holes,
                lines=True,
                data=data,
            )
            for pair in ("()", "[]", "{}", "<>", "||", "!!", "//", "~~", "##")
            for kind, holes, data in (
                ("", (), True),
                ("q", ("@{", "${", "@x"), True),
                ("w", (), True),
                ("[xr]", (), False),
            )
        ),
    ),
    skip=(
        r"\$#?['\"`#/]|(?<=\w)'(?=\w)|(?<![\w$@%&>{-])(?:m|s|tr|y)(?P<s>[/!|#,~])(?:\\.|(?!(?P=s))[^\\\n])*+(?P=s)"
        r"(?:(?:\\.|(?!(?P=s))[^\\\n])*+(?P=s))?"
    ),
    heredoc=r"<<~?(?:(?P<raw>['\"])(?P<word>[^'\"\n]{1,40})(?P=raw)|(?P<bare>[A-Z_]\w*+))",
    regex=True,
)

_PHP = Grammar(
    (
        *(Quote(begin, r"(?=\n|\?>)", escape="(?!)") for begin in (r"//", r"#(?!\[)")),
        _STARS,
        Quote('"', '"', holes=("{$", "${", "$x"), lines=True),
        Quote("'", "'", lines=True),
        Quote("`", "`", lines=True, data=False),
    ),
    heredoc=r"<<<[ \t]*(?P<raw>['\"]?)(?P<word>\w++)(?P=raw)",
    template=(r"<\?(?:php\b|=)?", r"\?>"),
)

_CSHARP = Grammar(
    (
        *_C_LIKE,
        Quote(r"\$(?P<h>\"{3,8})", "{h}", "(?!)", ("{",), lines=True),
        Quote(r"\${2,8}(?P<h>\"{3,8})", "{h}", "(?!)", ("{",), lines=True, sure=False),
        Quote(r"(?P<h>\"{3,8})", "{h}", "(?!)", lines=True),
        Quote(r"(?:\$@|@\$)\"", r'"(?!")', r"\"\"|\{\{", ("{",), lines=True),
        Quote(r"@\"", r'"(?!")', r"\"\"", lines=True),
        Quote(r"\$\"", '"', r"\\.|\{\{", ("{",)),
        _DOUBLE,
        _CHAR,
    ),
    skip=_NUMBER,
)

_SWIFT = Grammar(
    (
        _SLASHES,
        _NESTED_STARS,
        *(
            Quote(
                rf"{'#' * level}{mark}",
                f"{mark}{'#' * level}",
                rf"\\{'#' * level}[^(]",
                ("\\(",),
                lines=lines,
            )
            for level in (3, 2, 1, 0)
            for mark, lines in (('"""', True), ('"', False))
        ),
    ),
    regex=True,
)

_JAVA = Grammar((*_C_LIKE, Quote('"""', '"""', lines=True), _DOUBLE, _CHAR), doubt=r"\\u+00(?:2[27aAfF]|0[aAdD]|5[cC])")

_KOTLIN = Grammar(
    (
        _SLASHES,
        _NESTED_STARS,
        Quote('"""', '"""', "(?!)", ("${", "$x"), lines=True),
        Quote('"', '"', holes=("${", "$x")),
        _CHAR,
    )
)

_SCALA = Grammar(
    (
        _SLASHES,
        _NESTED_STARS,
        Quote(r'(?<=\w)"""', '"""', "(?!)", ("${", "$x"), lines=True),
        Quote('"""', '"""', "(?!)", lines=True),
        Quote(r'(?<=\w)"', '"', holes=("${", "$x")),
        _DOUBLE,
        _CHAR,
    )
)

_GROOVY = Grammar(
    (
        *_C_LIKE,
        Quote('"""', '"""', holes=("${", "$x"), lines=True),
        Quote("'''", "'''", lines=True),
        Quote('"', '"', holes=("${", "$x")),
        _SINGLE,
    ),
    regex=True,
)

_DART = Grammar(
    (
        _SLASHES,
        _NESTED_STARS,
        *(Quote(f"(?<!\\w)r{q}", q, "(?!)", lines=len(q) > 1) for q in ('"""', "'''", '"', "'")),
        *(Quote(q, q, holes=("${", "$x"), lines=len(q) > 1) for q in ('"""', "'''", '"', "'")),
    )
)

_GO = Grammar((*_C_LIKE, _DOUBLE, _SINGLE, _BACKTICK_RAW))

_RUST = Grammar(
    (
        _SLASHES,
        _NESTED_STARS,
        Quote(r"(?<!\w)b?c?r(?P<h>#{0,8})\"", '"{h}', "(?!)", lines=True),
        Quote('"', '"', lines=True),
        _CHAR,
    )
)

_C = Grammar(
    (*_C_LIKE, Quote(r"R\"(?P<h>[^()\\\s\"]{0,16})\(", '){h}"', "(?!)", lines=True), _DOUBLE, _SINGLE),
    skip=_NUMBER,
)

_LUA = Grammar(
    (
        Quote(r"--\[(?P<h>={0,8})\[", "]{h}]", "(?!)", lines=True),
        _DASHES,
        Quote(r"\[(?P<h>={0,8})\[", "]{h}]", "(?!)", lines=True),
        _DOUBLE,
        _SINGLE,
    )
)

_ELIXIR = Grammar(
    (
        _HASH,
        Quote('"""', '"""', holes=("#{",), lines=True),
        Quote("'''", "'''", holes=("#{",), lines=True),
        *(
            Quote(rf"~{kind}{re.escape(pair[0])}", re.escape(pair[1]), holes=holes, lines=True, data=data)
            for pair in ("()", "[]", "{}", "<>", "||", "//")
            for kind, holes, data in (("[sw]", ("#{",), True), ("[SW]", (), True), ("[rR]", (), False))
        ),
        Quote('"', '"', holes=("#{",), lines=True, sure=False),
        Quote("'", "'", holes=("#{",), lines=True, sure=False),
    ),
    skip=r"(?<![\w)\]}])\?\\?['\"#]",
)

HCL = Grammar(
    (_HASH, _SLASHES, _STARS, Quote('"', '"', r"\\.|\$\$\{|%%\{", holes=("${", "%{"))),
    heredoc=r"<<-?(?P<raw>)(?P<word>[A-Za-z_]\w*+)",
)

_SQL = Grammar(
    (
        _DASHES,
        _STARS,
        Quote("'", r"'(?!')", r"''", lines=True),
        Quote('"', r'"(?!")', r'""'),
        Quote("`", "`", "(?!)", data=False),
    ),
    doubt=r"\\'",
)

_POWERSHELL = Grammar(
    (
        Quote(r"(?<=\s)-{1,2}[A-Za-z][\w-]*+[ \t:]++(?=\w)", r"(?=[\s;|&(){}\"'$`,])", "(?!)"),
        Quote(r"<#", r"#>", "(?!)", lines=True),
        Quote(r"(?<![\w$])#", END_OF_LINE, "(?!)"),
        Quote(r'@"[ \t]*(?=\n)', r'\n"@', "`.", ("$(", "${", "$x"), lines=True),
        Quote(r"@'[ \t]*(?=\n)", r"\n'@", "(?!)", lines=True),
        Quote('"', r'"(?!")', r'""|`(?s:.)', ("$(", "${", "$x"), lines=True),
        Quote("'", r"'(?!')", "''", lines=True),
    ),
    skip=r"`(?s:.)",
)

_HASKELL = Grammar((_DASHES, Quote(r"\{-", r"-\}", "(?!)", lines=True, nests=True), _DOUBLE, _CHAR), skip=r"\w++'++")

_ML = Grammar(
    (
        Quote(r"\(\*(?!\))", r"\*\)", "(?!)", lines=True, nests=True),
        _SLASHES,
        Quote('"""', '"""', "(?!)", lines=True),
        _DOUBLE,
        _CHAR,
    ),
    skip=r"\w++'++",
)

_LISP = Grammar((Quote(";", END_OF_LINE, "(?!)"), Quote('"', '"', lines=True)), skip=r"\\.")
_ERLANG = Grammar((Quote("%", END_OF_LINE, "(?!)"), _DOUBLE), skip=r"\$\\?.")

_JULIA = Grammar(
    (
        Quote("#=", "=#", "(?!)", lines=True, nests=True),
        _HASH,
        Quote('"""', '"""', holes=("$(", "$x"), lines=True),
        Quote('"', '"', holes=("$(", "$x")),
        _CHAR,
    )
)

R = Grammar((_HASH, _DOUBLE, _SINGLE))
_BASIC = Grammar((Quote("'", END_OF_LINE, "(?!)"), Quote('"', r'"(?!")', '""')))

_NIX = Grammar(
    (
        _HASH,
        _STARS,
        Quote("''", r"''(?![$'\\])", r"''[$'\\]", ("${",), lines=True),
        Quote('"', '"', holes=("${",), lines=True),
    )
)

CSS = Grammar((_STARS, _DOUBLE, _SINGLE))
_NOTEBOOK = Grammar((Quote(r'\\"', r'\\"|(?=")', r"\\\\\\\"", ("{",)), Quote("'", r"'|(?=\\n|\")", r"\\\\.", ("{",))))
_BOTH = Grammar((_DOUBLE, _SINGLE))

_OTHER = Grammar((_DOUBLE,))
"""A language that no row knows: a word between double quotes on one line is data in almost all of them."""

_ROWS: tuple[tuple[Grammar, str], ...] = (
    (_PYTHON, "py pyi pyw pyx pxd bzl star sage gyp gypi smk"),
    (JAVASCRIPT, "js mjs cjs jsx ts mts cts tsx es6 gs"),
    (_RUBY, "rb rake gemspec ru podspec jbuilder rabl thor cr"),
    (_PERL, "pl pm t psgi al"),
    (_PHP, "php php3 php4 php5 php7 phtml inc module ctp"),
    (_CSHARP, "cs csx cake"),
    (_SWIFT, "swift"),
    (_JAVA, "java"),
    (_KOTLIN, "kt kts"),
    (_SCALA, "scala sc sbt"),
    (_GROOVY, "groovy gradle gvy jenkinsfile"),
    (_DART, "dart"),
    (_GO, "go"),
    (_RUST, "rs"),
    (
        _C,
        "c h cc cpp cxx c++ hh hpp hxx m mm ino cu cuh ipp tpp d zig v sv svh vala glsl hlsl proto sol as hx",
    ),
    (_LUA, "lua moon luau"),
    (_ELIXIR, "ex exs heex eex leex"),
    (HCL, "tf hcl tfvars nomad"),
    (_SQL, "sql psql pgsql plsql ddl dml mysql pks pkb"),
    (_POWERSHELL, "ps1 psm1 psd1"),
    (_HASKELL, "hs lhs elm purs idr agda"),
    (_ML, "ml mli fs fsx fsi sml"),
    (_LISP, "clj cljs cljc edn lisp el lsp scm ss rkt"),
    (_ERLANG, "erl hrl"),
    (_JULIA, "jl"),
    (R, "r rmd"),
    (_BASIC, "vb vbs bas cls frm"),
    (_NIX, "nix"),
    (CSS, "css scss sass less styl"),
    (_NOTEBOOK, "ipynb"),
    (_BOTH, "coffee pp pas lpr dpr jsonnet libsonnet raku pm6 gd cue dhall applescript abap apex cfm"),
    (_OTHER, "nim tcl awk sed jq vim ada adb ads f f90 f95 for cob cbl pro rego odin wren gml ahk au3 asm s sty lean"),
    (_OTHER, "ballerina bal graphql gql mo sas stan mojo"),
)

_MARKUP = (
    "html htm xhtml vue svelte astro erb ejs jsp jspx asp aspx ascx cshtml razor hbs handlebars mustache twig j2 jinja"
    " jinja2 tpl njk liquid haml slim pug"
)

_BATCH = "bat cmd"
_SHELLS = "sh bash zsh ksh dash ash fish csh bats command mk mak make ebuild zsh-theme"

_SETTINGS = (
    "ini cfg conf cnf properties toml xml xsd plist config csproj vbproj props targets pom resx editorconfig netrc"
    " desktop service timer socket npmrc pypirc yarnrc tfrc reg strings"
)

_NAMES = {
    **dict.fromkeys(
        ("rakefile", "gemfile", "vagrantfile", "podfile", "fastfile", "guardfile", "capfile", "brewfile"), "rb"
    ),
    **dict.fromkeys(("makefile", "gnumakefile", "justfile", "procfile", "pkgbuild"), "sh"),
    **dict.fromkeys((".bashrc", ".zshrc", ".profile", ".bash_profile", ".zshenv", ".envrc", "configure"), "sh"),
    **dict.fromkeys(("pre-commit", "pre-push", "post-checkout", "post-merge", "commit-msg", "pre-receive"), "sh"),
    **dict.fromkeys(("sconstruct", "sconscript", "tiltfile", "snakefile", "wscript"), "py"),
    "jenkinsfile": "groovy",
}

PROGRAMS = (
    ("python", "py"),
    ("node", "js"),
    ("deno", "js"),
    ("bun", "js"),
    ("ruby", "rb"),
    ("perl", "pl"),
    ("php", "php"),
    ("lua", "lua"),
    ("pwsh", "ps1"),
    ("elixir", "exs"),
    ("escript", "erl"),
    ("Rscript", "r"),
    ("julia", "jl"),
    ("groovy", "groovy"),
    ("swift", "swift"),
    ("ssh", "sh"),
    ("bash", "sh"),
    ("zsh", "sh"),
    ("dash", "sh"),
    ("ksh", "sh"),
    ("sh", "sh"),
    ("awk", "awk"),
    ("tclsh", "tcl"),
)

LANGUAGES: dict[str, Grammar | str] = {
    **{each: row for row, names in _ROWS for each in names.split()},
    **dict.fromkeys(_MARKUP.split(), "markup"),
    **dict.fromkeys(_SHELLS.split(), "shell"),
    **dict.fromkeys(_BATCH.split(), "batch"),
    **dict.fromkeys(("dockerfile", "containerfile"), "docker"),
    **dict.fromkeys(_SETTINGS.split(), "scalar"),
    **dict.fromkeys(("yaml", "yml"), "yaml"),
    **dict.fromkeys(
        ["json", "jsonc", "json5", "jsonl", "ndjson", "geojson", "webmanifest", "code-workspace", "har", "tfstate"],
        "json",
    ),
    "env": "dotenv",
}

TESTED = frozenset(LANGUAGES[each] for each in ["py", "js", "rb", "php", "pl", "swift", "cs", "java", "kt", "go", "rs"])
"""The rows that are compared with other lexers in tests of generated programs; so are shells."""

_DATA = frozenset(
    (
        *("md", "markdown", "txt", "text", "rst", "adoc", "asciidoc", "csv", "tsv", "log", "pem", "key", "crt", "cer"),
        *("csr", "p8", "ppk", "asc", "pub", "pgpass", "htpasswd", "netrc"),
    )
)
"""Extensions of files that nothing runs."""

_DATA_NAMES = frozenset(
    ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".pgpass", ".htpasswd", ".git-credentials")
)

_PROGRAM_NAMES = frozenset(
    (
        *("cmakelists.txt", "meson_options.txt", "package.json", "composer.json", "deno.json", "deno.jsonc"),
        *("tasks.json", "launch.json", "devcontainer.json"),
    )
)
"""Files that run something, whatever their extension says."""

_PLAIN_SETTINGS = frozenset(["ini", "cfg", "conf", "cnf", "properties", "toml", "npmrc", "pypirc", "yarnrc", "env"])
_TREES = frozenset(("xml", "config", "plist"))
_PLAIN_SHELLS = frozenset(("sh", "bash", "zsh", "ksh", "dash", "ash"))
Trust = Literal["tested", "shell", "settings", "yaml", "json", "xml", "data", "nothing"]


def trust_in(path: str, text: str = "") -> Trust:
    """By which kind of evidence a mask in such a file hides no code; ``nothing`` where none is enough."""
    name = path.rpartition("/")[2].lower()
    last = name.rpartition(".")[2] if "." in name else ""
    row = language_of(path, text)
    if name in _PROGRAM_NAMES or last in ("inc", "module"):
        return "nothing"
    if row in TESTED:
        return "tested"
    if row in ("yaml", "json"):
        return "yaml" if row == "yaml" else "json"
    if row == "docker" or (row == "shell" and (last in _PLAIN_SHELLS or name in _NAMES or text.startswith("#!"))):
        return "shell"
    if row == "dotenv" or last in _PLAIN_SETTINGS:
        return "settings"
    if last in _TREES:
        return "xml"
    is_data = name in _DATA_NAMES or (row == "prose" and last in _DATA)
    return "data" if is_data else "nothing"


_SAMPLE_OF = frozenset(["example", "sample", "template", "tmpl", "dist", "in", "bak", "orig", "erb", "j2", "tpl"])


def language_of(path: str, text: str = "") -> Grammar | str:
    """The rules that a file is read by: of its name, or else of its first line's interpreter."""
    name = path.rpartition("/")[2].lower()
    for known in (
        name,
        name.partition(".")[0] if name.startswith(("dockerfile.", "makefile.", "jenkinsfile.")) else "",
    ):
        if known in _NAMES or known in ("dockerfile", "containerfile"):
            return LANGUAGES[_NAMES.get(known, known)]
    if name == ".env" or name.startswith(".env.") or name.endswith((".env", ".env.example")):
        return "dotenv"
    rest, dot, last = name.rpartition(".")
    while last in _SAMPLE_OF and "." in rest:
        rest, dot, last = rest.rpartition(".")
    if dot and last in LANGUAGES:
        return LANGUAGES[last]
    if text.startswith("#!"):
        words = text[: text.find("\n") if "\n" in text else len(text)][:200]
        return next((LANGUAGES[each] for program, each in PROGRAMS if program in words), _OTHER)
    return "prose"

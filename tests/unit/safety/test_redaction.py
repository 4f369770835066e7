import base64
import html
import json
import string
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.answers import PostVerifyResult
from review_advisor.agents.calls import Answered
from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.redaction import Redactor, redactor
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.safety.secrets import REDACTED, mark
from review_advisor.safety.stop import ConsultRecord, Receipt

TOKEN = "Zq7_pX2-mW9kLv4TbN8sYd3R"
SECRETS = {
    "token": TOKEN,
    "with signs": "p$ss/w0rd+(x)[y]",
    "passphrase": "the-stubs-api-key-that-no-prompt-may-carry",
    "not ascii": "pässwört-4711-ünsafe",
    "like a path": "/wJalrXUtnFEMI/K7MDENG/bPxRfiCY",
    "eight characters": "aB3$xY7!",
    "a number": "948372615049",
}


def knows(*values: str) -> Redactor:
    return redactor({f"SOME_{number}_TOKEN": value for number, value in enumerate(values)})


def forms(secret: str) -> dict[str, str]:
    raw = secret.encode()
    encoded = {f"base64 at {before}": base64.b64encode(b"a: "[:before] + raw + b"\n").decode() for before in range(3)}
    whole = {
        "plain": secret,
        "hex": raw.hex(),
        "HEX": raw.hex().upper(),
        **encoded,
        "urlsafe": base64.urlsafe_b64encode(raw).decode(),
    }
    return whole | {f"{name} reversed": text[::-1] for name, text in whole.items()}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
def test_a_secret_of_ours_is_found_in_every_form(secret: str) -> None:
    for form, text in forms(secret).items():
        left = knows(secret).redact(f"print({text})\nnext = 1\n")
        assert REDACTED in left, form
        kept = left.replace(REDACTED, "")
        assert not any(text[at : at + 8] in kept for at in range(len(text) - 7)), form
        assert left.endswith(")\nnext = 1\n"), form


def test_of_a_token_with_a_public_beginning_the_private_part_goes() -> None:
    for form, text in forms("sk-ant-api03-" + TOKEN).items():
        left = knows("sk-ant-api03-" + TOKEN).redact(f"print({text})")
        assert len(left) <= len("print()") + len(REDACTED) + len(b"sk-ant-api03-".hex()) + 2, form


@pytest.mark.parametrize("secret", [*SECRETS.values(), "a<b>&\"c'd\\e+f g=h%i", "+/start4711/with+signs="])
@pytest.mark.parametrize(
    "escaped",
    [lambda text: json.dumps(text)[1:-1], html.escape, quote, lambda text: quote(text, safe="")],
    ids=["JSON", "HTML", "path of a URL", "part of a URL"],
)
def test_a_whole_secret_is_found_with_its_signs_escaped(secret: str, escaped: Callable[[str], str]) -> None:
    assert knows(secret).redact(f"see '{escaped(secret)}'.") == f"see '{REDACTED}'."


@pytest.mark.parametrize("form", ["plain", "hex", "plain reversed", "base64 at 0"])
def test_a_piece_that_lacks_one_end_is_found(form: str) -> None:
    """A key printed without its first seven characters once dodged a scanner."""
    text = forms(TOKEN)[form]
    for cut in range(1, len(TOKEN) - 7):
        for piece in (text[:-cut], *([text[cut:]] if form != "base64 at 0" else [])):
            assert REDACTED in knows(TOKEN).redact(f"see {piece} there"), piece


@pytest.mark.parametrize(
    "value",
    [
        "production",
        "Production",
        "12345678",
        "disabled",
        "a b c d e",
        "********************",
        "=" * 40,
        "abababababab1",
    ],
)
def test_a_value_that_may_be_a_word_removes_nothing(value: str) -> None:
    text = f"mode = '{value}'  # {value}\n" + value * 3
    assert knows(value).redact(text) == text


def test_the_first_words_of_a_long_value_stay_words() -> None:
    secret = "production-database-password-2024"
    text = "production = Production-data; database; password; 2024\n"
    assert knows(secret).redact(text) == text
    assert knows(secret).redact(f"x = '{secret}'") == f"x = '{REDACTED}'"


def test_what_every_token_of_its_kind_begins_with_stays() -> None:
    text = "tokens begin with sk-ant-api03- or github_pat_ or eyJhbGciOiJIUzI1NiJ9"
    assert (
        knows("sk-ant-api03-" + TOKEN, "github_pat_" + TOKEN, "eyJhbGciOiJIUzI1NiJ9.eyJ" + TOKEN).redact(text) == text
    )


HOLD_SECRETS = """
    GITHUB_TOKEN ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN dbPassword AWS_SECRET_ACCESS_KEY PAT MYSQL_PWD GOOGLE_CREDS
    AZURE_CREDENTIALS SSHKEY ENCRYPTIONKEY ACCESSKEY GH_APP_PEM SLACK_WEBHOOK FILE_PASSWORD PATH_TOKEN
"""
HOLD_NONE = """
    PATH GIT_AUTHOR_NAME KEYBOARD MONKEY PWD OLDPWD COMPASS HYDRAFLOW_MODEL TOKEN_FILE SSH_AUTH_SOCK SIGNING_KEY_PATH
    SECRETS_DIR CREDENTIALS_DIRECTORY GOOGLE_APPLICATION_CREDENTIALS CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE
"""


def test_a_variables_name_tells_whether_it_holds_a_secret() -> None:
    for value in (TOKEN, f"/{TOKEN}"):
        known = [name for name in HOLD_SECRETS.split() if redactor({name: value}).redact(value) == REDACTED]
        assert known == HOLD_SECRETS.split()
    assert [name for name in HOLD_NONE.split() if redactor({name: TOKEN}).own is not None] == []


def test_a_path_is_no_secret_and_a_password_in_a_url_is_one() -> None:
    found = redactor({"TOKEN_FILE": "/run/secrets/token-4711", "HTTPS_PROXY": f"http://ada:{TOKEN}@proxy:3128"})
    assert found.redact(f"/run/secrets/token-4711 {TOKEN}") == f"/run/secrets/token-4711 {REDACTED}"


def test_of_a_secret_url_the_host_stays() -> None:
    known = redactor({"SLACK_WEBHOOK_URL": f"https://hooks.slack.com/services/T0/B0/{TOKEN}"})
    text = "post to https://hooks.slack.com/services/T1/B1/x"
    assert known.redact(text) == text
    assert known.redact(f"https://hooks.slack.com/services/T0/B0/{TOKEN}") == f"https://hooks.slack.com/{REDACTED}"
    assert known.redact(f"token={TOKEN}") == f"token={REDACTED}"


def test_of_a_value_of_many_lines_every_long_run_is_known() -> None:
    lines = [f"{letter}{TOKEN}{letter}" for letter in "abc"]
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
    diff = "\n".join(f"+{line}" for line in lines) + "\n+run()\n"
    assert redactor({"SIGNING_KEY": key}).redact(diff) == f"+{REDACTED}\n" * 3 + "+run()\n"


LINES = st.text(alphabet=string.printable + TOKEN, max_size=80) | st.sampled_from(list(forms(TOKEN).values()))


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_no_line_disappears(text: str) -> None:
    assert knows(TOKEN).redact(text).count("\n") == text.count("\n")


@given(st.text(alphabet=string.ascii_letters + string.digits + "+/=_- \n", max_size=400))
def test_a_text_without_a_secret_stays_as_it_is(text: str) -> None:
    assert knows(TOKEN).redact(text) == Redactor().redact(text)


def test_a_redacted_text_stays_as_it_is() -> None:
    once = knows(TOKEN).redact("\n".join(forms(TOKEN).values()))
    assert knows(TOKEN).redact(once) == once


@pytest.mark.parametrize("signs", ["+", "-", "++", "-+"])
def test_a_secret_of_the_change_is_known_again_behind_the_sign_of_a_line(signs: str) -> None:
    """The rendered diff has one before each line, and some of them are letters of base64."""
    file = FileChange(Status.ADDED, "a.py", hunks=(Hunk(0, 0, 1, 1, "", (f'+api_key = "{TOKEN}"',)),))
    known = Redactor().knowing([file])
    assert known.redact(f"41 {signs}{TOKEN}\n") == f"41 {signs}{mark('key')}\n"
    assert known.redact(f"41 {signs}{'-' * 40}") == f"41 {signs}{'-' * 40}"


@dataclass(frozen=True)
class Box:
    words: tuple[str, ...]
    role: Role
    answer: PostVerifyResult
    reply: Answered


def test_every_text_of_a_value_is_redacted_and_nothing_else_changes() -> None:
    record = ConsultRecord("toolu_1", f"is {TOKEN} real?", "answered", reply=TOKEN)
    answer = PostVerifyResult(verdict="VETO", reasoning=f"it prints {TOKEN}")
    reply = Answered({TOKEN: [1, {"deep": TOKEN}]}, Receipt(consults=(record,)))
    made = knows(TOKEN).everywhere(Box(("plain", TOKEN), Role.EXECUTOR, answer, reply))
    assert TOKEN not in repr(made)
    assert made.words == ("plain", REDACTED)
    assert made.role is Role.EXECUTOR
    assert (made.answer.verdict, made.answer.reasoning) == ("VETO", f"it prints {REDACTED}")
    assert json.loads(json.dumps(made.reply.value)) == {REDACTED: [1, {"deep": REDACTED}]}
    assert made.reply.receipt.consults[0].question == f"is {REDACTED} real?"


def test_a_redactor_never_shows_what_it_knows() -> None:
    assert TOKEN[:8] not in repr(knows(TOKEN))


@dataclass(frozen=True)
class Inner:
    words: tuple[str, ...]


@dataclass(frozen=True)
class Everything:
    """Each way in which text can stand in a value."""

    number: int
    fixed: Literal["a", "b"]
    surface: Surface
    plain: str
    perhaps: str | None
    anything: Any
    inner: Inner
    mapped: dict[str, object]


def test_text_is_found_wherever_a_field_may_hold_it() -> None:
    secret = "ghp_" + "A1b2C3d4" * 4
    value = Everything(1, "a", Surface.PR_REVIEW, secret, secret, [secret], Inner((secret,)), {"key": secret})
    it = f"{mark('GitHub token')}_[*]"
    told = Redactor().everywhere(value)
    assert told == Everything(1, "a", Surface.PR_REVIEW, it, it, [it], Inner((it,)), {"key": it})
    assert secret not in str(told)

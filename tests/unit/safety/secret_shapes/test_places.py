"""Passwords that are known by their place: an option, a header, a URL, a file of passwords, a table, a sentence."""

from __future__ import annotations

import base64

import pytest
from benchmarks._secret_samples import HEX, WITH_SIGNS, Draw, left

from review_advisor.safety.assigned_secrets import FROM_AWS
from review_advisor.safety.secret_issuers import FORMATS, PAIRS
from review_advisor.safety.secrets import KINDS, mark, redact, secrets_in

LONG = "hG7kLm9xQ2pR4tWz"
SHORTEST = "hG7kL9xQ"
PASSWORD, IN_URL = mark("password"), mark("password in a URL")
OPTIONS = [
    "curl -u ada:{} https://example.net/",
    "curl -u 'ada:{}' https://example.net/",
    'curl -u "ada:{}" https://example.net/',
    "curl -u=ada:{}",
    "curl --user ada:{}",
    "curl --user=ada:{}",
    "curl --user 'ada.b@c-d:{}'",
    "curl --proxy-user ada:{}",
    "curl --proxy-user=ada:{}",
    "mysql -u root -p{}",
    "mysql -p{} -h db",
    "mysql -p'{}' shop",
    "mysqldump --quick\t-p{} shop",
    'mysqladmin -p"{}" ping',
    "mariadb -u root -p{}",
    "mariadb-dump -p'{}' shop",
    "kubectl create secret generic db --from-literal=licence={}",
    "kubectl create secret generic db --from-literal region=eu --from-literal='licence={}'",
    "sshpass -p {} ssh ada@host",
    "sshpass -p{} ssh ada@host",
    "sshpass -p '{}' ssh ada@host",
    "redis-cli -a {} ping",
    "redis-cli -h cache -a '{}' ping",
]


@pytest.mark.parametrize("command", OPTIONS)
def test_the_password_of_each_commands_option_goes_and_whatever_is_none_stays(command: str) -> None:
    """None is too short a value, words, a variable and a placeholder."""
    for password in (SHORTEST, LONG):
        assert redact(command.format(password)) == command.format(PASSWORD)
    for value in (SHORTEST[:-1], "correct-horse-battery", "$DB_PASSWORD_V2", "changeme1234XyZ"):
        assert redact(command.format(value)) == command.format(value)


@pytest.mark.parametrize(
    "text",
    [
        f"mysql -h db | tee -p{LONG}",
        f"mysql -h db; x -p{LONG}",
        f"mysql -h db\nx -p{LONG}",
        f"mysql-p{LONG}",
        f"mariadb -h db | tee -p{LONG}",
        f"redis-cli ping | x -a {LONG}",
        f"redis-cli ping\nx -a {LONG}",
        f"sshpass -v -p {LONG}",
        f"curl-u ada:{LONG}",
        f"tool -a {LONG}",
        f"tool -p{LONG}",
        f"tool -p {LONG}",
    ],
)
def test_the_same_option_of_another_command_takes_no_password(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("port", ["5432", "99", "12345", "*"])
def test_a_line_of_a_file_of_passwords_loses_its_last_field(port: str) -> None:
    assert redact(f"db.local:{port}:shop:ada:{LONG}\n") == f"db.local:{port}:shop:ada:{PASSWORD}\n"
    assert redact(f"db.local:{port}:shop:ada:{SHORTEST[:-1]}\n") == f"db.local:{port}:shop:ada:{SHORTEST[:-1]}\n"


@pytest.mark.parametrize("place", ["db:1:shop:ada:{}", "db:123456:shop:ada:{}", "db:x:shop:ada:{}", "db:54:shop:{}"])
def test_what_has_other_fields_is_no_file_of_passwords(place: str) -> None:
    assert redact(place.format(LONG)) == place.format(LONG)


@pytest.mark.parametrize(
    "place", ["Authorization: Basic {}", "authorization: basic {}", "BASIC {}", '"auth": "{}"', '"auth" : "{}"']
)
def test_the_base64_of_a_user_and_a_password_goes(place: str) -> None:
    def encoded(text: str) -> str:
        return place.format(base64.b64encode(text.encode()).decode())

    assert redact(encoded(f"ada:{LONG}")) == place.format(PASSWORD)
    for harmless in (f":{LONG}", f"ada{LONG}", "ada:correct-horse", f"ada:{SHORTEST[:-1]}", f"é:{LONG}"):
        assert redact(encoded(harmless)) == encoded(harmless)


@pytest.mark.parametrize("slashes", ["//", "\\/\\/", "\\\\/\\\\/"])
@pytest.mark.parametrize("host", ["example.net", "[::1]", "$HOST"])
def test_the_password_of_a_url_goes(slashes: str, host: str) -> None:
    for user in ("", "ada"):
        assert redact(f"db:{slashes}{user}:{SHORTEST}@{host}/x") == f"db:{slashes}{user}:{IN_URL}@{host}/x"
    short = f"db:{slashes}ada:{SHORTEST[:-1]}@{host}/x"
    assert redact(short) == short


@pytest.mark.parametrize("user, shown", [(LONG, IN_URL), (LONG[:-1], LONG[:-1]), ("continuous-integration",) * 2])
def test_a_user_of_sixteen_random_characters_or_more_is_a_token(user: str, shown: str) -> None:
    assert redact(f"https://{user}@example.net/a.git") == f"https://{shown}@example.net/a.git"


@pytest.mark.parametrize("text", [f"://ada:{LONG}@", f"://ada:{LONG}", f":ada:{LONG}@x", f"https:/ada:{LONG}@x/"])
def test_what_is_no_whole_url_has_no_password(text: str) -> None:
    assert redact(text) == text


def test_every_kind_that_a_mark_may_name_is_listed_once() -> None:
    of_tables = {form.kind for form in FORMATS} | {pair.kind for pair in PAIRS}
    by_name_or_place = {"private key", "password", "token", "key", "secret", "password in a URL"}
    assert set(KINDS) == of_tables | by_name_or_place
    assert FROM_AWS in KINDS
    assert len(KINDS) == len(set(KINDS))


# --- each way to give one, for many values ----------------------------------------------------------------------------


GIVEN = [
    "kind: Secret\nstringData:\n  anything: {}\n",
    "password: ${{X:{}}}\n",
    "Driver=x;PWD={{{}}};\n",
    "Passwort: {}\n",
    "contraseña = {}\n",
    "mot_de_passe={}\n",
    "senha: {}\n",
    "пароль: {}\n",
    "密码\uff1a{}\n",
    "user,password\nada,{}\n",
    "| User | Password |\n|---|---|\n| ada | {} |\n",
    "The password is {}, keep it.\n",
    'connect("ada", "{}")\n',
    "zip -P {} a.zip a\n",
    "CREATE USER a IDENTIFIED BY '{}';\n",
]


@pytest.mark.parametrize("given", GIVEN)
def test_a_password_goes_however_it_is_given(given: str) -> None:
    draw = Draw(given)
    values = [draw.word(20) for _ in range(50)]
    assert sum(left(value, redact(given.format(value))) != "" for value in values) <= 1


def test_a_secret_of_kubernetes_goes_in_base64() -> None:
    draw = Draw("kubernetes")
    for _ in range(20):
        value = base64.b64encode(draw.of(WITH_SIGNS, 24).encode()).decode()
        assert left(value, redact(f"kind: Secret\ndata:\n  anything: {value}\n")) == ""


def test_a_known_token_goes_in_base64_and_in_percent_codes() -> None:
    draw = Draw("encoded")
    for _ in range(20):
        token = f"ghp_{draw.word(36)}"
        for written in (base64.b64encode(token.encode()).decode(), "".join(f"%{ord(each):02X}" for each in token)):
            assert written not in redact(f"a: {written}\n")


def test_a_key_in_a_file_of_its_own_is_known_by_the_path() -> None:
    key = Draw("rails").of(HEX, 32)
    assert secrets_in(f"{key}\n", "config/master.key") == [(0, 32, "key")]
    assert secrets_in(f"{key}\n", "docs/commit.txt") == []

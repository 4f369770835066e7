"""Each way in which a secret is given is recognised for many values, not for one sample."""

from __future__ import annotations

import base64

import pytest
from benchmarks._secret_samples import HEX, WITH_SIGNS, Draw, left

from review_advisor.safety.secrets import redact, secrets_in

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

"""Made-up secrets in the public formats of their issuers, and the contexts in which secrets are committed.

Written from the issuers' formats, apart from the table that the recogniser uses: what one of them gets wrong shows.
"""

from __future__ import annotations

import base64
import json
import re
import string
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from urllib.parse import quote, unquote

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
WORD = LOWER + UPPER + DIGITS
URL64 = WORD + "-_"
BASE64 = WORD + "+/"
HEX = DIGITS + "abcdef"
BASE36 = LOWER + DIGITS
WITH_SIGNS = WORD + "!@#$%^&*-_"
"""What password generators draw from."""
NEUTRAL = "setting"
"""A name that tells nothing: what is found under it is found by its own form."""


class Draw(Random):
    """Random texts."""

    def of(self, alphabet: str, length: int) -> str:
        """So many characters of an alphabet."""
        return "".join(self.choices(alphabet, k=length))

    def word(self, length: int) -> str:
        """Letters and digits."""
        return self.of(WORD, length)

    def uuid(self) -> str:
        """A UUID."""
        return "-".join(self.of(HEX, length) for length in (8, 4, 4, 4, 12))


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret. ``name`` is what it is assigned to; ``bare`` says what of a sample is the secret itself."""

    issuer: str
    make: Callable[[Draw], str]
    name: str = NEUTRAL
    bare: Callable[[str], str] = str


def _after(issuer: str, prefix: str, alphabet: str, length: int, name: str = NEUTRAL) -> Shape:
    return Shape(issuer, lambda draw: prefix + draw.of(alphabet, length), name, lambda made: made[len(prefix) :])


def _under(issuer: str, name: str, alphabet: str, length: int) -> Shape:
    return Shape(issuer, lambda draw: draw.of(alphabet, length), name)


_FIRST_BYTES = {
    "RSA PRIVATE KEY": bytes.fromhex("308204a40201000282010100"),
    "PRIVATE KEY": bytes.fromhex("308204bd020100300d06092a864886f70d0101010500048204a7308204a3"),
    "EC PRIVATE KEY": bytes.fromhex("30770201010420"),
    "OPENSSH PRIVATE KEY": b"openssh-key-v1\0"
    + b"\0\0\0\4none" * 2
    + b"\0\0\0\0\0\0\0\1\0\0\0\x33\0\0\0\x0bssh-ed25519\0\0\0 ",
    "ENCRYPTED PRIVATE KEY": bytes.fromhex("3082051c304e06092a864886f70d01050d3041302906092a864886f70d01050c"),
    "DSA PRIVATE KEY": bytes.fromhex("308201bb02010002818100"),
    "PGP PRIVATE KEY BLOCK": bytes.fromhex("9503980463"),
}


def pem(draw: Draw, kind: str = "RSA PRIVATE KEY", columns: int = 64, lines: int = 12) -> str:
    """A private key's text, of random bytes behind the ones that such a key begins with."""
    length = columns * lines * 3 // 4 + draw.randrange(6, columns * 3 // 4 - 3)
    body = base64.b64encode(_FIRST_BYTES.get(kind, b"") + draw.randbytes(length)).decode()
    return f"-----BEGIN {kind}-----\n{textwrap.fill(body, columns)}\n-----END {kind}-----\n"


def body_of(key: str) -> str:
    """What stands between the first and the last line of a key."""
    return "".join(key.split("\n")[1:-2])


def _password(draw: Draw, alphabet: str = WORD) -> str:
    return draw.of(alphabet, draw.randrange(12, 24))


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _entry(draw: Draw) -> str:
    """What Docker's configuration holds of a registry."""
    return f'"auth": "{_base64(f"ada:{_password(draw)}")}"'


def _url(draw: Draw, scheme: str) -> str:
    return f"{scheme}://service:{_password(draw)}@db.internal:5432/main"


def _in_url(made: str) -> str:
    return made.split(":")[2].partition("@")[0]


TOKENS: tuple[Shape, ...] = (
    *(_after("GitHub", f"gh{kind}_", WORD, 36) for kind in "pousr"),
    _after("GitHub fine-grained", "github_pat_", WORD, 82),
    *(_after("GitLab", f"gl{kind}-", URL64, 20) for kind in ("pat", "dt", "rt", "ft", "soat", "ffct")),
    _after("Atlassian", "ATATT3xFfGF0", WORD + "_-=", 180),
    _after("Bitbucket", "ATBB", WORD, 32),
    _after("Buildkite", "bkua_", HEX, 40),
    _after("CircleCI", "CCIPAT_", WORD, 62),
    _after("SonarQube", "sqp_", HEX, 40),
    _after("Sourcegraph", "sgp_", HEX, 40),
    _after("Artifactory", "AKCp", WORD, 69),
    Shape("Postman", lambda d: f"PMAK-{d.of(HEX, 24)}-{d.of(HEX, 34)}", bare=lambda made: made[5:]),
    _after("Octopus Deploy", "API-", UPPER + DIGITS, 26),
    Shape("Harness", lambda d: f"pat.{d.of(WORD, 22)}.{d.of(WORD, 24)}.{d.of(WORD, 20)}", bare=lambda made: made[4:]),
    _after("npm", "npm_", WORD, 36),
    _after("PyPI", "pypi-AgEIcHlwaS5vcmc", URL64, 140),
    _after("RubyGems", "rubygems_", HEX, 48),
    _after("crates.io", "cio", WORD, 32),
    _after("NuGet", "oy2", BASE36, 43),
    _after("Docker Hub", "dckr_pat_", URL64, 27),
    _after("Clojars", "CLOJARS_", BASE36, 60),
    _after("AWS access key id", "AKIA", UPPER + "234567", 16),
    _after("AWS temporary key id", "ASIA", UPPER + "234567", 16),
    _after("AWS Bedrock", "ABSK", BASE64, 128),
    _after("Google API", "AIza", URL64, 35),
    _after("Google OAuth", "ya29.", URL64, 120),
    _after("Google OAuth client", "GOCSPX-", URL64, 28),
    Shape("Azure AD", lambda d: f"{d.of(WORD, 3)}8Q~{d.of(WORD + '._', 34)}"),
    Shape("Azure resource", lambda d: f"{d.of(WORD, 52)}JQQJ99{d.of(WORD, 26)}"),
    Shape("Azure Storage", lambda d: f"AccountName=store;AccountKey={d.of(BASE64, 86)}==", bare=lambda made: made[29:]),
    _after("DigitalOcean", "dop_v1_", HEX, 64),
    _after("Heroku", "HRKU-AA", URL64, 58),
    _after("Fly.io", "fm2_", BASE64, 160),
    _after("Netlify", "nfp_", WORD, 36),
    Shape("Cloudflare origin", lambda d: f"v1.0-{d.of(HEX, 24)}-{d.of(HEX, 146)}", bare=lambda made: made[5:]),
    _after("Alibaba Cloud", "LTAI", WORD, 20),
    _after("Tencent Cloud", "AKID", WORD, 32),
    _after("Yandex Cloud", "AQVN", URL64, 36),
    _after("Tailscale", "tskey-auth-", WORD, 33),
    _after("Vault", "hvs.", URL64, 92),
    Shape("Terraform Cloud", lambda d: f"{d.of(WORD, 14)}.atlasv1.{d.of(WORD, 67)}", bare=lambda made: made[23:]),
    _after("Pulumi", "pul-", HEX, 40),
    _after("Doppler", "dp.pt.", WORD, 43),
    _after("1Password service", "ops_eyJ", WORD, 260),
    _after("age", "AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    _after("OpenShift", "sha256~", URL64, 43),
    _after("Databricks", "dapi", HEX, 32),
    _after("Prefect", "pnu_", WORD, 36),
    _after("New Relic", "NRAK-", UPPER + DIGITS, 27),
    Shape("Grafana", lambda d: f"glsa_{d.of(WORD, 32)}_{d.of(HEX, 8)}", bare=lambda made: made[5:37]),
    _after("Grafana Cloud", "glc_", WORD, 100),
    _after("Sentry", "sntryu_", HEX, 64),
    Shape(
        "Dynatrace",
        lambda d: f"dt0c01.{d.of(UPPER + DIGITS, 24)}.{d.of(UPPER + DIGITS, 64)}",
        bare=lambda made: made[32:],
    ),
    _after("Honeycomb", "hcaik_", BASE36, 58),
    Shape("LaunchDarkly", lambda d: f"sdk-{d.uuid()}", bare=lambda made: made[4:]),
    _after("Anthropic", "sk-ant-api03-", URL64, 95),
    Shape("OpenAI", lambda d: f"sk-proj-{d.of(URL64, 74)}T3BlbkFJ{d.of(URL64, 74)}", bare=lambda made: made[8:]),
    Shape("OpenAI, older", lambda d: f"sk-{d.of(WORD, 20)}T3BlbkFJ{d.of(WORD, 20)}", bare=lambda made: made[3:]),
    _after("OpenRouter", "sk-or-v1-", HEX, 64),
    _after("Hugging Face", "hf_", LOWER + UPPER, 34),
    _after("Groq", "gsk_", WORD, 52),
    _after("Perplexity", "pplx-", WORD, 48),
    _after("xAI", "xai-", WORD, 80),
    _after("Replicate", "r8_", WORD, 37),
    _after("NVIDIA", "nvapi-", URL64, 64),
    Shape("LangSmith", lambda d: f"lsv2_pt_{d.of(HEX, 32)}_{d.of(HEX, 10)}", bare=lambda made: made[8:40]),
    _after("Pinecone", "pcsk_", WORD, 68),
    Shape(
        "Slack", lambda d: f"xoxb-{d.of(DIGITS, 12)}-{d.of(DIGITS, 12)}-{d.of(WORD, 24)}", bare=lambda made: made[5:]
    ),
    Shape(
        "Slack app",
        lambda d: f"xapp-1-A{d.of(UPPER + DIGITS, 10)}-{d.of(DIGITS, 13)}-{d.of(HEX, 64)}",
        bare=lambda made: made[34:],
    ),
    Shape(
        "Slack webhook",
        lambda d: f"https://hooks.slack.com/services/T{d.of(UPPER, 8)}/B{d.of(UPPER, 8)}/{d.of(WORD, 24)}",
        bare=lambda made: made[-24:],
    ),
    Shape(
        "Discord webhook",
        lambda d: f"https://discord.com/api/webhooks/{d.of(DIGITS, 18)}/{d.of(URL64, 68)}",
        bare=lambda made: made[-68:],
    ),
    Shape("Discord bot", lambda d: f"MT{d.of(WORD, 24)}.{d.of(WORD, 6)}.{d.of(URL64, 38)}"),
    Shape("Telegram bot", lambda d: f"{d.of(DIGITS, 10)}:AA{d.of(URL64, 33)}", bare=lambda made: made[13:]),
    Shape("SendGrid", lambda d: f"SG.{d.of(URL64, 22)}.{d.of(URL64, 43)}", bare=lambda made: made[3:]),
    _after("Mailgun", "key-", HEX, 32),
    Shape("Mailchimp", lambda d: f"{d.of(HEX, 32)}-us{d.randrange(1, 22)}", bare=lambda made: made[:32]),
    Shape("Brevo", lambda d: f"xkeysib-{d.of(HEX, 64)}-{d.of(WORD, 16)}", bare=lambda made: made[8:]),
    _after("Twilio", "SK", HEX, 32),
    _after("Stripe", "sk_live_", WORD, 24),
    _after("Stripe restricted", "rk_live_", WORD, 24),
    _after("Stripe webhook", "whsec_", WORD, 32),
    _after("Square", "sq0atp-", URL64, 22),
    Shape(
        "Braintree",
        lambda d: f"access_token$production${d.of(BASE36, 16)}${d.of(HEX, 32)}",
        bare=lambda made: made[-32:],
    ),
    _after("Shopify", "shpat_", HEX, 32),
    Shape("Plaid", lambda d: f"access-production-{d.uuid()}", bare=lambda made: made[18:]),
    _after("EasyPost", "EZAK", WORD, 54),
    _after("Shippo", "shippo_live_", HEX, 40),
    _after("Duffel", "duffel_live_", URL64, 43),
    _after("PlanetScale", "pscale_tkn_", URL64, 43),
    _after("Supabase", "sbp_", HEX, 40),
    _after("Linear", "lin_api_", WORD, 40),
    _after("Notion", "ntn_", WORD, 46),
    Shape("Airtable", lambda d: f"pat{d.of(WORD, 14)}.{d.of(HEX, 64)}", bare=lambda made: made[18:]),
    _after("Figma", "figd_", URL64, 40),
    _after("Contentful", "CFPAT-", URL64, 43),
    _after("Typeform", "tfp_", URL64, 59),
    Shape("HubSpot", lambda d: f"pat-na1-{d.uuid()}", bare=lambda made: made[8:]),
    _after("Facebook", "EAAC", WORD, 150),
    Shape("Mapbox", lambda d: f"sk.eyJ{d.of(WORD, 80)}.{d.of(WORD, 22)}", bare=lambda made: made[6:]),
    Shape("MaxMind", lambda d: f"{d.of(WORD, 6)}_{d.of(WORD, 29)}_mmk", bare=lambda made: made[:-4]),
    _after("ReadMe", "rdme_", BASE36, 70),
    Shape(
        "web token",
        lambda d: ".".join((_json64("alg", "HS256"), _json64("sub", d.word(9)), d.of(URL64, 43))),
        bare=lambda made: made[-43:],
    ),
)
"""Secrets that are known by their own form."""


def _json64(name: str, value: str) -> str:
    return base64.urlsafe_b64encode(json.dumps({name: value}).encode()).decode().rstrip("=")


NAMED: tuple[Shape, ...] = (
    _under("AWS secret", "aws_secret_access_key", BASE64, 40),
    _under("Datadog", "DATADOG_API_KEY", HEX, 32),
    _under("Datadog application", "dd_app_key", HEX, 40),
    _under("Cloudflare", "CLOUDFLARE_API_TOKEN", URL64, 40),
    _under("Fastly", "fastly_api_key", URL64, 32),
    _under("Twilio auth", "TWILIO_AUTH_TOKEN", HEX, 32),
    _under("Algolia", "algolia_admin_key", HEX, 32),
    _under("Okta", "OKTA_API_TOKEN", URL64, 42),
    _under("Twitch", "twitch_client_secret", BASE36, 30),
    _under("Spotify", "SPOTIFY_CLIENT_SECRET", HEX, 32),
    _under("PagerDuty", "pagerduty_token", WORD, 20),
    _under("Wandb", "WANDB_API_KEY", HEX, 40),
    _under("Mistral", "mistralApiKey", WORD, 32),
    _under("Codecov", "CODECOV_TOKEN", BASE36, 36),
    Shape("Heroku, older", lambda d: d.uuid(), "HEROKU_API_KEY"),
    Shape("Snyk", lambda d: d.uuid(), "snyk_token"),
    Shape("an AWS session token", lambda d: d.of(BASE64, d.randrange(280, 900)) + "==", "aws_session_token"),
    Shape("a long token", lambda d: d.of(WORD, 400), "access_token"),
    Shape("a Docker registry", _entry, bare=lambda made: made[9:-1]),
    Shape(
        "a registry of packages", lambda d: f"//npm.example.net/:_authToken={d.uuid()}", bare=lambda made: made[-36:]
    ),
    Shape("PostgreSQL's passwords", lambda d: f"db.internal:5432:main:ada:{_password(d)}", bare=lambda made: made[26:]),
    Shape("an option of MySQL", lambda d: f"mysql -u root -p{_password(d)}", bare=lambda made: made[16:]),
    Shape("an option of curl", lambda d: f"curl -u ada:{_password(d)}", bare=lambda made: made[12:]),
    Shape("a client secret", lambda d: d.word(32), "clientSecret"),
    Shape("a session key", lambda d: d.of(BASE64, 43) + "=", "session_key"),
    Shape("a signing key", lambda d: d.of(HEX, 64), "SIGNING_KEY"),
    Shape("an access token", lambda d: d.of(URL64, 40), "access_token"),
    *(
        Shape(f"a URL of {scheme}", partial(_url, scheme=scheme), "address", _in_url)
        for scheme in ("postgresql", "amqps", "https", "redis", "mongodb+srv")
    ),
)
"""Secrets that are known by their name or their place only."""

PASSWORDS: tuple[Shape, ...] = (
    Shape("a password", _password, "db_password"),
    Shape("a password with signs", partial(_password, alphabet=WITH_SIGNS), "db_password"),
    Shape("a password of letters", partial(_password, alphabet=LOWER + UPPER), "db_password"),
    Shape("a Kubernetes secret", lambda d: _base64(_password(d)), "password"),
    Shape("a root password", _password, "MYSQL_ROOT_PASSWORD"),
)
"""Passwords as generators draw them, under a telling name. Nothing makes sure that a digit is in one."""

KEYS: tuple[Shape, ...] = (
    *(
        Shape(
            f"{kind.lower()}, {columns} columns",
            partial(pem, kind=kind, columns=columns),
            bare=body_of,
        )
        for kind, columns in (
            ("PRIVATE KEY", 64),
            ("RSA PRIVATE KEY", 64),
            ("EC PRIVATE KEY", 48),
            ("OPENSSH PRIVATE KEY", 70),
            ("ENCRYPTED PRIVATE KEY", 76),
            ("DSA PRIVATE KEY", 32),
            ("PGP PRIVATE KEY BLOCK", 64),
        )
    ),
    Shape("base64 of a private key", lambda d: base64.b64encode(pem(d).encode()).decode(), bare=lambda made: made[60:]),
)
"""Keys of many lines."""

Context = Callable[[str, str, Draw], str]


def _python(name: str, secret: str, _draw: Draw) -> str:
    return f'{name} = """{secret}"""\n' if "\n" in secret else f'    {name} = "{secret}"\n'


def _javascript(name: str, secret: str, draw: Draw) -> str:
    if "\n" in secret:
        return f"const {name} = " + " +\n  ".join(f"'{line}\\n'" for line in secret.split("\n")) + ";\n"
    mark = draw.choice("'\"`")
    return f"const {name} = {mark}{secret}{mark};\n"


def _yaml(name: str, secret: str, _draw: Draw) -> str:
    if "\n" in secret:
        return f"spec:\n  {name}: |\n" + textwrap.indent(secret, "    ")
    return f"spec:\n  {name}: {secret}\n  other: 1\n"


def _dockerfile(name: str, secret: str, draw: Draw) -> str:
    value = json.dumps(secret) if "\n" in secret else secret
    return f"FROM alpine\nENV {name}{draw.choice(' =')}{value}\nRUN make\n"


def _wrapped(name: str, secret: str, draw: Draw) -> str:
    """Broken over lines, in one of the ways of source code."""
    if "\n" in secret:
        lines = secret.split("\n")
        return f"{name} = (\n" + "\n".join(f'    "{line}\\n"' for line in lines) + "\n)\n"
    cut = draw.randrange(3, len(secret) - 3)
    first, second = secret[:cut], secret[cut:]
    return draw.choice(
        (
            f'{name} = (\n    "{first}"\n    "{second}"\n)\n',
            f"const {name} = '{first}' +\n  '{second}';\n",
            f'{name} = "{first}" \\\n    "{second}"\n',
            f'String {name} = "{first}" + "{second}";\n',
            f'{name}="{first}\\\n{second}"\n',
            f"{name}: >-\n  {secret}\n",
        )
    )


CONTEXTS: dict[str, Context] = {
    "env": lambda name, secret, _draw: (
        f"A=1\nexport {name}={json.dumps(secret) if chr(10) in secret else secret}\nB=2\n"
    ),
    "JSON": lambda name, secret, _draw: json.dumps({"a": 1, name: secret, "b": 2}, indent=2) + "\n",
    "YAML": _yaml,
    "Python": _python,
    "JavaScript": _javascript,
    "Dockerfile": _dockerfile,
    "URL": lambda name, secret, _draw: (
        f"see https://example.net/v1/items?a=1&{name}={quote(secret, safe='')}&b=2 there\n"
    ),
    "log": lambda name, secret, _draw: f"2026-01-02T03:04:05Z INFO [main] sending {name}={secret} to 10.0.0.1\n",
    "wrapped": _wrapped,
    "escaped": lambda name, secret, _draw: json.dumps({"body": json.dumps({"a": 1, name: secret})}) + "\n",
}


def below_its_id(of: Context, draw: Draw) -> tuple[str, str]:
    """An AWS secret under a name that tells nothing, one line below its id; and the secret."""
    secret = draw.of(BASE64, 40)
    return of("first", "AKIA" + draw.of(UPPER + "234567", 16), draw) + of(NEUTRAL, secret, draw), secret


def as_diff(text: str) -> str:
    """The text as added lines of a diff, as the bot shows it."""
    return "".join(f"{'':7} {number:>7} +{line}\n" for number, line in enumerate(text.rstrip("\n").split("\n"), 118))


def left(secret: str, shown: str) -> str:
    """A piece of eight characters of the secret, or of half of a short one, that can still be read; or nothing."""
    length = min(8, -(-len(secret) // 2))
    pieces = (secret[at : at + length] for at in range(len(secret) - length + 1))
    texts = shown, unquote(shown)
    return next((piece for piece in pieces if any(piece in text for text in texts)), "")


_MORE_RUNS = re.compile(r"(?P<mark>\[secret: [^\]\n]{1,60}\])(?:(?!\[secret: )[^\w\s\"']{0,6}\[\*\])+")


def one_mark_each(shown: str) -> str:
    """A shown text with one mark for each secret: without the signs in it and the marks of its further runs."""
    return _MORE_RUNS.sub(lambda found: found["mark"], shown.replace("_[*]", "[*]"))

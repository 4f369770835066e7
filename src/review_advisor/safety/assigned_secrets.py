"""Secrets that a name gives away: the values of a password, a token, a key."""

from __future__ import annotations

import re
from collections.abc import Iterator

from review_advisor.safety.secret_reading import MARGIN, Words, looks_made_up

PASSWORD, TOKEN, KEY, SECRET = "password", "token", "key", "secret"
FROM_AWS = "AWS secret access key"
ASSIGNED_KINDS = (PASSWORD, TOKEN, KEY, SECRET)

_KEY_OF = re.compile(
    r"(?:api|access|account|admin|app|application|auth|client|consumer|crypt|data|deploy|encrypt|encryption|ingest"
    r"|ingestion|license|master|preshared|priv|private|secret|server|service|session|shared|sign|signing|ssh|storage|unseal"
    r"|subscription|webhook|write)[_\-. ]?\Z|(?<![a-z])[a-z]{1,12}_\Z"
)

_STEMS: tuple[tuple[str, str, re.Pattern[str] | None, re.Pattern[str]], ...] = (
    (
        "pass",
        PASSWORD,
        None,
        re.compile(
            r"(?:w(?:or)?[dt]|phrase|code|ord)|(?<!sshpass)(?<!bypass)(?<!compass)(?<!surpass)(?<!trespass)(?![a-z])"
        ),
    ),
    ("pw", PASSWORD, None, re.compile(r"(?<![a-z]pw)(?![a-z])")),
    ("psk", PASSWORD, None, re.compile(r"(?<![a-z]psk)(?![a-z])")),
    ("pwd", PASSWORD, None, re.compile("")),
    ("key", KEY, _KEY_OF, re.compile("")),
    ("token", TOKEN, None, re.compile("")),
    ("pat", TOKEN, None, re.compile(r"(?<![a-z]pat)(?![a-z])")),
    ("bearer", TOKEN, None, re.compile("")),
    ("jwt", TOKEN, None, re.compile("")),
    ("auth", TOKEN, None, re.compile(r"orization|(?<=_auth)(?![a-z0-9])")),
    ("secret", SECRET, None, re.compile("")),
    ("cred", SECRET, None, re.compile(r"ential|s(?![a-z])")),
    ("salt", SECRET, None, re.compile(r"(?<![a-z]salt)(?![a-z])")),
    # German, French, Spanish, Portuguese, Italian, Polish, Dutch and Northern languages; ``?`` is any other letter
    ("kennwort", PASSWORD, None, re.compile("")),
    ("geheim", SECRET, None, re.compile("")),
    ("schl", KEY, None, re.compile(r"(?:ue|\?)ssel")),
    ("passe", PASSWORD, re.compile(r"mot[_ -]?de[_ -]?\Z"), re.compile("")),
    ("mdp", PASSWORD, None, re.compile(r"(?<![a-z]mdp)(?![a-z])")),
    ("jeton", TOKEN, None, re.compile(r"(?<![a-z]jeton)(?![a-z])")),
    ("cle_", KEY, None, re.compile(r"(?<![a-z]cle_)(?:api|secr|priv)")),
    ("cl?_", KEY, None, re.compile(r"(?<![a-z]cl\?_)(?:api|secr|priv)")),
    ("contrase", PASSWORD, None, re.compile(r"(?:n\?|ny|[n?])a")),
    ("clave", PASSWORD, None, re.compile(r"(?<![a-z]clave)(?![a-z])")),
    ("llave", KEY, None, re.compile(r"(?<![a-z]llave)(?![a-z])")),
    ("senha", PASSWORD, None, re.compile(r"(?<![a-z]senha)(?![a-z])")),
    ("chave", KEY, None, re.compile(r"(?<![a-z]chave)(?![a-z])")),
    ("segre", SECRET, None, re.compile("[dt]o")),
    ("parol", PASSWORD, None, re.compile(r"(?<![a-z]parol)(?![a-z])")),
    ("ifre", PASSWORD, None, re.compile(r"(?<![a-z][s?]ifre)(?<=[s?]ifre)(?![a-z])")),
    ("parola", PASSWORD, None, re.compile(r"(?<![a-z]parola)(?![a-z])")),
    ("chiave", KEY, None, re.compile(r"(?<![a-z]chiave)(?![a-z])")),
    ("haslo", PASSWORD, None, re.compile(r"(?<![a-z]haslo)(?![a-z])")),
    ("has?o", PASSWORD, None, re.compile(r"(?<![a-z]has\?o)(?![a-z])")),
    ("heslo", PASSWORD, None, re.compile(r"(?<![a-z]heslo)(?![a-z])")),
    ("wachtwoord", PASSWORD, None, re.compile("")),
    ("senord", PASSWORD, None, re.compile("")),
    ("adgangskode", PASSWORD, None, re.compile("")),
)
"""The words that make a name tell of a secret: what may stand before, and what has to follow."""

_OF_OTHER_SCRIPTS = (
    (PASSWORD, re.compile("парол[ьяи]|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호", re.IGNORECASE)),
    (SECRET, re.compile("секрет|秘密|시크릿", re.IGNORECASE)),
    (TOKEN, re.compile("токен|令牌|トークン|토큰", re.IGNORECASE)),
    (KEY, re.compile("ключ|密钥|密鑰|秘钥|キー", re.IGNORECASE)),
)

_WORD_REST = re.compile(r"\w{0,20}+")
_REST = re.compile(r"[a-z0-9_\-.]{0,40}+")
_FEED = rf"(?:\n{MARGIN}[ \t]{{0,80}})?"
_NAME_ENDS = rf"{_REST.pattern}[\"'`]?[\])]?"

_OPERATOR = (
    r"[ \t]{0,20}(?:=>|:=|\?=|\|\|=?|\?\?=?|\?:|or(?= [\"'])|={1,3}|[:,(])[ \t]{0,20}"
    r"(?:[>|][-+]?(?=[ \t]{0,4}\n)|\((?=[ \t]{0,4}\n))?[ \t]{0,4}" + _FEED
)

_TYPE = r"[&*a-z][\w\[\]|.?&* ]{0,40}?"
_SCHEME = r"(?:(?:bearer|token|splunk|apikey|geniekey|bot|oauth)[ \t]{1,4}(?=[^ \t]))?"

_READINGS = tuple(
    re.compile(f"{_NAME_ENDS}(?:{given}){_SCHEME}")
    for given in (
        # XML, and lists of names and values; or an operator, perhaps before a new line
        r"[\"']?[ \t]{0,8},?[ \t]{0,8}"
        + _FEED
        + r"[\"']?value[\"']?[ \t]{0,8}[=:][ \t]{0,8}|>"
        + rf"|</(?:key|name)>{_FEED}[ \t]{{0,8}}<(?:string|value)>"
        rf"|{_OPERATOR}|[ \t]{{1,4}}",
        # a type before the operator
        rf"[ \t]{{0,20}}:[ \t]{{0,2}}{_TYPE}{_OPERATOR}|[ \t]{_TYPE}[ \t]{{0,20}}=[ \t]{{0,20}}",
    )
)
"""How a name is given a value. What may be a type may also be the value: it is read as one first."""

_JUDGED = 128
"""So much of a value tells whether it is a secret."""

_END = rf"(?<=\S{{{_JUDGED}}})"

_QUOTED = re.compile(
    r"[brfuN@$]{0,2}(?P<quote>[\"'`])(?:(?:[Bb]earer|[Tt]oken) )?"
    rf"(?P<value>(?:(?!(?P=quote))\S){{8,{_JUDGED}}}+)(?:(?P=quote)|{_END})"
)

_BARE = re.compile(
    # A sign before another parameter ends the value.
    rf"(?P<value>(?:[^\s\"'`,;<>(){{}}\[\]&|\\]|&(?![&\s]|\w[\w.-]{{0,40}}=|\Z)){{8,{_JUDGED}}}+)"
    rf"(?:(?=[\s\"'`,;<&|\\]|$)|{_END})"
)

_LINE = re.compile(
    # A sign before another setting, or between commands, ends the value.
    rf"(?P<value>(?:[^\s\"'`\\,;&|]|[,;&|](?![,;&|\s]|\w[\w.-]{{0,40}}[=:])){{8,{_JUDGED}}}+)"
    r"(?=[,;]?[ \t\r]*(?:\n|\Z))"
)
"""All that follows on the line of a name that begins it, as in a file of settings: any sign may be in a password."""

_BEGINS_LINE = re.compile(r"(?:\n|\A)[ \t\d+-]{0,100}(?:(?:export|ENV|ARG|set)[ \t]{1,20})?[\"']?[\w.-]{0,100}\Z")
_LONGEST_MARGIN = 100
_QUOTED_REST = re.compile(r"[^\s\"'`]*+")
_BARE_REST = re.compile(r"[^\s\"'`,;<>(){}\[\]&|\\]*+")
_PLAIN = re.compile(r"[A-Za-z0-9+/_=~.-]+")
_NO_CODE = re.compile(r"[^()\[\]{}<>|]+")
_BEFORE = re.compile(r"[\w.-]{0,40}\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_UUID_ISSUERS = re.compile(r"heroku|snyk|postmark|scaleway|sendbird|hubspot|carbon|cdn|pubnub|api_?key|secret_?key")

_HARMLESS_NAME = re.compile(
    r"public|pub_?key|hash|digest|sha\d|md5|checksum|fingerprint|integrity|csrf|xsrf|nonce|next_?(?:page)?_?token"
    r"|page_?token|client_?(?:request_?)?token|idempoten|continuation|cursor|placeholder|example|dummy|fake|mock"
    r"|expected|(?<!secret)_id$|[a-z]id$|_ids$|_name$|_type$|_url$|_uri$|_path$|_file$|_len|_count|_version$|_label$"
    r"|_etag$|cache|primary_key|foreign_key|sort_key"
    r"|partition_key|author(?!iz)|tokenizer|translation"
)

_PLACEHOLDER = re.compile(
    r"example|change.?me|your|placeholder|dummy|xxxx|insert|replace|redacted|fake|sample|secret-?removed"
    r"|\Asha\d{1,3}[=:-]|\*\*\*|\.\.\.|<[a-z][\w .-]*>|\$\{|\{\{|[%$]\(|\A\$[a-z_][\w:]*\Z"
)

_SHORTEST_PASSWORD, _SHORTEST = 8, 16
_LONGEST_WORD, _LONGEST_NAME = 16, 40
_LONG = 40

_CODE = re.compile(r"[A-Za-z_]{3}\(|[({\[][A-Za-z_.]{3,}[)}\]]|[<>{}|]")
"""What a long value in quotes may hold if it is code: a call, or something in brackets."""

_AWS_SECRET = re.compile(r"[A-Za-z0-9/+]{40}")


def assigned(text: str, low: str, words: Words) -> Iterator[tuple[int, int, str]]:
    """The values of names that speak of a secret, where a value cannot be words. ``low`` is the text in lower case."""
    if not text.isascii():
        for kind, word in _OF_OTHER_SCRIPTS:
            for name in word.finditer(text):
                rest = _WORD_REST.match(text, name.end())
                value = _value(text, low, name.start(), rest.end() if rest else name.end(), kind)
                if value is not None:
                    yield value
    for stem, kind, before, after in _STEMS:
        at = low.find(stem) if stem in words.low else -1
        while at >= 0:
            found = None
            end = after.match(low, at + len(stem))
            if end is not None and (before is None or before.search(low[max(0, at - _LONGEST_WORD) : at])):
                found = _value(text, low, at, end.end(), kind)
            if found is not None:
                yield found
            at = low.find(stem, found[1] if found else at + len(stem))


def _value(text: str, low: str, at: int, end: int, kind: str) -> tuple[int, int, str] | None:
    """The secret that the name around this word is given, if it is given one."""
    before = _BEFORE.search(low[max(0, at - _LONGEST_NAME) : at])
    rest = _REST.match(low, end)
    name = (before[0] if before else "") + low[at:end] + (rest[0] if rest else "")
    if _HARMLESS_NAME.search(name):
        return None
    for reading in _READINGS:
        given = reading.match(low, end)
        for value in _values(text, at, given.end()) if given else ():
            if _counts(name, kind, value["value"], plain=value.re is _BARE):
                if "aws" in name and _AWS_SECRET.fullmatch(value["value"]):
                    kind = FROM_AWS
                return value.start("value"), _whole(value), kind
    return None


def _values(text: str, name_at: int, at: int) -> Iterator[re.Match[str]]:
    """What may be the value that stands ``at`` this place: in quotes, to the end of its line, or to the next sign."""
    quoted = _QUOTED.match(text, at)
    if quoted:
        yield quoted
        return
    line = _LINE.match(text, at)
    if line and _BEGINS_LINE.search(text[max(0, name_at - _LONGEST_MARGIN) : name_at]):
        yield line
    bare = _BARE.match(text, at)
    if bare:
        yield bare


def _whole(value: re.Match[str]) -> int:
    """Where a value ends of which perhaps only the beginning was judged."""
    end = value.end("value")
    if len(value["value"]) < _JUDGED:
        return end
    rest = (_QUOTED_REST if value.re is _QUOTED else _BARE_REST).match(value.string, end)
    return rest.end() if rest else end


def _counts(name: str, kind: str, value: str, *, plain: bool) -> bool:
    """Whether this value of this name is a secret; a ``plain`` one stands where code might."""
    if kind == PASSWORD:
        return telling_password(value) or _UUID.fullmatch(value) is not None
    if not plain and len(value) >= _LONG and not _CODE.search(value) and looks_made_up(value):
        return not _PLACEHOLDER.search(value.lower())
    alphabet = _PLAIN if plain else _NO_CODE
    if len(value) < _SHORTEST or not alphabet.fullmatch(value) or _PLACEHOLDER.search(value.lower()):
        return False
    if _UUID.fullmatch(value):
        return kind != KEY or _UUID_ISSUERS.search(name) is not None
    return looks_made_up(value)


def is_placeholder(value: str) -> bool:
    """Whether a value stands for another one that is put in later."""
    return _PLACEHOLDER.search(value.lower()) is not None


def telling_password(value: str) -> bool:
    """Whether it is a password that somebody had made up by chance, not a word, a path or a call."""
    return len(value) >= _SHORTEST_PASSWORD and not _PLACEHOLDER.search(value.lower()) and looks_made_up(value)

"""Secrets that their place gives away: a header, an option, a call, a manifest, a table, a sentence, a URL."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from functools import cache

from review_advisor.safety.assigned_secrets import KEY, PASSWORD, SECRET, TOKEN, is_placeholder, telling_password
from review_advisor.safety.secret_reading import MARGIN, Words, looks_made_up, looks_random

IN_URL = "password in a URL"
_WORDS = ("pass", "pwd", "kennwort", "secret", "token", "credentials", "api key", "senha", "clave", "contrase")

_IN_PROSE = re.compile(
    r"[^\n=.,;:(){}\"'<>|]{0,60}?(?:(?<![a-z])(?:is|was|lautet|ist|es|est)(?:[ \t]?:)?|:)[ \t]{1,4}"
    r"(?:[\w.@-]{1,40}[ \t]?[/|][ \t]?)?[\"'`*]{0,2}"
)
"""What stands between a word such as password and its value in a sentence, with a user before it perhaps."""

_PROSE_VALUE = re.compile(r"[^\s\"'`*<>(){}\[\]]{8,128}")

_IN_GROUPS = re.compile(r"[\w\-]{0,20}[\"']?[ \t]{0,8}[=:,][ \t]{0,8}[\"']([a-z]{4}(?: [a-z]{4}){3})[\"']")
"""A password of an application at Google: four times four letters."""

_CHPASSWD_LIST = re.compile(
    rf"chpasswd(?:[^\n]{{0,40}}<<|:)[^\n]{{0,40}}\n(?:{MARGIN}[ \t]{{1,40}}(?:list|expire)[^\n]{{0,20}}\n){{0,2}}"
    rf"((?:{MARGIN}[ \t\-]{{0,40}}[\w.-]{{1,32}}:[^\s:]{{1,128}}[ \t\r]{{0,4}}(?:\n|\Z)){{1,50}})"
)

_SHORTEST_USER = 16
_SHORTEST_VALUE = 8
_URL = re.compile(r":(?:\\{0,2}/){2}([^\s/?#:@\"'<>\\]{0,80})(?::([^\s/@\"'<>\\]{3,200}))?@(?=[\w\[$])")

_OPTIONS = (
    ("-u", r"(?:(?<=\s-u)|(?<=--user)|(?<=--proxy-user))[ =]{1,2}[\"']?[\w.@-]{1,60}:([^\s\"']{8,200})"),
    ("mysql", r"mysql[^\n|;]{0,200}?[ \t]-p[\"']?([^\s\"']{8,200})"),
    ("mariadb", r"mariadb[^\n|;]{0,200}?[ \t]-p[\"']?([^\s\"']{8,200})"),
    ("create secret", r"--from-literal[= ][\"']?[\w.-]{1,100}=[\"']?([^\s\"']{8,200})"),
    ("sshpass", r"sshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?([^\s\"']{8,200})"),
    *(
        (word, rf"{word}[^\n|;]{{0,200}}?[ \t](?:{option})[\"']?([^\s\"']{{8,200}})")
        for word, option in (
            ("openssl", r"-k[ \t]{1,4}|-pass(?:in|out)?[ \t]{1,4}[\"']?pass:|-password[ \t]{1,4}pass:"),
            ("zip", r"-P[ \t]{0,4}|--password[= ]"),
            ("7z", "-p"),
            ("rar", "-h?p"),
            ("keytool", r"-(?:src|dest)?(?:store|key)pass[ \t]{1,4}"),
            ("jarsigner", r"-(?:store|key)pass[ \t]{1,4}"),
            ("ldap", r"-w[ \t]{0,4}"),
            ("net use", r"\\\\[^ \t]{1,80}[ \t]{1,4}"),
            ("htpasswd", r"-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}[ \t]{1,4}\S{1,80}[ \t]{1,4}[\w.@-]{1,60}[ \t]{1,4}"),
            ("smbclient", r"(?:-U|--user)[= ]?[\"']?[\w.\\-]{1,60}%"),
            ("mongo", r"-p[ \t]{0,4}"),
            ("rabbitmqctl", r"(?:add_user|change_password)[ \t]{1,4}[\w.@-]{1,60}[ \t]{1,4}"),
            ("docker login", r"-p[ \t]{0,4}"),
            ("login", r"(?:wandb login|login[ \t]{1,4}--token)[ \t]{1,4}"),
            ("plink", r"-pw[ \t]{1,4}"),
            ("ipmitool", r"-P[ \t]{1,4}"),
            ("xfreerdp", "/p:"),
            ("az login", r"-p[ \t]{1,4}"),
            ("snmp", r"-[AX][ \t]{1,4}"),
            ("IDENTIFIED", r"BY[ \t]{1,4}(?:PASSWORD[ \t]{1,4}|VALUES[ \t]{1,4})?"),
        )
    ),
    ("wandb login", r"wandb login[ \t]{1,4}(?:--relogin[ \t]{1,4})?([0-9a-f]{40})"),
    ("-setcookie", r"-setcookie[ \t]{1,4}([^\s\"']{8,200})"),
    (
        "createUser",
        r"createUser[ \t]{1,4}\S{1,60}[ \t]{1,4}(?:MD5|SHA(?:-?\d{3})?)[ \t]{1,4}[\"']?([^\s\"']{8,200})",
    ),
    ("createUser", r"createUser[^\n]{1,300}?[ \t](?:DES|AES(?:-?\d{3})?)[ \t]{1,4}[\"']?([^\s\"']{8,200})"),
    ("<(echo", r"pass(?:word|phrase)?(?:-file)?[= ]<\(echo[ \t]{1,4}[\"']?([^\s\"')]{8,200})"),
    ("PSK", r"PSK[ \t]{1,4}[\"']([^\s\"']{8,200})"),
    ("chpasswd", r"[\w.-]{1,32}:([^\s:\"']{8,128})[\"']?[ \t]{0,4}\|[^\n|]{0,40}chpasswd"),
    ("sqlplus", r"sqlplus[^\n|;]{0,80}?[ \t][\"']?\w{1,60}/([^\s/@\"']{8,128})(?=@|[ \t\"'])"),
    (":thin:", r":thin:\w{1,60}/([^\s/@\"']{8,128})@"),
    ("@tcp(", r"[\"'=][\w.-]{1,60}:([^\s\"']{8,128}?)@tcp\("),
    ("@unix(", r"[\"'=][\w.-]{1,60}:([^\s\"']{8,128}?)@unix\("),
    ("]:", r"\]:\d{2,5}[ \t]{1,8}[\w.@+-]{1,64}:([^\s:\"']{8,128})"),
    (".infura.io/v3/", r"\.infura\.io/v3/([0-9a-f]{32})"),
    ("g.alchemy.com/v2/", r"g\.alchemy\.com/v2/([A-Za-z0-9_-]{32})"),
    (
        "code=",
        r"\.(?:azurewebsites\.net|azure-api\.net)/[^\s\"']{0,200}?[?&]code=([A-Za-z0-9_/+-]{40,100}={0,2})",
    ),
    ("Unseal Key", r"Unseal Key \d{1,2}: ([A-Za-z0-9+/=]{40,100})"),
    ("github.com", r"github\.com[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?([0-9a-f]{40})(?![0-9a-z])"),
    ("password>{", r"password>\{([A-Za-z0-9+/=]{16,200})\}"),
    ("SecureString", r"SecureString[ (\t]{1,4}(?:-String[ \t]{1,4})?[\"']([^\s\"']{8,128})[\"']"),
    *(
        (word, rf"{re.escape(word)}[= \t]{{1,2}}[\"']?(?:s:)?([A-Za-z0-9+/=_.-]{{16,200}})")
        for word in ("sessionid", "SESSID", "SESSIONID", "SessionId", "connect.sid", "_session", "remember_token")
    ),
    # the rest of a line of PostgreSQL's: host, port, database, user and password
    (":", r":(?:\d{2,5}|\*):[^\s:\"']{1,63}:[^\s:\"']{1,63}:([^\s:\"'`,;\\]{8,200})(?![^\s\"'`,;\\])"),
    ("redis-cli", r"redis-cli[^\n|;]{0,200}?[ \t]-a[ \t]{1,4}[\"']?([^\s\"']{8,200})"),
)
"""The options of commands, and lines, that hold a password, each with words that stands in every such command."""

_ENCODED = re.compile(r"(?:[Bb][Aa][Ss][Ii][Cc] |\"auth\"\s{0,3}:\s{0,3}\")([A-Za-z0-9+/]{8,400}={0,2})")
"""The base64 of a user and a password: in a header, or in the file of registries that Docker keeps."""

_TELLS = re.compile(
    r"pass(?:w(?:or)?d|wort|phrase)|(?<![a-z])pass(?![a-z])|pwd|secret|token|credential|jwt|salt|kennwort|senha|contrase|clave"
    r"|mot_?de_?passe|(?:access|api|auth|encryption|master|private|sign|signing)[_.-]?key",
    re.IGNORECASE,
)

_DEFAULT = re.compile(r"\$\{([\w.-]{1,80}):[-=?+]?([^\s{}\"'`$]{8,128})\}")
"""What Spring, Compose and shells take where a variable is not set."""

_IN_BRACES = re.compile(r"(?:pwd|password)[ \t]{0,2}=[ \t]{0,2}\{((?:[^{}\s]|\}\}){8,128}+)\}", re.IGNORECASE)
"""A password in a connection string of ODBC."""

_OF_WORDPRESS = re.compile(
    r"(?:AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)[\"']?[ \t]{0,16}(?:,|=>?|:)[ \t]{0,16}(?P<quote>[\"'])"
    r"(?P<value>(?:(?!(?P=quote))[^\n]){32,128}+)(?P=quote)"
)

_FEWEST_DIFFERENT = 20
_COIN_KEY = re.compile(r"(?<![A-Za-z0-9])(?:0x)?([0-9a-fA-F]{64})(?![A-Za-z0-9])")

_COIN_CONTEXT = re.compile(
    r"priv(?:ate)?[_ -]?key|wallet|accounts|signer|deployer|keypair|mnemonic|(?<![a-z])pk(?![a-z])", re.IGNORECASE
)

_NO_COIN_KEY = re.compile(
    r"hash|tx|topic|root|bytes32|digest|sha\d|checksum|pub(?:lic)?[_ -]?key|commit|block|signature|address",
    re.IGNORECASE,
)

_CONTEXT = 160

_PHRASE = re.compile(
    r"(?:mnemonic|phrase)[a-z0-9_]{0,20}[\"']?[ \t]{0,4}[:=,(][ \t]{0,4}[\"'`]?"
    r"((?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![a-z])"
)

_LONGEST_HEX = 64
_COIN_HINTS = ("priv", "wallet", "accounts", "signer", "deployer", "keypair", "mnemonic", "pk")
_FEWEST_WORDS = 9

_NUMBERS = re.compile(r"\[((?:\d{1,3}, ?){63}\d{1,3})\]")
"""A key pair of Solana."""

_BASE32 = re.compile(r"(?=[A-Z]{0,31}[2-7])[A-Z2-7]{16,64}")

_LOGS_IN = re.compile(
    r"(?:login|connect(?:ion)?|client|auth|credentials?|account|pdo|sign_?in|search|token|api_?key|secret)"
    r"(?:\.new)?[\"']?[ \t]?=?[ \t]?\Z"
    r"|(?P<first>hmac\.new|hmac|totp|hotp|fernet|wallet|signer|updater|bot|mandrill|decrypt)[\"']?[ \t]?=?[ \t]?\Z"
)
"""What is called with a secret: behind an id, alone, or (``first``) before what it is used on."""

_CALLED = (
    *("login", "connect", "client", "auth", "credential", "account", "pdo", "signin", "sign_in", "search", "token"),
    *("apikey", "api_key", "secret", "hmac", "totp", "hotp", "fernet", "wallet", "signer", "updater", "bot"),
    *("mandrill", "decrypt", "jwt"),
)

_SIGNS_WITH = re.compile(r"(?:jwt\.(?:sign|verify|encode|decode)|create_?hmac)[ \t]?\Z")
_OPENS = re.compile(r"\((?=[^()\n\"'`]{0,100}+[\"'`]|[ \t]{0,8}\n)")
_LONGEST_CALLEE = 24
_PUBLIC = re.compile(r"(?:AC|pk_)")
_LONGEST_CALL = 300
_IN_QUOTES = re.compile(r"[\"'`]([^\"'`\n]{0,200})[\"'`]|[()]")
_ARGUMENT = re.compile(r"[A-Za-z0-9+/=_.!@#$%^&*~:-]{12,}+")

_BESIDE = (
    (
        re.compile(r"(?<![A-Za-z0-9])AC[0-9a-f]{32}(?![A-Za-z0-9])"),
        re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{32}(?![A-Za-z0-9])"),
    ),
)
"""An id that is public, such as that of an account of Twilio, and the secret that stands behind it."""

_HOLDS_SECRETS = re.compile(
    # A manifest of Kubernetes, or the same in Terraform.
    rf"(?:\n|\A){MARGIN}[ \t]{{0,20}}(?:"
    rf"[\"']?kind[\"']?[ \t]{{0,4}}:[ \t]{{0,4}}[\"']?Secret[\"']?[ \t\r,]{{0,4}}(?=\n|\Z)"
    rf"|resource \"kubernetes_secret"
    rf"|[\"']?(?:stringData|secretGenerator|secrets|credentials)[\"']?[ \t]{{0,4}}:[ \t{{\r]{{0,4}}(?=\n))"
)

_OPENS_ENTRIES = re.compile(
    r"[\"']?(data|binaryData|stringData|literals|secrets|credentials)[\"']?[ \t]{0,4}[:=][ \t]{0,4}\{?[ \t\r]{0,4}\Z"
)

_ENTRY = re.compile(
    r"(?:- )?[\"']?([\w.-]{1,253})[\"']?[ \t]{0,4}[:=][ \t]{0,4}([\"']?)([^\s\"'].*?)\2,?[ \t\r]{0,4}\Z"
)

_MANIFEST_HINTS = (
    *(
        "kind: secret",
        "kind: 'secret",
        'kind: "secret',
        'kind": "secret',
        'kind":"secret',
        "stringdata",
        "secretgenerator",
    ),
    *("kubernetes_secret", "secrets:", 'secrets":', "credentials:", 'credentials":'),
)

_MANIFEST_WORDS = ("secret", "credentials", "stringdata")
_MANIFEST_IN_A_LINE = re.compile(r"\"kind\"[ ]?:[ ]?\"Secret\"")
_MEMBER = re.compile(r"\"[\w.-]{1,253}\"[ ]?:[ ]?\"([A-Za-z0-9+/=]{8,})\"")
_CELL_BEGINS = re.compile(r"(?:[|,;\t\n]|\A)[ +\-\d\"]*\Z")
_CELL_ENDS = re.compile(r"(?:w(?:or)?[dt]|phrase|n?[?ny]?a)?\"?[ \t]{0,40}(?=[|,;\t\r\n]|\Z)")
_WIDEST_CELL = 40
_MOST_ROWS, _MOST_COLUMNS, _WIDEST_ROW = 500, 4, 2_000

_RULED = re.compile(
    r"(?<!=)={4,80}+(?:[ \t]{1,4}={4,80}+){1,12}[ \t\r]{0,4}\n(?P<head>[^\n]{1,400})\n[^\n]{0,20}={4,80}+[^\n]{0,400}\n"
    r"(?P<body>(?:[^=\n][^\n]{0,400}\n){1,200}+)"
)

_HEAD_WORD = re.compile(r"(?:password|passwort|secret|token|api key|contrase.a|mot de passe)", re.IGNORECASE)
_DOCUMENT_ENDS = re.compile(rf"\n{MARGIN}---[ \t\r]{{0,4}}(?=\n)|\n\nFILE ")
_SIGN = re.compile(MARGIN)
_LONGEST_DOCUMENT = 20_000
_LONG_VALUE = 16
_MARK_BEGINS = "[secret: "
_WORDY = re.compile(r"[A-Za-z0-9!@#$%^&*+/_=~?-]*")
_GROUPS_RANDOM = 0.3

_FILE_OF_ONE = re.compile(
    r"(?:^|/)(?:master\.key|credentials/[\w-]{1,255}\.key|\.erlang\.cookie|\.vault_pass|(?:[\w-]{0,255}\W)?secrets?/[\w.-]{1,255}"
    r"|[\w.-]{0,255}(?:password|passwd|passphrase|secret|token|credential|api_?key)[\w-]{0,255}(?:\.(?:txt|key|env|secret))?)\Z",
    re.IGNORECASE,
)

_ONE_WORD = re.compile(r"\s*(\S{8,400})\s*")

_Found = Iterator[tuple[int, int, str]]
"""Where each secret begins and ends, and its kind."""


def placed(text: str, low: str, words: Words) -> _Found:
    """The passwords in headers, in options of commands and in files of passwords."""
    for found in _ENCODED.finditer(text) if '"auth"' in words.all or "basic " in low else ():
        if _is_user_and_password(found[1]):
            yield *found.span(1), PASSWORD
    options = [option for word, option in _OPTIONS if words.may_hold(word)]
    for option in options:
        for found in _compiled(option).finditer(text):
            if telling_password(found[1]):
                yield *found.span(1), PASSWORD
    yield from _defaults(text, words)
    yield from _in_calls(text, words)
    yield from _by_hints(text, low, words)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Few of them are ever needed, and compiling all takes a tenth of a second."""
    return re.compile(pattern)


def _by_hints(text: str, low: str, words: Words) -> _Found:
    """What is looked for only where a word of it stands in the text."""
    if words.longest >= _LONGEST_HEX and any(hint in words.low for hint in _COIN_HINTS):
        yield from _of_coins(text)
    for found in _PHRASE.finditer(low) if "mnemonic" in words.low or "phrase" in words.low else ():
        if len(set(found[1].split())) >= _FEWEST_WORDS:
            yield *found.span(1), SECRET
    yield from ((*found.span(1), KEY) for found in _NUMBERS.finditer(text)) if "[" in words.all else ()
    if any(hint in words.low for hint in _MANIFEST_WORDS) and any(hint in low for hint in _MANIFEST_HINTS):
        yield from _in_manifests(text)
    held = [word for word in _WORDS if word.split()[0] in words.low and word in low]
    if held:
        yield from _in_tables(text, low, held)
        yield from _in_prose(text, low, held)


def _defaults(text: str, words: Words) -> _Found:
    """Defaults of variables, values in braces, and the phrases of WordPress."""
    for found in _DEFAULT.finditer(text) if "${" in words.all else ():
        first = max(0, found.start() - _CONTEXT)
        before = text[max(first, text.rfind("\n", first, found.start()) + 1) : found.start()]
        if (_TELLS.search(found[1]) or _TELLS.search(before)) and telling_password(found[2]):
            yield *found.span(2), PASSWORD
    for found in _IN_BRACES.finditer(text) if "pwd" in words.low or "password" in words.low else ():
        if telling_password(found[1]):
            yield *found.span(1), PASSWORD
    for found in _OF_WORDPRESS.finditer(text) if "_KEY" in words.all or "_SALT" in words.all else ():
        if len(set(found["value"])) >= _FEWEST_DIFFERENT and " unique phrase" not in found["value"]:
            yield *found.span("value"), KEY


def _in_calls(text: str, words: Words) -> _Found:
    """What a call that logs in is given in quotes behind its first argument, and what stands behind a public id."""
    done = 0
    for call in _OPENS.finditer(text) if any(word in words.low for word in _CALLED) else ():
        callee = text[max(0, call.start() - _LONGEST_CALLEE) : call.start()].lower()
        takes = _LOGS_IN.search(callee) or _SIGNS_WITH.search(callee)
        if not takes:
            continue
        given: list[re.Match[str]] = []
        closed = False
        for found in _IN_QUOTES.finditer(text, max(done, call.end()), call.end() + _LONGEST_CALL):
            done = found.end()
            if found[1] is None:
                closed = True
                break
            given.append(found)
        first = takes.groupdict().get("first") is not None or takes.re is _SIGNS_WITH or (closed and len(given) == 1)
        for number, found in enumerate(given):
            if (number or first) and _is_argument(found[1]):
                yield *found.span(1), SECRET
    for public, private in _BESIDE:
        for found in public.finditer(text) if public.search(words.long) else ():
            beside = private.search(text, found.end(), found.end() + _LONGEST_CALL)
            if beside and looks_random(beside[0]):
                yield *beside.span(), TOKEN


def _is_argument(value: str) -> bool:
    """Whether what a call is given in quotes is a secret."""
    if not _ARGUMENT.fullmatch(value) or _PUBLIC.match(value):
        return False
    return telling_password(value.rpartition(":")[2]) or _BASE32.fullmatch(value) is not None


def _of_coins(text: str) -> _Found:
    """The keys of wallets, which look like any digest, where a name before them tells."""
    for found in _COIN_KEY.finditer(text):
        before = text[max(0, found.start() - _CONTEXT) : found.start()]
        line = before[before.rfind("\n") + 1 :]
        if _COIN_CONTEXT.search(before) and not _NO_COIN_KEY.search(line) and looks_random(found[1].lower()):
            yield *found.span(1), KEY


def _in_manifests(text: str) -> _Found:
    """The values in a manifest of secrets, whatever their keys are called."""
    done = 0
    for found in _MANIFEST_IN_A_LINE.finditer(text):
        if found.start() < done:
            continue
        begin = text.rfind("\n", done, found.start()) + 1
        end = text.find("\n", found.end())
        done = end if end >= 0 else len(text)
        for member in _MEMBER.finditer(text, begin, done):
            if _of_a_manifest(member[1], "data"):
                yield *member.span(1), SECRET
    done = 0
    for found in _HOLDS_SECRETS.finditer(text):
        if found.start() < done:
            continue
        begin = done
        for marker in _DOCUMENT_ENDS.finditer(text, max(done, found.start() - _LONGEST_DOCUMENT), found.start() + 1):
            begin = marker.end()
        begin = max(begin, found.start() - _LONGEST_DOCUMENT)
        ends = _DOCUMENT_ENDS.search(text, found.end(), found.end() + _LONGEST_DOCUMENT)
        done = ends.start() if ends else min(len(text), found.end() + _LONGEST_DOCUMENT)
        yield from _entries(text, begin, done)


def _occurrences(low: str, words: list[str]) -> Iterator[tuple[int, int]]:
    for word in words:
        at = low.find(word)
        while at >= 0:
            yield at, at + len(word)
            at = low.find(word, at + len(word))


def _in_tables(text: str, low: str, words: list[str]) -> _Found:
    """What stands in a table's column of passwords: in a list with commas, in Markdown, and in reStructuredText."""
    head, walked, columns = -1, 0, 0
    for at, after in sorted(_occurrences(low, words)):
        first = max(0, at - _WIDEST_ROW)
        begin = max(first, text.rfind("\n", first, at) + 1)
        if (begin == head and columns == _MOST_COLUMNS) or (begin != head and at < walked):
            continue
        begins = low[max(0, at - _WIDEST_CELL) : at]
        end = text.find("\n", after, after + _WIDEST_ROW)
        sign = next((each for each in "|;\t," if each in text[begin : max(after, end)]), "")
        if end < 0 or not sign or not _CELL_ENDS.match(low, after) or not _CELL_BEGINS.search(begins):
            continue
        columns = columns + 1 if begin == head else 1
        head = begin
        for start, stop in _rows(text, end, sign, text.count(sign, begin, end)):
            cells = text[start:stop].split(sign)
            number = text.count(sign, begin, at)
            value = cells[number].strip(" \t\r\"'`")
            if telling_password(value) and " " not in value:
                place = text.index(value, start + sum(len(each) + 1 for each in cells[:number]))
                yield place, place + len(value), PASSWORD
            walked = stop
    if "====" in text:
        yield from _in_ruled_tables(text)


def _rows(text: str, end: int, sign: str, count: int) -> Iterator[tuple[int, int]]:
    """The lines below the one that ends here, as long as they have as many cells."""
    for _ in range(_MOST_ROWS):
        begin, end = end + 1, text.find("\n", end + 1, end + _WIDEST_ROW)
        stop = end if end >= 0 else min(len(text), begin + _WIDEST_ROW)
        if text.count(sign, begin, stop) != count:
            return
        yield begin, stop
        if end < 0:
            return


def _in_ruled_tables(text: str) -> _Found:
    for table in _RULED.finditer(text):
        column = _HEAD_WORD.search(table["head"])
        at = table.start("body")
        for line in table["body"].split("\n") if column else ():
            word = re.match(r"\S+", line[column.start() :]) if column else None
            if column and word and telling_password(word[0]):
                yield at + column.start(), at + column.start() + word.end(), PASSWORD
            at += len(line) + 1


def _in_prose(text: str, low: str, words: list[str]) -> _Found:
    """What a sentence says that a password is."""
    for at, end in _occurrences(low, words):
        if text.startswith(_MARK_BEGINS, max(0, at - 1)):
            continue
        between = _IN_PROSE.match(low, end)
        value = _PROSE_VALUE.match(text, between.end()) if between else None
        shown = value[0].rstrip(".,;:!") if value else ""
        if value and telling_password(shown) and _WORDY.fullmatch(shown):
            yield value.start(), value.start() + len(shown), PASSWORD
        grouped = _IN_GROUPS.match(text, end) if low.startswith("pass", at) else None
        if grouped and looks_random(grouped[1].replace(" ", ""), _GROUPS_RANDOM):
            yield *grouped.span(1), PASSWORD
    for listed in _CHPASSWD_LIST.finditer(text) if "chpasswd" in low else ():
        at = listed.start(1)
        for line in listed[1].split("\n"):
            value_at = line.find(":") + 1
            if telling_password(line[value_at:].strip()):
                yield at + value_at, at + len(line.rstrip()), PASSWORD
            at += len(line) + 1


def _entries(text: str, at: int, end: int) -> _Found:
    section, outside, block = "", 0, -1
    while at < end:
        after = text.find("\n", at, end)
        after = end if after < 0 else after
        sign = _SIGN.match(text, at, after)
        start = sign.end() if sign else at
        line = text[start:after]
        written = line.strip()
        indent = len(line) - len(line.lstrip())
        entry = _ENTRY.fullmatch(line.strip())
        opens = _OPENS_ENTRIES.match(written)
        if written and section and indent <= outside:
            section, block = "", -1
        if opens:
            section, outside, block = opens[1], indent, -1
        elif section and written:
            if 0 <= block < indent:
                value = written
            else:
                block = indent if entry and entry[3][0] in "|>" else -1
                value = entry[3] if entry and block < 0 else ""
            if value and _of_a_manifest(value, section):
                place = text.index(value, start)
                yield place, place + len(value), SECRET
        at = after + 1


def _of_a_manifest(value: str, section: str) -> bool:
    """Whether a value in this ``section`` of a manifest is a secret."""
    if is_placeholder(value) or len(value) < _SHORTEST_VALUE:
        return False
    if section in {"secrets", "credentials"}:
        return len(value) >= _LONG_VALUE and " " not in value and telling_password(value)
    if section in {"data", "binaryData"}:
        try:
            meant = base64.b64decode(value, validate=True)
        except ValueError:
            return telling_password(value)
        return telling_password(meant.decode("ascii")) if meant.isascii() else len(meant) >= _SHORTEST_VALUE
    return telling_password(value)


def in_file(text: str, path: str) -> _Found:
    """All of a file that holds one word, where its name tells that this is a secret."""
    word = _ONE_WORD.fullmatch(text) if path and _FILE_OF_ONE.search(path) else None
    if word and looks_made_up(word[1]) and not is_placeholder(word[1]):
        yield *word.span(1), KEY if path.endswith("key") else SECRET


def in_urls(text: str) -> _Found:
    """The passwords in URLs, and users that can only be tokens."""
    if "@" not in text:
        return
    for found in _URL.finditer(text):
        if found[2] is not None and telling_password(found[2]):
            yield *found.span(2), IN_URL
        elif found[2] is None and len(found[1]) >= _SHORTEST_USER and looks_made_up(found[1]):
            yield *found.span(1), IN_URL


def _is_user_and_password(encoded: str) -> bool:
    try:
        user, colon, password = base64.b64decode(encoded, validate=True).decode("ascii").partition(":")
    except ValueError:  # it is not ASCII, or no base64, or not of ASCII
        return False
    return bool(user and colon) and telling_password(password)

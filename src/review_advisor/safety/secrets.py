"""Which parts of a text look like secrets: by form, name, place or key."""

from __future__ import annotations

import base64
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from review_advisor.safety.data_spans import Piece, runs_on_line
from review_advisor.safety.secret_issuers import FORMATS, NEAR, PAIRS, Format
from review_advisor.safety.secret_reading import (
    MARGIN,
    SHORTEST_TOKEN,
    Words,
    encoded,
    in_low_ascii,
    looks_made_up,
    looks_random,
    of_both_cases,
    read,
    words_of,
)

REDACTED = "[secret removed]"
"""Stands for a secret of the harness's own. Nobody is told of which kind it was."""


MORE = "[*]"
"""Stands for what more of a secret there is behind its first sign that is neither letter nor digit."""


_MARK = re.compile(r"\[secret(?: removed|: (?P<kind>[A-Za-z0-9][A-Za-z0-9 .'/-]{1,48}))\]")


def mark(kind: str) -> str:
    """What stands for a recognised secret: it says the kind, and is the same for any two secrets of one kind."""
    return f"[secret: {kind}]"


def holds_mark(text: str) -> bool:
    """Whether something was taken out of ``text``."""
    return _MARK.search(text) is not None


def is_mark(text: str) -> bool:
    """Whether ``text`` is a mark and nothing else."""
    return _MARK.fullmatch(text) is not None


def kind_marked(text: str) -> str:
    """The kind that the first mark in ``text`` names; empty if there is none, or it names none."""
    found = _MARK.search(text)
    return (found["kind"] or "") if found else ""


def without_kinds(text: str) -> str:
    """``text`` with one mark for each secret, whatever its kind is taken for and whatever signs are in it."""
    return _ONE_SECRET.sub("[secret]", text)


_ONE_SECRET = re.compile(
    rf"(?:{_MARK.pattern.replace('?P<kind>', '?:')}|\[\*\])(?:[^\w\s\[\]]{{0,4}}(?:\[secret[^\]\n]{{0,60}}\]|\[\*\]))*+"
)


_RUN = re.compile(r"(?:[^\W_]|[/+=])++")


_QUOTES = "\"'`"


_SEPARATOR = re.compile(r"[;|&<>]")


_SHELL_SEPARATORS = ";&|<>()"


_COMMAND_AFTER = re.compile(r"[;|&<>](?=[^\s<>/$(`]{0,300}+[\s<>/$(`])")


_HOLE = re.compile(
    r"(?P<mark>\[(?:secret[^\]\n]{0,60}|\*)\])|(?P<sure>\$[({]|[`]|#\{|\{\{|<[%?])"
    r"|(?P<call>(?<![\w.])[A-Za-z_][\w.]{2,}+(?=\())?(?P<group>[({\[])|#(?P<between>[^#\s]{1,80}+)#"
)
"""What looks like an interpolation or a call in any language: a group counts where it ends and holds a name."""


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")


_CALL = re.compile(r"[A-Za-z_0-9]\(")


_LONGEST_GROUP = 200


_HOLE_ENDS = {"$(": "()", "${": "{}", "#{": "{}", "{{": "{}"}


@dataclass(frozen=True, slots=True)
class Mask:
    """What stands for one run of letters and digits of a secret. Not ``sure``: it may hide code."""

    start: int
    end: int
    kind: str
    first: bool
    sure: bool = True

    @property
    def shown(self) -> str:
        """The mark: that of the kind for the first run of a secret."""
        return mark(self.kind) if self.first else MORE


def masks(text: str, secrets: Iterable[tuple[int, int, str]], pieces: Sequence[Piece]) -> list[list[Mask]]:
    """For each of these ``secrets`` what is masked of it: its letters, digits and ``/ + =`` where they are data.

    ``pieces`` are the data of ``text``, in order. An interpolation within the secret stays, with all that it holds.
    What is not in quotes by itself ends at a sign that separates commands.
    """
    starts = [piece.start for piece in pieces]
    return [_masks_of(text, secret, pieces, starts) for secret in secrets]


def _masks_of(text: str, secret: tuple[int, int, str], pieces: Sequence[Piece], starts: Sequence[int]) -> list[Mask]:
    start, end, kind = secret
    first = bisect_right(starts, start)
    while first > 0 and pieces[first - 1].end > start:
        first -= 1
    here = [piece for piece in pieces[first : bisect_left(starts, end)] if piece.end > start]
    depth = min((piece.depth for piece in here), default=0)
    found: list[Mask] = []
    for begin, stop, sure in _data_within(text, start, end, [piece for piece in here if piece.depth == depth]):
        found += (
            Mask(begin + run.start(), begin + run.end(), kind, False, sure) for run in _RUN.finditer(text[begin:stop])
        )
    return [Mask(each.start, each.end, kind, number == 0, each.sure) for number, each in enumerate(found)]


def _data_within(text: str, start: int, end: int, pieces: Sequence[Piece]) -> Iterator[tuple[int, int, bool]]:
    """The parts of a secret that are data, to where it ends."""
    enclosed = start > 0 and text[start - 1] in _QUOTES and end < len(text) and text[end] in _QUOTES
    reached = start
    for piece in pieces:
        between = text[reached : piece.start].lstrip(_QUOTES)
        if between and between[0] in _SHELL_SEPARATORS:
            return
        begin, stop = max(start, piece.start), min(end, piece.end)
        reached = piece.end
        if piece.kind == "bare":
            yield begin, stop, piece.sure
            continue
        ends, sure = None, piece.sure
        if not enclosed and (piece.kind != "scalar" or runs_on_line(text, start)):
            ends = _COMMAND_AFTER if piece.kind == "dotenv" else _SEPARATOR
        for one, other in _outside_holes(text, begin, stop):
            cut = ends.search(text, one, other) if ends else None
            if cut is not None:
                yield one, cut.start(), sure
                return
            sure = sure and (ends is not _COMMAND_AFTER or _SEPARATOR.search(text, one, other) is None)
            yield one, other, sure


def _outside_holes(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts between what looks like an interpolation in any language; one that does not end goes on to the end."""
    at = reached = start
    while at < end:
        hole = _HOLE.search(text, at, end)
        if hole is None:
            break
        stop = _end_of_hole(text, hole, end)
        if stop < 0:
            at = hole.end() - (hole["between"] is not None)
        else:
            yield reached, hole.start()
            at = reached = stop
    if reached < end:
        yield reached, end


def looks_like_code(text: str, start: int, end: int) -> bool:
    """Whether a part of a text has in it what looks like an interpolation or a call in any language."""
    part = _ONE_SECRET.sub("", text[start:end])
    return [*_outside_holes(part, 0, len(part))] not in ([(0, len(part))], []) or _CALL.search(part) is not None


def _end_of_hole(text: str, hole: re.Match[str], end: int) -> int:
    """Where it ends; -1 if it is none."""
    if hole["mark"] is not None:
        return hole.end()
    if hole["between"] is not None:
        return hole.end() if "(" in hole["between"] or _NAME.fullmatch(hole["between"]) else -1
    if hole["group"] is not None:
        return _end_of_group(text, hole, min(end, hole.end() + _LONGEST_GROUP))
    brackets = _HOLE_ENDS.get(hole[0])
    if brackets is None:
        closing = {"`": "`", "<%": "%>", "<?": "?>"}[hole[0]]
        stop = text.find(closing, hole.end(), end)
        return end if stop < 0 else stop + len(closing)
    deep = 0
    for at in range(hole.start(), end):
        deep += (text[at] == brackets[0]) - (text[at] == brackets[1])
        if not deep and at >= hole.end() - 1:
            return at + 1
    return end


def _end_of_group(text: str, hole: re.Match[str], end: int) -> int:
    """Where brackets that a name is in, or before, are closed; -1 if nowhere."""
    first = hole.end() - 1
    closing = {"(": ")", "{": "}", "[": "]"}[text[first]]
    deep = 0
    for at in range(first, end):
        deep += (text[at] == text[first]) - (text[at] == closing)
        if not deep:
            is_call = text[first] == "(" and hole["call"] is not None
            return at + 1 if is_call or _NAME.search(text, first, at) else -1
    return -1


def with_masks(text: str, found: Iterable[Mask]) -> str:
    """``text`` with these masks, which are in order."""
    parts: list[str] = []
    at = 0
    for each in found:
        parts += text[at : each.start], each.shown
        at = each.end
    return "".join([*parts, text[at:]]) if parts else text


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
    # The same holds of the signs between settings and between commands.
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


FoundSecrets = Iterator[tuple[int, int, str]]


def assigned(text: str, low: str, words: Words) -> FoundSecrets:
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


_LONGEST_NAME_OF_PLACES = 24


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


_FROM_LITERAL = re.compile(r"--from-literal[= ][\"']?[\w.-]{1,100}=[\"']?([^\s\"']{8,200})")


_FILE_OF_ONE = re.compile(
    r"(?:^|/)(?:master\.key|credentials/[\w-]{1,255}\.key|\.erlang\.cookie|\.vault_pass|(?:[\w-]{0,255}\W)?secrets?/[\w.-]{1,255}"
    r"|[\w.-]{0,255}(?:password|passwd|passphrase|secret|token|credential|api_?key)[\w-]{0,255}(?:\.(?:txt|key|env|secret))?)\Z",
    re.IGNORECASE,
)


_ONE_WORD = re.compile(r"\s*(\S{8,400})\s*")


PlacedSecrets = Iterator[tuple[int, int, str]]


def placed(text: str, low: str, words: Words) -> PlacedSecrets:
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


def _by_hints(text: str, low: str, words: Words) -> PlacedSecrets:
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


def _defaults(text: str, words: Words) -> PlacedSecrets:
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


def _in_calls(text: str, words: Words) -> PlacedSecrets:
    """What a call that logs in is given in quotes behind its first argument, and what stands behind a public id."""
    done = 0
    for call in _OPENS.finditer(text) if any(word in words.low for word in _CALLED) else ():
        callee = text[max(0, call.start() - _LONGEST_NAME_OF_PLACES) : call.start()].lower()
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


def _of_coins(text: str) -> PlacedSecrets:
    """The keys of wallets, which look like any digest, where a name before them tells."""
    for found in _COIN_KEY.finditer(text):
        before = text[max(0, found.start() - _CONTEXT) : found.start()]
        line = before[before.rfind("\n") + 1 :]
        if _COIN_CONTEXT.search(before) and not _NO_COIN_KEY.search(line) and looks_random(found[1].lower()):
            yield *found.span(1), KEY


def _in_manifests(text: str) -> PlacedSecrets:
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


def _in_tables(text: str, low: str, words: list[str]) -> PlacedSecrets:
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


def _in_ruled_tables(text: str) -> PlacedSecrets:
    for table in _RULED.finditer(text):
        column = _HEAD_WORD.search(table["head"])
        at = table.start("body")
        for line in table["body"].split("\n") if column else ():
            word = re.match(r"\S+", line[column.start() :]) if column else None
            if column and word and telling_password(word[0]):
                yield at + column.start(), at + column.start() + word.end(), PASSWORD
            at += len(line) + 1


def _in_prose(text: str, low: str, words: list[str]) -> PlacedSecrets:
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


def _entries(text: str, at: int, end: int) -> PlacedSecrets:
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


def in_file(text: str, path: str) -> PlacedSecrets:
    """All of a file that holds one word, where its name tells that this is a secret."""
    word = _ONE_WORD.fullmatch(text) if path and _FILE_OF_ONE.search(path) else None
    if word and looks_made_up(word[1]) and not is_placeholder(word[1]):
        yield *word.span(1), KEY if path.endswith("key") else SECRET


def in_urls(text: str) -> PlacedSecrets:
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


KIND = "private key"


_HEAD = re.compile(
    r"-{4,5} ?BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}"
    r"|Private-Lines: \d{1,4}"
)


_FOOT = re.compile(r"-{4,5} ?END (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}")


_BEGINS = re.compile(
    # What the base64 of a private key's bytes begins with: RSA and DSA, those of elliptic curves, OpenSSH's own.
    r"(?<![A-Za-z0-9+/])(?:MII[A-Z][A-Za-z0-9+/][AQgw]IBA[AD]|MI[CG][A-Za-z0-9+/][AQgw]?[AQgw]IBA|MIG[HkI2][AQ]gE[AB]"
    r"|MIHuAgEA|MIHcAgEB|MIG[A-Za-z0-9+/]AgE[AB]|MH[A-Za-z0-9+/]CAQEE|MC4CAQAw|MEcCAQAw|b3BlbnNzaC1rZXkt"
    # What is encrypted by a password, the stores of PKCS 12 and of Java, and what OpenPGP's begins with.
    r"|MI[IG][A-Z0-9][A-Za-z0-9+/]{2,3}[BE]?[A-Za-z0-9+/]{0,2}BgkqhkiG9w0BBQ|MII[A-Z][A-Za-z0-9+/][AQgw]IBAzCC|/u3\+7QAAAAI"
    r"|(?:l[A-P][A-Za-z0-9+/]E[Q-h]|x[V-Z][A-Za-z0-9+/]E[Q-h]|lQ[A-Za-z0-9+/]{2}B[E-I]|x[c-f][A-Za-z0-9+/]{2}B[E-I])"
    r"(?=[A-Za-z0-9+/]{40}))"
)


_HINTS = ("PRIVATE KEY", "Private-Lines:", "OpenVPN Static key")


_JUNK = re.compile(rf"(?:\n{MARGIN}|[ \t\r\"'`,;\\|>#*(){{}}\[\].]|\+(?=[ \t\r\n\"'`])|-(?=[ \t]))*+")


_BODY = re.compile(r"[A-Za-z0-9+/]++={0,2}(?![A-Za-z0-9_(.:]|-(?!-{3}))")


_BASE64 = re.compile(r"[A-Za-z0-9+/]++")


_HEADER_LINE = re.compile(r"[A-Z][A-Za-z-]{2,20}: ?[^\n]{0,120}(?=\n)|=[A-Za-z0-9+/]{4}(?![A-Za-z0-9+/])")


_MOST_HEADER_LINES = 8


_SHORTEST_LINE = 16


_LONG_LINE, _LONGEST_LINE = 40, 200


_LONGEST_HEAD = 100


_LAST_LINE = re.compile(
    rf"\n?{MARGIN}[ \t\"'`#*|>/]{{0,200}}([A-Za-z0-9+/]{{1,200}}={{0,2}})[ \t\r\"'`,;+\\)\].]{{0,200}}\Z"
)


_IN_BASE64 = tuple(
    base64.b64encode(b"\0" * shift + b" PRIVATE KEY-----").decode()[(0, 2, 3)[shift] : (22, 23, 24)[shift]]
    for shift in range(3)
)
"""What stands in the base64 of a key's text, wherever in it the words begin."""


_MEMBER_OF_PRIVATE_KEYS = re.compile(r"\"(?:d|p|q|dp|dq|qi|k)\"\s{0,3}:\s{0,3}\"([A-Za-z0-9_-]{22,}+)\"")


_NEAR = 2_500


Spans = Iterator[tuple[int, int]]


def private_keys(text: str, words: Words) -> Spans:
    """Where the secret lines of private keys stand. What is not base64 from end to end is never part of one."""
    if any(words.may_hold(hint) for hint in _HINTS):
        yield from _between_head_and_foot(text)
    if _BEGINS.search(words.long):
        yield from _known_by_its_bytes(text)
    for hint in _IN_BASE64:
        if hint in words.long:
            yield from _encoded(text, hint)
    if '"kty"' in text:
        yield from _members(text)


def in_base64(text: str) -> bool:
    """Whether the base64 of a key's text is in it, which is found as such."""
    return any(hint in text for hint in _IN_BASE64)


def _between_head_and_foot(text: str) -> Spans:
    for head in _HEAD.finditer(text):
        yield from _lines_after(text, head.end())
    shown = 0
    for foot in _FOOT.finditer(text):
        yield from _lines_before(text, foot.start(), shown)
        shown = foot.end()


def _known_by_its_bytes(text: str) -> Spans:
    done = 0
    for begin in _BEGINS.finditer(text):
        if begin.start() >= done:
            for span in _lines_after(text, begin.start()):
                yield span
                done = span[1]


def _lines_after(text: str, at: int) -> Spans:
    """The lines of base64 that follow, as far as they go on; a short one counts only as the last of a whole key."""
    headers, width = 0, 0
    while True:
        at = _after_junk(text, at)
        body = _BODY.match(text, at)
        if body is not None and _belongs(body[0], width):
            width = width or len(body[0])
            yield body.span()
            at = body.end()
        elif body is not None and width and _FOOT.match(text, _after_junk(text, body.end())):
            yield body.span()
            return
        elif headers < _MOST_HEADER_LINES and (header := _HEADER_LINE.match(text, at)):
            headers += 1
            at = header.end()
        else:
            return


def _after_junk(text: str, at: int) -> int:
    junk = _JUNK.match(text, at)
    return junk.end() if junk else at


def _belongs(line: str, width: int) -> bool:
    """Whether a line is one of a key's, all of which are of one width but the last."""
    if len(line) < _SHORTEST_LINE:
        return False
    return len(line) == width or _BEGINS.match(line) is not None or looks_random(line)


def _lines_before(text: str, end: int, first: int) -> Spans:
    """The same for a key whose beginning is not shown, back to ``first``."""
    found: list[tuple[int, int]] = []
    end = text.rfind("\n", 0, end)
    while end > first:
        start = text.rfind("\n", 0, end) + 1
        line = _LAST_LINE.match(text[start:end]) if end - start < _LONGEST_LINE else None
        if line is None or (found and not (len(line[1]) >= _LONG_LINE and looks_random(line[1]))):
            break
        found.append((start + line.start(1), start + line.end(1)))
        end = start - 1
    if any(stop - start >= _LONG_LINE and looks_random(text[start:stop]) for start, stop in found):
        yield from found


def _encoded(text: str, hint: str) -> Spans:
    """The lines of base64 in which the first words of a key are written."""
    at = text.find(hint)
    while at >= 0:
        start = at
        while start > 0 and at - start < _LONGEST_HEAD and (text[start - 1].isalnum() or text[start - 1] in "+/"):
            start -= 1
        run = _BASE64.match(text, at)
        at = run.end() if run else at + len(hint)  # another hint in the same run leads to the same lines
        for span in _lines_after(text, start):
            yield span
            at = max(at, span[1])
        at = text.find(hint, at)


def _members(text: str) -> Spans:
    """The private members of a JSON Web Key."""
    for member in _MEMBER_OF_PRIVATE_KEYS.finditer(text):
        if text.find('"kty"', max(0, member.start() - _NEAR), member.end() + _NEAR) >= 0:
            yield member.span(1)


Found = tuple[int, int, str]
"""Where a secret begins and ends, and its kind."""


KINDS = tuple(
    dict.fromkeys(
        [
            *(form.kind for form in FORMATS),
            *(pair.kind for pair in PAIRS),
            KIND,
            *ASSIGNED_KINDS,
            IN_URL,
        ]
    )
)
"""Every kind of secret that a mark may name."""


LIKELY = frozenset((*ASSIGNED_KINDS, IN_URL))
"""The kinds that a name or a place tells, and no form of their own: such a value is likely a secret, not surely."""


MOST_ROUNDS = 4
"""What stands beside a mark may be a secret only now that it stands alone: it is looked for until nothing is found."""


_SHORT_TEXT, _LONG_TEXT = 128, 16_384


_RANDOM_ENOUGH = 0.6


_BLANK_TO_FILL = "x" * 12


_BY_LAST_SIGN = {
    sign: tuple(form for form in FORMATS if form.holds[-1] == sign)
    for sign in dict.fromkeys(form.holds[-1] for form in FORMATS)
}
"""Most texts lack most of the signs that the beginnings of tokens end with."""


_NEXT_FILE = "\n\nFILE "
"""Where the diff that the bot shows goes on with another file: an id there belongs to no secret here."""


def redact(text: str) -> str:
    """``text``, which is prose, with marks for everything that looks like a secret; it has as many lines as before."""
    if len(text) < SHORTEST_TOKEN:
        return text
    if len(text) < _SHORT_TEXT:
        return _redacted_word(text)
    return _redacted_page(text) if len(text) < _LONG_TEXT else _redacted(text)


@lru_cache(maxsize=2_048)
def _redacted_word(text: str) -> str:
    """Paths, ids and names come by again and again."""
    return _redacted(text)


@lru_cache(maxsize=64)
def _redacted_page(text: str) -> str:
    """Instructions come by with every call, and what a model says as its reply, as an answer and in an event."""
    return _redacted(text)


def _redacted(text: str) -> str:
    for _ in range(MOST_ROUNDS):
        found = masks(text, secrets_in(text), (Piece(0, len(text), 0, "prose"),))
        shown = with_masks(text, (each for of_one in found for each in of_one))
        if shown == text:
            break
        text = shown
    return text


def secrets_in(text: str, path: str = "") -> list[Found]:
    """Where secrets stand in ``text``, in order, none within another and none across a line feed.

    Of a file whose ``path`` is known, the name may tell that all of it is one secret.
    """
    reading = read(text)
    found = [(*place, kind) for start, end, kind in _all(reading.text) for place in reading.places(start, end)]
    if reading.text != text:  # what an escape or a broken literal looks like may be a secret's own
        found += in_urls(text)
        found += _issued(text, words_of(text))
    found += in_file(text, path)
    return apart(found)


def issued_kind(text: str) -> str:
    """The kind of the first secret in ``text`` that has the form of a known issuer; empty without one."""
    return next((kind for _, _, kind in _issued(text, words_of(text))), "")


def _all(text: str) -> Iterator[Found]:
    words = words_of(text)
    low = in_low_ascii(text.replace("\uff1a", ":"))
    issued = list(_issued(text, words))
    yield from issued
    yield from _paired(text, issued)
    yield from ((start, end, KIND) for start, end in private_keys(text, words))
    yield from assigned(text, low, words)
    yield from placed(text, low, words)
    yield from in_urls(text)
    for spans, meant in encoded(text, words):
        if not in_base64(text[spans[0][0] : spans[-1][1]]) and (inner := secrets_in(meant)):
            yield from ((*span, inner[0][2]) for span in spans)


def _issued(text: str, words: Words) -> Iterator[Found]:
    runs = words.long
    held = [form for sign, forms in _BY_LAST_SIGN.items() if sign in runs for form in forms if form.holds in runs]
    for form in sorted(held, key=FORMATS.index):
        if not form.before and not _compiled_secret_shapes(form.pattern).search(words.all):
            continue
        at = text.find(form.holds)
        while at >= 0:
            found = _compiled_secret_shapes(form.pattern).match(text, at - form.before) if at >= form.before else None
            if found is not None and _form_counts(form, found):
                group = found.lastindex or 0
                yield *found.span(group), form.kind
                at = text.find(form.holds, found.end())
            else:
                at = text.find(form.holds, at + len(form.holds))


@cache
def _compiled_secret_shapes(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _form_counts(form: Format, found: re.Match[str]) -> bool:
    if _BLANK_TO_FILL in found[0].lower():
        return False
    if not form.weak:
        return True
    before = found.string[found.start() - 1] if found.start() else " "
    drawn = found[found.lastindex or 0]
    return not before.isalnum() and looks_random(drawn.removeprefix(form.holds), _RANDOM_ENOUGH)


def _paired(text: str, issued: Iterable[Found]) -> Iterator[Found]:
    """The secrets that stand near the id that they belong to, or near its mark."""
    for pair in PAIRS:
        near = [(start, end) for start, end, kind in issued if kind == pair.id_kind]
        if (known := mark(pair.id_kind)) in text:
            near += [found.span() for found in re.finditer(re.escape(known), text)]
        done = 0
        for start, end in sorted(near):
            first = max(done, text.rfind(_NEXT_FILE, max(0, start - NEAR), start), start - NEAR)
            after = text.find(_NEXT_FILE, end, end + NEAR)
            last = after if after >= 0 else end + NEAR
            for found in _compiled_secret_shapes(pair.pattern).finditer(text, first, last):
                if of_both_cases(found[0]) and looks_random(found[0]):
                    yield *found.span(), pair.kind
            done = last


def apart(found: list[Found]) -> list[Found]:
    """Of what overlaps, one: from the first beginning to the last end, of the kind of the longest."""
    merged: list[Found] = []
    for start, end, kind in sorted(found, key=lambda each: (each[0], -each[1])):
        if merged and start < merged[-1][1]:
            begin, stop, first = merged[-1]
            merged[-1] = (begin, max(stop, end), first)
        else:
            merged.append((start, end, kind))
    return merged

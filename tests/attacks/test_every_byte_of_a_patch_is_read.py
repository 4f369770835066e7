"""`git am` and `patch` apply more than plain diffs. A patch that holds more than those is refused."""

from __future__ import annotations

import base64
import quopri
from pathlib import Path

import pytest

from review_advisor.change.change import SourceError
from review_advisor.change.patch_source import open_patch

GOOD = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
EVIL = "diff --git a/evil.py b/evil.py\nnew file mode 100644\n--- /dev/null\n+++ b/evil.py\n@@ -0,0 +1 @@\n+attack()\n"
FROM = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n"
PEOPLE = "From: A <a@b.c>\nDate: Mon, 1 Jan 2024 00:00:00 +0000\nSubject: [PATCH] fine\n"
SIGNED = "-- \n2.39.5\n\n"
GOOD_MAIL = f"{FROM}{PEOPLE}\n---\n x | 2 +-\n\n{GOOD}{SIGNED}"
ENCODED = base64.b64encode(f"---\n{EVIL}".encode()).decode()
PRINTABLE = quopri.encodestring(f"---\n{EVIL}".encode()).decode().replace("+", "=2B").replace("@@", "=40=40")
CONTEXT = "*** evil.py\n--- evil.py\n***************\n*** 1 ****\n! a\n--- 1 ----\n! attack()\n"


def mail(*headers: str, body: str = EVIL) -> str:
    return f"{FROM}{PEOPLE}" + "".join(f"{each}\n" for each in headers) + f"\n{body}\n"


def indented(text: str, by: str) -> str:
    return "".join(by + line for line in text.splitlines(keepends=True))


def multipart(kind: str, disposition: str) -> str:
    part = f'Content-Type: text/x-patch; name="0001.patch"\nContent-Disposition: {disposition}\n\n{EVIL}'
    inside = (
        f"This is a multi-part message in MIME format.\n--b\nContent-Type: text/plain\n\nwords\n\n--b\n{part}\n--b--\n"
    )
    return mail("MIME-Version: 1.0", f'Content-Type: multipart/{kind}; boundary="b"', body=inside)


HIDDEN = {
    "a second mail in base64": GOOD_MAIL + mail("Content-Transfer-Encoding: base64", body=ENCODED),
    "an encoding in odd case": GOOD_MAIL + mail("CONTENT-transfer-ENCODING: BaSe64", body=ENCODED),
    "a folded encoding": GOOD_MAIL + mail("Content-Transfer-Encoding:\n base64", body=ENCODED),
    "a first mail in base64": mail("Content-Transfer-Encoding: base64", body=ENCODED) + GOOD_MAIL,
    "a bare mail in base64": f"{PEOPLE}Content-Transfer-Encoding: base64\n\n{ENCODED}\n{GOOD}",
    "a mail in base64 with CRLF": (GOOD_MAIL + mail("Content-Transfer-Encoding: base64", body=ENCODED)).replace(
        "\n", "\r\n"
    ),
    "quoted-printable": GOOD_MAIL + mail("Content-Transfer-Encoding: quoted-printable", body=PRINTABLE),
    "an unknown encoding": GOOD_MAIL + mail("Content-Transfer-Encoding: uuencode"),
    "format=flowed": GOOD_MAIL + mail("Content-Type: text/plain; charset=utf-8; format=flowed"),
    "a mail in UTF-16": GOOD_MAIL + mail('Content-Type: text/plain; charset="utf-16"'),
    "a mail in UTF-7": GOOD_MAIL + mail("Content-Type: text/plain; charset=UTF-7"),
    "a mail in HTML": GOOD_MAIL + mail("Content-Type: text/html; charset=UTF-8"),
    "an attachment": GOOD_MAIL + multipart("mixed", "attachment"),
    "an inline part": GOOD_MAIL + multipart("mixed", "inline"),
    "a context diff": GOOD + CONTEXT,
    "a context diff without names": GOOD + CONTEXT.partition("\n")[2].partition("\n")[2],
    "an ed script": f"{GOOD}Index: evil.py\n1c\nattack()\n.\n",
    "an ed script that deletes": f"{GOOD}1,3d\n",
    "a normal diff": f"{GOOD}Index: evil.py\n1c1\n< a\n---\n> attack()\n",
    "an indented diff": GOOD + indented(EVIL, "    "),
    "a diff behind tabs": GOOD + indented(EVIL, "\t"),
    "a diff behind X": GOOD + indented(EVIL, "X"),
    "a quoted diff": GOOD + indented(EVIL, "> "),
    "an encapsulated diff": GOOD + indented("--- /dev/null\n+++ evil.py\n@@ -0,0 +1 @@\n+attack()\n", "- "),
    "an indented change of mode": f"{GOOD}  diff --git a/evil.py b/evil.py\n  old mode 100644\n  new mode 100755\n",
    "an indented context diff": GOOD + indented(CONTEXT, "  "),
    "an indented combined diff": f"{GOOD}  diff --combined evil.py\n",
    "an indented diff in a message": f"{FROM}{PEOPLE}\nWords:\n\n{indented(EVIL, '    ')}\n---\n{GOOD}{SIGNED}",
    "names without a hunk header": f"{GOOD}--- a/evil.py\n+++ b/evil.py\n\n@@ -0,0 +1 @@\n+attack()\n",
    "another name in an Index line": f"Index: evil.py\n{'=' * 67}\n--- src/x\n+++ src/x\n@@ -1 +1 @@\n-a\n+b\n",
    "an Index line that ends the patch": f"{GOOD}Index: evil.py\n",
    "a hunk of a binary file": "diff --git a/x b/x\nBinary files a/x and b/x differ\n@@ -1 +1 @@\n-a\n+attack()\n",
    "another name above a rename": "diff --git a/evil b/evil\nsimilarity index 100%\nrename from x\nrename to y\n",
    "names that lose their first folder": "diff --git s/.github/x s/.github/x\n--- s/.github/x\n+++ s/.github/x\n"
    "@@ -1 +1 @@\n-a\n+b\n",
    "prefixes in one of two files": f"{GOOD}diff --git src/x src/x\n--- src/x\n+++ src/x\n@@ -1 +1 @@\n-a\n+b\n",
    "a name that ends at a blank": GOOD.replace("/x", "/evil.py x"),
    "a new name that ends at a blank": EVIL.replace("/evil.py", "/evil.py x"),
    "a deleted name that ends at a blank": "diff --git a/evil.py x b/evil.py x\ndeleted file mode 100644\n"
    "--- a/evil.py x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    "a blank name without git's line": "--- /dev/null\n+++ b/evil.py x\n@@ -0,0 +1 @@\n+attack()\n",
    "a blank before the tab": GOOD.replace("/x\n@@", "/x \t\n@@")
    .replace("/x\n+", "/x \t\n+")
    .replace("b/x\n-", "b/x \n-"),
    "a blank before the tab of a date": "--- a/x \t2020-01-01\n+++ b/x \t2020-01-01\n@@ -1 +1 @@\n-a\n+attack()\n",
    "a rename to a name that ends at a blank": "diff --git a/evil.py b/evil.py x\nsimilarity index 50%\n"
    "rename from evil.py\nrename to evil.py x\n--- a/evil.py\n+++ b/evil.py x\n@@ -1 +1 @@\n-a\n+attack()\n",
    "two names of one file": "--- a/evil.py\n+++ b/src/x\n@@ -1 +1 @@\n-a\n+attack()\n",
    "two names without prefixes": "--- evil.py\n+++ x\n@@ -1 +1 @@\n-a\n+attack()\n",
    "two names, of which one is a copy of the other": "--- a/x.orig\n+++ b/x\n@@ -1 +1 @@\n-a\n+attack()\n",
    "a name with a step to the same folder": GOOD.replace("/x", "/./x"),
    "a name with an empty step": GOOD.replace("/x", "//x"),
    "a name with a step upwards": GOOD.replace("/x", "/src/../x"),
    "a plain name with an empty step": "--- a//x\n+++ b//x\n@@ -1 +1 @@\n-a\n+attack()\n",
    "a NUL byte": f"{GOOD}\0 words\n",
    "a byte order mark": f"\ufeff{EVIL}{GOOD}",
}


@pytest.mark.parametrize("case", HIDDEN)
def test_a_patch_with_more_than_its_plain_diffs_is_refused(tmp_path: Path, case: str) -> None:
    place = tmp_path / "p.patch"
    place.write_bytes(HIDDEN[case].encode())
    with pytest.raises(SourceError, match=r"^The patch .*: .*git (?:diff|format-patch)[^\n]*\.$"):
        open_patch(place).change()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_a_patch_in_another_encoding_is_refused(tmp_path: Path, encoding: str) -> None:
    place = tmp_path / "p.patch"
    place.write_bytes(f"{GOOD}{EVIL}".encode(encoding))
    with pytest.raises(SourceError, match="UTF-8"):
        open_patch(place).change()


MIME = 'MIME-Version: 1.0\nContent-Type: text/plain; charset="UTF-8"\nContent-Transfer-Encoding: 8bit\n'
PROSE = "Words about --- a/x\n--- a/x\n\n>From here on diff -u and *** stars ***\n@@ not a hunk @@\n3 files, 2d art\n"
READ = {
    "a diff": GOOD,
    "a mail": GOOD_MAIL,
    "a name with a blank": GOOD.replace("b/x\n@@", "b/x\t\n@@").replace("a/x\n+", "a/x\t\n+").replace("/x", "/x y"),
    "a mail with CRLF": GOOD_MAIL.replace("\n", "\r\n"),
    "two mails": GOOD_MAIL + mail(body=f"---\n{GOOD}{SIGNED}"),
    "a mail that says that it is plain": f"{FROM}{PEOPLE}{MIME}\nWörds\n---\n{GOOD}{SIGNED}",
    "a message that mentions diffs": f"{FROM}{PEOPLE}\n{PROSE}---\n x | 2 +-\n\n{GOOD}{SIGNED}",
    "a cover letter": f"{FROM}{PEOPLE}\nWords\n\n x | 2 +-\n\n{SIGNED}{GOOD_MAIL}",
    "Subversion's diff": f"Index: x\n{'=' * 67}\n--- x\t(revision 1)\n+++ x\t(working copy)\n@@ -1 +1 @@\n-a\n+b\n",
}


@pytest.mark.parametrize("case", READ)
def test_a_patch_with_nothing_but_plain_diffs_is_read(tmp_path: Path, case: str) -> None:
    place = tmp_path / "p.patch"
    place.write_bytes(READ[case].encode())
    assert {file.path for file in open_patch(place).change().files} <= {"x", "y", "x y"}

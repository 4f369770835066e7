"""Words beside a dangerous call that look like protection and give none: the static checks find it all the same."""

from pathlib import Path

import pytest
from tests.unit.test_embedded_checks import answer_alone, written

DANGERS = [
    ("eval(input(), {})", "S307"),
    ("eval(input(), {'__builtins__': {}}, {})", "S307"),
    ("exec(input(), globals={})", "S102"),
    ("exec(*[input()])", "S102"),
    ("tarfile.open(input()).extractall(filter='fully_trusted')", "S202"),
    ("tarfile.open(input()).extractall(filter=tarfile.fully_trusted_filter)", "S202"),
    ("tarfile.open(input()).extractall(members=None)", "S202"),
    ("opened.extractall(members=opened.getmembers())", "S202"),
]
CAPITALS = [
    "def run(WORD):\n    os.system('ls ' + WORD)\n",
    "def run(word):\n    WORD = word\n    os.system('ls ' + WORD)\n",
    "def run(self):\n    WORD = self.folder\n    os.system('ls ' + WORD)\n",
]
FALSE_NAMES = [
    "def quote(word):\n    return word\n\n\neval(quote(input()))\n",
    "from urllib.parse import unquote as quote\n\neval(quote(input()))\n",
    "quote = str\neval(quote(input()))\n",
    "class Box:\n    def time(self, word):\n        return word\n\n\nbox = Box()\neval(box.time(input()))\n",
    "import base64 as shlex\n\neval(shlex.quote(input()))\n",
]
RIGHT_NAMES = [
    "import shlex\n\neval(shlex.quote(input()))\n",
    "from shlex import quote\n\neval(quote(input()))\n",
    "eval(f'value_{int(input())}')\n",
]


@pytest.mark.parametrize("line, rule", DANGERS)
def test_an_argument_that_protects_nothing_hides_no_call(tmp_path: Path, line: str, rule: str) -> None:
    text = f"import tarfile\n\nopened = tarfile.open('a.tar')\n{line}\n"
    answered = answer_alone(written(tmp_path, {"app.py": text}), tmp_path)
    assert (answered.verdict, [each.category for each in answered.findings]) == ("reject", [f"security/{rule}"])


@pytest.mark.parametrize("text", CAPITALS)
def test_a_parameter_in_capitals_is_no_constant(tmp_path: Path, text: str) -> None:
    answered = answer_alone(written(tmp_path, {"app.py": f"import os\n\n\n{text}"}), tmp_path)
    assert (answered.verdict, [each.category for each in answered.findings]) == ("reject", ["security/S605"])


@pytest.mark.parametrize("text", FALSE_NAMES)
def test_a_name_of_what_makes_texts_harmless_makes_none(tmp_path: Path, text: str) -> None:
    answered = answer_alone(written(tmp_path, {"app.py": text}), tmp_path)
    assert (answered.verdict, [each.category for each in answered.findings]) == ("reject", ["security/S307"])


@pytest.mark.parametrize("text", RIGHT_NAMES)
def test_what_does_make_a_text_harmless_is_believed(tmp_path: Path, text: str) -> None:
    assert answer_alone(written(tmp_path, {"app.py": text}), tmp_path).findings == ()

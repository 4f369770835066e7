"""Draw docs/images/demo.svg from a real run of ``review-advisor demo``. Durations differ from run to run.

Fonts are those of the reader's machine: nothing is fetched.
"""

import html
import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "demo.svg"
WIDTH = 132
COMMAND = "$ make demo"
FONTS = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace'


def demonstration() -> list[str]:
    """What the demo wrote, in its order, without the places where things lie on this machine."""
    bot = Path(sys.executable).with_name("review-advisor")
    with tempfile.TemporaryDirectory() as folder:
        command = [str(bot), "demo", "--artifacts", folder]
        done = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    lines = done.stdout.replace(f" of {ROOT}", " of this repository").splitlines()
    return [line for line in lines if not line.startswith(("Artefacts: ", "As it would stand"))]


def drawn() -> list[str]:
    """The lines of the picture as it is, without the title and the command."""
    found = re.findall(r"<text\b[^>]*>(.*?)</text>", PICTURE.read_text(encoding="utf-8"), re.DOTALL)
    lines = [html.unescape(re.sub(r"<[^>]+>", "", each)).replace("\xa0", " ") for each in found]
    return lines[lines.index(COMMAND) + 1 :]


def main() -> None:
    """Run, draw, write."""
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text(COMMAND, style="bold"))
    for line in demonstration():
        console.print(Text(line), overflow="fold")
    picture = console.export_svg(title="review-advisor demo", unique_id="demo")
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    picture = re.sub(r"font-family: [^;]+;", f"font-family: {FONTS};", picture)
    picture = picture.replace("<svg ", '<svg xml:space="preserve" ', 1)  # some renderers drop leading spaces
    if "http" in picture.replace("http://www.w3.org/", "").replace("https://www.textualize.io", ""):
        raise SystemExit("the picture would fetch something")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text("\n".join(line.rstrip() for line in picture.splitlines()) + "\n", encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)} is drawn")


if __name__ == "__main__":
    main()

"""Draw docs/images/github-*.png: what the bot writes on a pull request, as GitHub shows it, in light and in dark.

The texts are those that a played story left (``github_stories``). Each picture carries their digest, by which a test
tells whether they have changed since; a picture of today's texts is drawn only if it is named. It needs Chromium, and
no network.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from github_stories import PICTURES, Picture
from PIL import Image, ImageChops
from PIL.PngImagePlugin import PngInfo

from review_advisor.mockworld.github_page import THEMES, page

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
WIDTH, TALLEST = 900, 4_000
MARGIN = 16
COLOURS = 128
DIGEST = "Texts"
"""The field of a picture that tells of which texts it is."""
SECONDS = 60


def file_of(name: str, theme: str) -> Path:
    """Where a picture lies."""
    return IMAGES / f"github-{name}{'' if theme == 'light' else f'-{theme}'}.png"


def drawn(picture: Picture, theme: str) -> str:
    """The page of a picture."""
    return page(picture.name, picture.shown, picture.patches, theme, opened=picture.opened)


def digest_in(file: Path) -> str:
    """Of which texts a picture is; empty if it does not say so, or is not there."""
    if not file.exists():
        return ""
    with Image.open(file) as image:
        return str(image.info.get(DIGEST, ""))


def draw(chromium: str, picture: Picture, theme: str) -> None:
    """One picture. Raises ``SystemExit`` if Chromium makes none."""
    with tempfile.TemporaryDirectory() as folder:
        source, shot = Path(folder, "page.html"), Path(folder, "page.png")
        source.write_text(drawn(picture, theme), encoding="utf-8")
        flags = ["--headless", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb", "--disable-lcd-text"]
        flags += ["--no-sandbox"] if os.geteuid() == 0 else []
        flags += [f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{TALLEST}", f"--screenshot={shot}"]
        command = [chromium, *flags, source.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        if not shot.exists():
            raise SystemExit(f"{chromium} made no picture:\n{done.stderr[-2_000:]}")
        with Image.open(shot) as image:
            shown = _cropped(image.convert("RGB")).quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=3)
    told = PngInfo()
    told.add_text(DIGEST, picture.digest)
    shown.save(file_of(picture.name, theme), optimize=True, pnginfo=told)


def _cropped(image: Image.Image) -> Image.Image:
    """Without the empty end of the window."""
    empty = Image.new("RGB", image.size, image.getpixel((0, image.height - 1)))
    box = ImageChops.difference(image, empty).getbbox()
    if box is None or box[3] == image.height:
        raise SystemExit("the page is empty, or taller than the window")
    return image.crop((0, 0, image.width, box[3] + MARGIN))


def main() -> None:
    """Play, draw, write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--chromium", default="chromium", help="the command that starts Chromium")
    options.add_argument("names", nargs="*", help="these pictures, even if they are of today's texts")
    given = options.parse_args()
    chromium = shutil.which(given.chromium)
    if chromium is None:
        raise SystemExit(f"there is no command {given.chromium}: name yours with --chromium")
    for tell in PICTURES:
        picture = tell()
        for theme in THEMES:
            target = file_of(picture.name, theme)
            if picture.name in given.names or digest_in(target) != picture.digest:
                draw(chromium, picture, theme)
                print(f"{target.relative_to(ROOT)} is drawn ({target.stat().st_size // 1_000} kB)")
            else:
                print(f"{target.relative_to(ROOT)} shows what is written today")


if __name__ == "__main__":
    main()

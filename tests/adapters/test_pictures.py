"""Real pictures made by Pillow, from real git trees and real folders."""

import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageOps
from tests.adapters.git_repository import Repo

from review_advisor.adapters.git.open import open_patch, open_range
from review_advisor.adapters.pictures import frames, pairs, pixels
from review_advisor.adapters.pictures.pairs import ComparedPictures
from review_advisor.adapters.pictures.pixels import compare
from review_advisor.adapters.worktree import WorkFolder
from review_advisor.core.facts.change import Change
from review_advisor.core.facts.pictures import PictureDifference
from review_advisor.ports import SourceError

WHITE, RED = (255, 255, 255, 255), (255, 0, 0, 255)
Saved = Callable[..., bytes]


def saved(picture: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    buffer = BytesIO()
    picture.save(buffer, form, **options)
    return buffer.getvalue()


def plain(width: int = 200, height: int = 100, mode: str = "RGBA") -> Image.Image:
    return Image.new("RGBA", (width, height), WHITE).convert(mode)


def spotted(*spots: tuple[int, int], width: int = 200, height: int = 100) -> Image.Image:
    picture = plain(width, height)
    for spot in spots:
        picture.putpixel(spot, RED)
    return picture


@pytest.fixture
def gallery(tmp_path: Path) -> Path:
    folder = tmp_path / "gallery"
    folder.mkdir()
    return folder


def of(gallery: Path, before: bytes | None, after: bytes | None, places: int = 24) -> PictureDifference:
    found = compare("shots/a.png", before, after, gallery, places)
    assert sorted(found.crops) == sorted(path.name for path in gallery.iterdir())
    for crop in found.crops:
        with Image.open(gallery / crop) as shown:
            assert shown.format == "PNG"
            assert max(shown.size) <= pixels.LONGEST_SIDE
    return found


# --- pixels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(lambda: saved(plain(), compress_level=1), id="other compression"),
        pytest.param(lambda: saved(plain(mode="RGB")), id="no alpha"),
        pytest.param(lambda: saved(plain(mode="L")), id="grey"),
        pytest.param(lambda: saved(plain(mode="P")), id="palette"),
        pytest.param(lambda: saved(plain(mode="RGB"), "BMP"), id="bmp"),
        pytest.param(lambda: saved(plain(), "WEBP", lossless=True), id="webp"),
        pytest.param(lambda: saved(plain(mode="P"), "GIF"), id="gif"),
    ],
)
def test_the_same_pixels_are_identical_whatever_the_file(again: Callable[[], bytes], gallery: Path) -> None:
    found = of(gallery, saved(plain(), compress_level=9), again())
    assert (found.state, found.changed_pixels, found.crops, found.unread) == ("identical", 0, (), False)


def test_one_pixel_is_found_and_shown_without_loss(gallery: Path) -> None:
    found = of(gallery, saved(plain()), saved(spotted((150, 50))))
    assert (found.state, found.changed_pixels, found.partly) == ("differs", 1, False)
    before, after = found.crops
    assert before.replace("-before.png", "-after.png") == after
    with Image.open(gallery / after) as shown:
        assert shown.size == (49, 49)
        assert shown.convert("RGBA").getpixel((24, 24)) == RED
    with Image.open(gallery / before) as shown:
        assert shown.convert("RGBA").getcolors() == [(49 * 49, WHITE)]


def test_near_places_are_one_and_far_ones_are_two(gallery: Path) -> None:
    found = of(gallery, saved(plain(600, 600)), saved(spotted((10, 10), (40, 20), (590, 590), width=600, height=600)))
    assert len(found.crops) == 4
    assert {crop.split("-")[2] for crop in found.crops} == {"x0", "x566"}


def test_a_large_place_is_tiled(gallery: Path) -> None:
    found = of(gallery, saved(plain(1_500, 2_500)), saved(Image.new("RGBA", (1_500, 2_500), RED)))
    assert (len(found.crops), found.partly) == (12, False)
    assert found.changed_pixels == 1_500 * 2_500


def test_what_does_not_fit_is_counted_and_the_picture_is_unread(gallery: Path) -> None:
    found = of(gallery, saved(plain(1_500, 2_500)), saved(Image.new("RGBA", (1_500, 2_500), RED)), places=4)
    assert (len(found.crops), found.partly, found.unread) == (8, True, True)
    assert found.why == "2 more places are not shown"


def test_many_scattered_places_share_crops(gallery: Path) -> None:
    spots = [(x, y) for x in range(10, 900, 150) for y in range(10, 900, 150)]
    found = of(gallery, saved(plain(900, 900)), saved(spotted(*spots, width=900, height=900)))
    assert (len(found.crops), found.changed_pixels, found.partly) == (2, len(spots), False)


def test_another_size_is_a_difference_and_is_said(gallery: Path) -> None:
    found = of(gallery, saved(plain(200, 100)), saved(plain(200, 110)))
    assert (found.state, found.changed_pixels, found.why) == ("differs", 2_000, "200x100 became 200x110")
    assert len(found.crops) == 2


def test_a_missing_side_shows_the_other(gallery: Path) -> None:
    added = of(gallery, None, saved(plain()))
    assert (added.state, [crop.rpartition("-")[2] for crop in added.crops]) == ("added", ["after.png"])
    for crop in added.crops:
        (gallery / crop).unlink()
    removed = of(gallery, saved(plain()), None)
    assert (removed.state, [crop.rpartition("-")[2] for crop in removed.crops]) == ("removed", ["before.png"])


def animated(*frames: Image.Image, duration: int = 100) -> bytes:
    first, *rest = frames
    return saved(first, save_all=True, append_images=rest, duration=duration, loop=0)


def test_every_frame_counts(gallery: Path) -> None:
    same = animated(plain(), spotted((5, 5)), plain())
    other = animated(plain(), spotted((5, 5), (100, 50)), plain())
    assert of(gallery, same, animated(plain(), spotted((5, 5)), plain())).state == "identical"
    found = of(gallery, same, other)
    assert (found.state, found.changed_pixels, found.why) == ("differs", 1, "animated, 3 frames")
    assert {crop.split("-")[1] for crop in found.crops} == {"f2"}


def test_another_timing_cannot_be_shown(gallery: Path) -> None:
    frames = (plain(), spotted((5, 5)))
    found = of(gallery, animated(*frames), animated(*frames, duration=2_000))
    assert (found.state, found.unread) == ("differs", True)


def test_another_colour_profile_cannot_be_shown(gallery: Path) -> None:
    found = of(gallery, saved(plain()), saved(plain(), icc_profile=b"another profile"))
    assert (found.state, found.changed_pixels, found.unread) == ("differs", 0, True)
    assert "colour profile" in found.why


def test_a_picture_turned_by_its_exif_data_differs(gallery: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 3
    half = plain()
    half.paste(RED, (0, 0, 100, 100))
    found = of(gallery, saved(half), saved(half, exif=exif))
    assert (found.state, found.changed_pixels) == ("differs", 20_000)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_turn_is_the_one_that_pillow_makes(
    orientation: int, gallery: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "PIECE", 16)
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = Image.linear_gradient("L").resize((70, 40))
    picture.paste(255, (0, 0, 9, 3))
    turned = saved(picture, exif=exif)
    with Image.open(BytesIO(turned)) as again:
        straight = saved(ImageOps.exif_transpose(again))
    assert of(gallery, turned, straight).state == "identical"
    assert of(gallery, straight, turned).state == "identical"
    assert of(gallery, saved(picture), turned).state == ("identical" if orientation == 1 else "differs")


def test_where_the_pieces_end_changes_nothing(gallery: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved(Image.effect_noise((150, 90), 60), icc_profile=b"a profile")
    after = saved(Image.effect_noise((120, 110), 60).convert("P"), "GIF")
    results = []
    for side in (1_024, 64, 17):
        monkeypatch.setattr(frames, "PIECE", side)
        found = of(gallery, before, after)
        results.append((found, [(gallery / crop).read_bytes() for crop in found.crops]))
    assert results[0] == results[1] == results[2]
    shown = results[0][1][0]
    with Image.open(BytesIO(shown)) as crop, Image.open(BytesIO(before)) as whole:
        assert crop.info.get("icc_profile") == b"a profile"
        assert crop.convert("L").crop((0, 0, 150, 90)).tobytes() == whole.tobytes()


def test_sixteen_bits_of_grey_are_seen(gallery: Path) -> None:
    dark, light = (Image.new("I;16", (50, 50), value) for value in (10_000, 60_000))
    assert of(gallery, saved(dark), saved(light)).changed_pixels == 2_500


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"not a picture", id="text"),
        pytest.param(saved(spotted((1, 1)))[:-30], id="cut"),
        pytest.param(saved(plain())[:40] + b"\0" * 60, id="garbled"),
        pytest.param(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", id="a program in disguise"),
        pytest.param(saved(plain(mode="RGB"), "TIFF"), id="another format in disguise"),
    ],
)
def test_what_cannot_be_read_is_said(content: bytes, gallery: Path) -> None:
    found = of(gallery, saved(plain()), content)
    assert (found.state, found.unread) == ("unreadable", True)
    assert found.why.startswith("damaged, or not what its name says")


def test_any_damage_to_a_file_is_an_answer_and_no_crash(gallery: Path) -> None:
    for form in ("PNG", "GIF", "BMP", "WEBP", "JPEG"):
        whole = saved(spotted((3, 3)).convert("RGB"), form)
        for at in range(0, len(whole), max(1, len(whole) // 60)):
            broken = whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]
            assert compare("a.png", whole, broken, gallery, 1).name == "a.png"


def bomb(width: int, height: int) -> bytes:
    """A PNG that says it is larger than it is."""
    small = saved(plain(1, 1))
    header = b"IHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big") + small[24:29]
    return small[:12] + header + zlib.crc32(header).to_bytes(4, "big") + small[33:]


@pytest.mark.parametrize("size", [(4_001, 4_000), (20_000, 20_000), (2**31 - 1, 2**31 - 1)])
def test_a_bomb_is_refused_by_its_header(size: tuple[int, int], gallery: Path) -> None:
    found = of(gallery, saved(plain()), bomb(*size))
    assert (found.state, found.why) == ("too_large", "more than 16000000 pixels")


def test_a_film_is_refused(gallery: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST_FRAMES", 3)
    film = animated(*(spotted((at, at)) for at in range(5)))
    assert of(gallery, film, saved(plain())).state == "too_large"


@pytest.mark.parametrize(
    "size, form, most",
    [
        ((3_001, 3_000), "JPEG", "9000000 pixels, the most in a JPEG file"),
        ((2_501, 2_000), "WEBP", "5000000 pixels, the most in a WEBP file"),
    ],
)
def test_a_format_that_takes_more_memory_has_a_lower_limit(
    size: tuple[int, int], form: str, most: str, gallery: Path
) -> None:
    found = of(gallery, saved(plain()), saved(Image.new("RGB", size), form))
    assert (found.state, found.unread, found.why) == ("too_large", True, f"more than {most}")


@pytest.mark.parametrize("form", ["GIF", "PNG"])
def test_a_moving_picture_has_a_lower_limit(form: str, gallery: Path) -> None:
    moving = [Image.new("P", (2_501, 2_000), colour) for colour in (0, 1)]
    found = of(gallery, saved(plain()), saved(moving[0], form, save_all=True, append_images=moving[1:]))
    assert (found.state, found.why) == ("too_large", "more than 5000000 pixels, the most in a moving picture")
    assert of(gallery, saved(moving[0], form), saved(moving[0], form)).state == "identical"


_PEAK = """
import sys, tempfile
from pathlib import Path
from PIL import Image
from review_advisor.adapters.pictures.pixels import compare

def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024 // 1_000_000

Image.init()
at_first = peak()
before, after = (Path(name).read_bytes() for name in sys.argv[1:])
with tempfile.TemporaryDirectory() as gallery:
    found = compare("a.png", before, after, Path(gallery), 24)
print(found.state, found.changed_pixels, peak() - at_first)
"""


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the peak of a process is read from /proc")
@pytest.mark.parametrize(
    "form, size, options",
    [
        pytest.param("PNG", (4_000, 4_000), {"compress_level": 1}, id="png"),
        pytest.param("JPEG", (3_000, 3_000), {"progressive": True, "subsampling": 0, "quality": 90}, id="jpeg"),
        pytest.param("WEBP", (2_500, 2_000), {"method": 0}, id="webp"),
        pytest.param("PNG", (2_500, 2_000), {"compress_level": 1, "save_all": True}, id="moving"),
    ],
)
def test_the_largest_pair_takes_less_than_150_megabytes(
    form: str, size: tuple[int, int], options: dict[str, Any], tmp_path: Path
) -> None:
    first = Image.new("RGB", size, "white")
    second = Image.new("RGB", size, "white")
    second.paste("red", (1_000, 1_000, 1_100, 1_100))
    if "save_all" in options:
        options = options | {"append_images": [second, first, second]}
    (tmp_path / "before").write_bytes(saved(first, form, **options))
    (tmp_path / "after").write_bytes(saved(second, form, **options))
    command = [sys.executable, "-c", _PEAK, str(tmp_path / "before"), str(tmp_path / "after")]
    state, changed, megabytes = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert (state, int(changed) >= 10_000) == ("differs", True)
    assert int(megabytes) <= 150


def test_a_side_that_cannot_be_kept_ends_the_review_before_anything_is_paid(
    gallery: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = (saved(plain()), saved(spotted((1, 1))))
    monkeypatch.setattr(tempfile, "TemporaryFile", partial(open, "/dev/full", "r+b"))
    with pytest.raises(SourceError, match=r"cannot be kept while it is compared: No space left on device\.$"):
        compare("a.png", *pair, gallery, 1)
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(gallery / "gone"))
    with pytest.raises(SourceError, match=r"^A temporary file cannot be made: No such file or directory\.$"):
        compare("a.png", *pair, gallery, 1)
    assert of(gallery, None, pair[1]).state == "added"


def test_a_crop_that_cannot_be_written_ends_the_review_before_anything_is_paid(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="crop of a picture cannot be written"):
        compare("a.png", saved(plain()), saved(spotted((1, 1))), tmp_path / "gone", 1)


# --- pairs -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


@pytest.fixture
def compared(repo: Repo) -> Iterator[Callable[..., tuple[ComparedPictures, tuple[PictureDifference, ...]]]]:
    """Compares the last commit's pictures."""
    opened: list[ComparedPictures] = []

    def run(*globs: str, folder: str = "") -> tuple[ComparedPictures, tuple[PictureDifference, ...]]:
        source = open_range(repo.path, "HEAD~1..HEAD")
        work = WorkFolder(repo.path, folder) if folder else None
        pictures = ComparedPictures(source.base_part, source.head_part, globs, work, folder)
        opened.append(pictures)
        return pictures, pictures.differences(source.change())

    yield run
    for each in opened:
        each.close()


def test_pairs_of_a_change_come_from_both_trees(repo: Repo, compared: Any) -> None:
    spot = saved(spotted((9, 9)))
    for name in ("kept", "Changed", "gone", "moved from", "elsewhere"):
        content = saved(spotted((len(name), 1)), compress_level=1)
        repo.write(f"{'src' if name == 'elsewhere' else 'shots/deep'}/{name}.PNG", content)
    repo.write("shots/logo.svg", "<svg/>\n")
    repo.write("shots/notes.txt", "a\n")
    repo.commit()
    repo.write("shots/deep/kept.PNG", saved(spotted((len("kept"), 1)), compress_level=9))
    repo.write("shots/deep/Changed.PNG", spot)
    repo.write("shots/new.png", spot)
    (repo.path / "shots/deep/gone.PNG").unlink()
    (repo.path / "shots/deep/moved from.PNG").rename(repo.path / "shots/moved to.PNG")
    repo.write("src/elsewhere.PNG", spot)
    repo.write("shots/logo.svg", "<svg></svg>\n")
    repo.write("shots/notes.txt", "b\n")
    repo.commit()
    repo.write("shots/new.png", "the working folder does not count")
    pictures, found = compared("shots/")
    assert {each.name: each.state for each in found} == {
        "shots/deep/Changed.PNG": "differs",
        "shots/deep/gone.PNG": "removed",
        "shots/deep/kept.PNG": "identical",
        "shots/logo.svg": "vector",
        "shots/moved to.PNG": "identical",
        "shots/new.png": "added",
    }
    folder = pictures.gallery
    assert folder.stat().st_mode & 0o077 == 0
    assert {path.name for path in folder.iterdir()} == {crop for each in found for crop in each.crops}
    pictures.close()
    assert not folder.exists()


def test_without_globs_no_picture_of_the_change_counts(repo: Repo, compared: Any) -> None:
    repo.commit()
    repo.write("a.png", saved(plain()))
    repo.commit()
    pictures, found = compared()
    assert (found, pictures.gallery) == ((), None)


def test_what_has_no_pixels_to_compare_is_named(repo: Repo, compared: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_BYTES", 5_000)
    for name in ("lfs.png", "link.png", "large.bmp", "odd.tiff", "binary.svg"):
        repo.write(name, saved(plain(9, 9)))
    repo.commit()
    repo.write("lfs.png", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n")
    (repo.path / "link.png").unlink()
    (repo.path / "link.png").symlink_to("/etc/passwd")
    repo.write("large.bmp", saved(plain(100, 100), "BMP"))
    repo.write("odd.tiff", b"II*\0")
    repo.write("binary.svg", b"<svg>\0</svg>")
    repo.commit()
    _, found = compared("*")
    assert all(each.unread and each.crops == () for each in found)
    assert {each.name: each.why for each in found} == {
        "binary.svg": "this kind of picture is not compared",
        "large.bmp": "a file of more than 0 MB",
        "lfs.png": "its content is in Git LFS, not in the repository",
        "link.png": "its after side is no regular file that can be had",
        "odd.tiff": "this kind of picture is not compared",
    }


def test_a_patch_brings_no_pixels(repo: Repo, tmp_path: Path) -> None:
    repo.write("a.png", saved(plain()))
    repo.commit()
    repo.write("a.png", saved(spotted((1, 1))))
    repo.commit()
    patch = tmp_path / "change.diff"
    patch.write_bytes(repo.git("diff", "--binary", "HEAD~1..HEAD"))
    source = open_patch(patch)
    pictures = ComparedPictures(source.base_part, source.head_part, ("*.png",))
    (found,) = pictures.differences(source.change())
    assert (found.state, found.why) == ("unreadable", "its before side is no regular file that can be had")


def test_pairs_of_a_folder(repo: Repo, compared: Any) -> None:
    repo.commit()
    repo.commit()
    for side, spots in (("before", ()), ("after", ((3, 3),))):
        repo.write(f"visual/{side}/page/home.png", saved(spotted(*spots)))
        repo.write(f"visual/{side}/same.png", saved(plain()))
        repo.write(f"visual/{side}/drawn.svg", f"<svg>{side}</svg>")
        repo.write(f"visual/{side}/log.txt", side)
    repo.write("visual/after/new.png", saved(plain()))
    (repo.path / "visual/before/new.png").symlink_to(repo.path / "visual/after/new.png")
    _, found = compared(folder="visual")
    assert {each.name: each.state for each in found} == {
        "visual/drawn.svg": "unreadable",
        "visual/new.png": "unreadable",
        "visual/page/home.png": "differs",
        "visual/same.png": "identical",
    }
    assert "symbolic link" in found[1].why


def test_a_folder_that_is_a_link_is_refused(repo: Repo, compared: Any, tmp_path: Path) -> None:
    repo.commit()
    repo.commit()
    (tmp_path / "outside" / "before").mkdir(parents=True)
    (tmp_path / "outside" / "before" / "a.png").write_bytes(saved(plain()))
    (repo.path / "visual").symlink_to(tmp_path / "outside")
    with pytest.raises(SourceError, match=r"^visual/before is a symbolic link or cannot be read"):
        compared(folder="visual")
    (repo.path / "visual").unlink()
    _, found = compared(folder="visual")
    assert found == ()


def test_the_limits_of_one_review_are_named(gallery: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_PICTURES", 3)
    monkeypatch.setattr(pairs, "MOST_PLACES", 1)

    class Two:
        def names(self, side: str) -> tuple[str, ...]:
            return ("a.png", "b.png", "c.png", "d.png")

        def read(self, name: str, most: int) -> bytes | str:
            return saved(plain()) if name.startswith("before/") else saved(spotted((1, 1)))

    pictures = ComparedPictures(lambda *_: None, lambda *_: None, (), Two(), "v")
    found = pictures.differences(Change("x"))
    pictures.close()
    assert [(each.state, len(each.crops), each.unread) for each in found] == [
        ("differs", 2, False),
        ("differs", 0, True),
        ("differs", 0, True),
        ("too_large", 0, True),
    ]

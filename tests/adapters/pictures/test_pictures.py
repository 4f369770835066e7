"""Real pictures made by Pillow, from real git trees and real folders."""

import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageOps
from tests.adapters.git_repository import Repo

from review_advisor.change import picture_deadline as deadline
from review_advisor.change import pictures as pairs
from review_advisor.change import pixels
from review_advisor.change import pixels as frames
from review_advisor.change.change import Change, FileChange, SourceError, Status
from review_advisor.change.patch_source import open_patch
from review_advisor.change.picture_deadline import Deadline
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.change.pictures import ComparedPictures
from review_advisor.change.pixels import Gallery, compare
from review_advisor.change.sources import open_range
from review_advisor.safety.stop import ReviewInterrupted

WHITE, RED = (255, 255, 255, 255), (255, 0, 0, 255)


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


def uninterrupted() -> None:
    """Nobody has asked the review to end."""


def endless() -> Deadline:
    return Deadline(uninterrupted)


@pytest.fixture
def gallery(tmp_path: Path) -> Path:
    folder = tmp_path / "gallery"
    folder.mkdir()
    return folder


def of(gallery: Path, before: bytes | None, after: bytes | None, places: int = 24) -> PictureDifference:
    found = compare("shots/a.png", before, after, Gallery(gallery, "p001", places), endless())
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


@pytest.mark.every_case
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


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_with(*chunks: bytes) -> bytes:
    whole = saved(plain())
    return whole[:33] + b"".join(chunks) + whole[33:]


def chromaticities(*numbers: int) -> bytes:
    return chunk(b"cHRM", struct.pack(">8I", *numbers))


def profile(text: bytes = b"a profile", level: int = 9) -> bytes:
    return chunk(b"iCCP", b"name\0\0" + zlib.compress(text * 20, level))


SRGB = chromaticities(31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)
DISPLAY_P3 = chromaticities(31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000)
SRGB_GAMMA, LINEAR = (chunk(b"gAMA", struct.pack(">I", gamma)) for gamma in (45455, 100000))
INTENT = chunk(b"sRGB", b"\0")
PQ, HLG = (chunk(b"cICP", bytes((9, transfer, 0, 1))) for transfer in (16, 18))
BRIGHT, DARK = (chunk(b"mDCV", struct.pack(">8H2I", *[0] * 8, most, 1)) for most in (10_000_000, 1_000_000))


def jpeg_with_profile_behind_its_header(profile: bytes) -> bytes:
    """Where a browser finds it and Pillow does not."""
    whole = saved(plain(mode="RGB"), "JPEG")
    scan = whole.index(b"\xff\xda")
    return whole[:scan] + segment(0xE2, b"ICC_PROFILE\0\1\1" + profile) + whole[scan:]


def segment(marker: int, data: bytes) -> bytes:
    return bytes((0xFF, marker)) + struct.pack(">H", len(data) + 2) + data


def bmp_with_a_calibrated_header(gamma: int) -> bytes:
    pixels = bytes(range(200)) * 6
    place = struct.pack("<IiiHHIIiiII", 108, 20, 20, 1, 24, 0, len(pixels), 0, 0, 0, 0)
    colours = struct.pack("<4I4s9I3I", 0, 0, 0, 0, b"\0\0\0\0", *[1] * 9, *[gamma] * 3)
    size = 14 + 108 + len(pixels)
    return b"BM" + struct.pack("<IHHI", size, 0, 0, 14 + 108) + place + colours + pixels


def gif_with_profile(profile: bytes) -> bytes:
    whole = saved(plain(mode="P"), "GIF")
    first = whole.index(b",\0\0\0\0")
    return whole[:first] + b"!\xff\x0bICCRGBG1012" + bytes((len(profile),)) + profile + b"\0" + whole[first:]


@pytest.mark.parametrize(
    "before, after",
    [
        pytest.param(png_with(), png_with(PQ), id="png: cICP is new"),
        pytest.param(png_with(), png_with(profile()), id="png: a profile is new"),
        pytest.param(png_with(PQ), png_with(HLG), id="png: another cICP"),
        pytest.param(png_with(SRGB), png_with(DISPLAY_P3), id="png: another cHRM"),
        pytest.param(png_with(), png_with(LINEAR), id="png: gAMA is new"),
        pytest.param(png_with(LINEAR), png_with(INTENT, LINEAR), id="png: sRGB overrules gAMA"),
        pytest.param(png_with(SRGB_GAMMA, DISPLAY_P3), png_with(DISPLAY_P3), id="png: gAMA is gone"),
        pytest.param(png_with(BRIGHT), png_with(DARK), id="png: another mDCV"),
        pytest.param(png_with(SRGB_GAMMA), png_with(SRGB_GAMMA, DISPLAY_P3), id="png: sRGB's gAMA, another cHRM"),
        pytest.param(png_with(profile()), png_with(profile(), profile()), id="png: two profiles"),
        pytest.param(
            png_with(profile(b"one"), profile()), png_with(profile(b"two"), profile()), id="png: the first of two"
        ),
        pytest.param(png_with(), png_with(chunk(b"iCCP", b"name\0\0no zlib")), id="png: a damaged profile"),
        pytest.param(png_with(), png_with()[:-12] + PQ + png_with()[-12:], id="png: behind the pixels"),
        pytest.param(
            jpeg_with_profile_behind_its_header(b"one"), jpeg_with_profile_behind_its_header(b"two"), id="jpeg"
        ),
        pytest.param(
            saved(plain(), "WEBP", lossless=True),
            saved(plain(), "WEBP", lossless=True, icc_profile=b"another profile"),
            id="webp",
        ),
        pytest.param(bmp_with_a_calibrated_header(1), bmp_with_a_calibrated_header(2), id="bmp"),
        pytest.param(gif_with_profile(b"one"), gif_with_profile(b"two"), id="gif"),
    ],
)
def test_whatever_says_how_the_same_pixels_look_is_compared(before: bytes, after: bytes, gallery: Path) -> None:
    for one, other in ((before, after), (after, before)):
        found = of(gallery, one, other)
        assert (found.state, found.changed_pixels, found.unread) == ("differs", 0, True)
        assert "colour profile" in found.why


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(png_with(INTENT), id="sRGB is named"),
        pytest.param(png_with(INTENT, SRGB_GAMMA, SRGB), id="sRGB is named three times"),
        pytest.param(png_with(chunk(b"cICP", bytes((1, 13, 0, 1)))), id="sRGB by its numbers"),
        pytest.param(png_with(chunk(b"pHYs", struct.pack(">IIB", 1, 9, 0))), id="a resolution is no colour"),
    ],
)
def test_saying_that_it_is_srgb_changes_no_look(again: bytes, gallery: Path) -> None:
    assert of(gallery, png_with(), again).state == "identical"


def test_the_same_profile_compressed_otherwise_is_the_same(gallery: Path) -> None:
    assert of(gallery, png_with(profile(level=0)), png_with(profile(level=9))).state == "identical"


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_turn_is_the_one_that_pillow_makes(orientation: int, gallery: Path) -> None:
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


def test_where_a_comparison_is_cut_in_two_changes_nothing(gallery: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved(Image.effect_noise((150, 90), 60), icc_profile=b"a profile")
    after = saved(Image.effect_noise((120, 110), 60).convert("P"), "GIF")
    results = []
    for rows in (1_024, 64, 17):
        monkeypatch.setattr(pixels, "_ROWS", rows)
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
            assert compare("a.png", whole, broken, Gallery(gallery, "p001", 1), endless()).name == "a.png"


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


def test_a_jpeg_file_of_too_many_scans_is_refused(gallery: Path) -> None:
    whole = saved(plain(mode="RGB"), "JPEG", progressive=True)
    own = whole.count(b"\xff\xda")
    last = whole[whole.rindex(b"\xff\xda") : -2]
    most = whole[:-2] + last * (frames.MOST_SCANS - own) + whole[-2:]
    assert of(gallery, whole, most).state == "identical"
    for one, other in ((whole, most[:-2] + last + most[-2:]), (most[:-2] + last + most[-2:], whole)):
        found = of(gallery, one, other)
        assert (found.state, found.unread, found.why) == (
            "too_large",
            True,
            f"more than {frames.MOST_SCANS} scans, the most in a JPEG file",
        )


def in_many_parts(form: str, parts: int) -> bytes:
    """A small picture with so many comments that say nothing."""
    whole = saved(plain(9, 9, "P"), form) if form != "JPEG" else saved(plain(9, 9, "RGB"), form)
    at, part = {
        "JPEG": (2, segment(0xFE, b"")),
        "PNG": (33, chunk(b"teSt", b"")),
        "GIF": (whole.find(b",\0\0\0\0"), b"!\xfe\0"),
    }[form]
    return whole[:at] + part * parts + whole[at:]


@pytest.mark.parametrize("form", ["JPEG", "PNG", "GIF"])
def test_a_file_of_too_many_small_parts_is_refused(form: str, gallery: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST_READS", 1_000)
    assert of(gallery, in_many_parts(form, 0), in_many_parts(form, 20)).state == "identical"
    found = of(gallery, in_many_parts(form, 0), in_many_parts(form, 1_000))
    assert (found.state, found.unread, found.why) == ("too_large", True, "a file of too many small parts")


@pytest.mark.parametrize("form, at", [("JPEG", 2), ("PNG", 33)])
def test_a_file_with_too_much_before_its_pixels_is_refused(form: str, at: int, gallery: Path) -> None:
    whole = saved(plain(9, 9, "RGB"), form)
    part = segment(0xE1, b"x" * 60_000) if form == "JPEG" else chunk(b"teSt", b"x" * 60_000)
    assert of(gallery, whole, whole[:at] + part * 60 + whole[at:]).state == "identical"
    found = of(gallery, whole, whole[:at] + part * 70 + whole[at:])
    assert (found.state, found.unread, found.why) == ("too_large", True, "more than 4 MB before its pixels")


def test_text_that_is_large_only_once_it_is_unpacked_is_refused(gallery: Path) -> None:
    whole = saved(plain())
    text = chunk(b"zTXt", b"a\0\0" + zlib.compress(b"x" * 900_000))
    assert of(gallery, whole, whole[:-12] + text * 4 + whole[-12:]).state == "identical"
    found = of(gallery, whole, whole[:-12] + text * 5 + whole[-12:])
    assert (found.state, found.unread) == ("unreadable", True)


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
from review_advisor.change.picture_deadline import Deadline
from review_advisor.change.pixels import Gallery, compare

def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024 // 1_000_000

Image.init()
at_first = peak()
before, after = (Path(name).read_bytes() for name in sys.argv[1:])
with tempfile.TemporaryDirectory() as gallery:
    found = compare("a.png", before, after, Gallery(Path(gallery), "p001", 24), Deadline(lambda: None))
print(found.state, found.changed_pixels, peak() - at_first)
"""


@pytest.mark.every_case
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
    state, changed, megabytes = compared_alone(tmp_path, saved(first, form, **options), saved(second, form, **options))
    assert (state, changed >= 10_000) == ("differs", True)
    assert megabytes <= 150


@pytest.mark.every_case
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the peak of a process is read from /proc")
def test_a_file_of_millions_of_parts_takes_less_than_150_megabytes(tmp_path: Path) -> None:
    state, _, megabytes = compared_alone(tmp_path, in_many_parts("JPEG", 0), in_many_parts("JPEG", 4_900_000))
    assert state == "too_large"
    assert megabytes <= 150


def compared_alone(folder: Path, before: bytes, after: bytes) -> tuple[str, int, int]:
    """What a process of its own finds, and how much memory it takes for it, in megabytes."""
    (folder / "before").write_bytes(before)
    (folder / "after").write_bytes(after)
    command = [sys.executable, "-c", _PEAK, str(folder / "before"), str(folder / "after")]
    state, changed, megabytes = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return state, int(changed), int(megabytes)


def test_a_crop_that_cannot_be_written_ends_the_review_before_anything_is_paid(tmp_path: Path) -> None:
    gone = Gallery(tmp_path / "gone", "p001", 1)
    with pytest.raises(SourceError, match="crop of a picture cannot be written"):
        compare("a.png", saved(plain()), saved(spotted((1, 1))), gone, endless())


# --- pairs -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def compared(repo: Repo) -> Iterator[Callable[..., tuple[ComparedPictures, tuple[PictureDifference, ...]]]]:
    """Compares the last commit's pictures."""
    opened: list[ComparedPictures] = []

    def run(*globs: str) -> tuple[ComparedPictures, tuple[PictureDifference, ...]]:
        source = open_range(repo.path, "HEAD~1..HEAD")
        pictures = ComparedPictures(source.base_part, source.head_part, globs)
        opened.append(pictures)
        return pictures, pictures.differences(source.change(), uninterrupted)

    yield run
    for each in opened:
        each.close()


def test_without_pillow_a_picture_that_differs_counts_as_not_read_and_the_extra_is_named(
    repo: Repo, compared: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("review_advisor.change.pictures.find_spec", lambda name: None)
    repo.write("shots/a.png", saved(plain()))
    repo.write("shots/b.png", saved(spotted((1, 1)), compress_level=1))
    repo.commit()
    repo.write("shots/a.png", saved(spotted((9, 9))))
    repo.write("shots/b.png", saved(spotted((1, 1)), compress_level=9))
    repo.commit()
    _, found = compared("shots/")
    assert [(each.state, each.unread) for each in found] == [("unreadable", True)] * 2
    assert all("pip install 'review-advisor[pictures]'" in each.why for each in found)


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
    (found,) = pictures.differences(source.change(), uninterrupted)
    assert (found.state, found.why) == ("unreadable", "its before side is no regular file that can be had")


def test_the_limits_of_one_review_are_named(gallery: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_PICTURES", 3)
    monkeypatch.setattr(pairs, "MOST_PLACES", 1)

    files = tuple(FileChange(Status.MODIFIED, f"{name}.png", binary=True) for name in "abcd")
    pictures = ComparedPictures(lambda *_: saved(plain()), lambda *_: saved(spotted((1, 1))), ("*.png",))
    found = pictures.differences(Change("x", files=files), uninterrupted)
    pictures.close()
    assert [(each.state, len(each.crops), each.unread) for each in found] == [
        ("differs", 2, False),
        ("differs", 0, True),
        ("differs", 0, True),
        ("too_large", 0, True),
    ]


def added(**content: bytes) -> tuple[Change, Callable[[str, int], bytes | None]]:
    """A change that adds these pictures in ``shots``, and its head."""
    tree = {f"shots/{name}.png": picture for name, picture in content.items()}
    files = tuple(FileChange(Status.ADDED, path, binary=True) for path in tree)
    return Change("x", files=files), lambda path, most: tree.get(path)


def nothing_there(path: str, most: int) -> bytes | None:
    return None


def colour_of(crop: Path) -> object:
    with Image.open(crop) as shown:
        return shown.convert("RGBA").getpixel((0, 0))


def test_no_two_pictures_share_a_crop() -> None:
    """These two names begin with the same eight digits once they are hashed; that was the crops' key."""
    change, head = added(**{"95623": saved(plain()), "138055": saved(Image.new("RGBA", (200, 100), RED))})
    pictures = ComparedPictures(nothing_there, head, ("shots/",))
    one, other = pictures.differences(change, uninterrupted)
    folder = pictures.gallery
    assert folder is not None
    assert [colour_of(folder / crop) for crop in (*one.crops, *other.crops)] == [WHITE, RED]
    pictures.close()


def test_no_crops_name_is_a_part_of_anothers() -> None:
    change, head = added(**{f"picture{number}": saved(plain()) for number in range(12)})
    pictures = ComparedPictures(nothing_there, head, ("shots/",))
    crops = [crop for each in pictures.differences(change, uninterrupted) for crop in each.crops]
    pictures.close()
    assert len(crops) == 12
    assert not [(one, other) for one in crops for other in crops if one != other and one in other]


# --- how long --------------------------------------------------------------------------------------------------------


class Asked:
    """Counts how often it is asked whether the review was interrupted, and says so at one time."""

    def __init__(self, at: int = 0) -> None:
        self.times = 0
        self._at = at

    def __call__(self) -> None:
        self.times += 1
        if self.times == self._at:
            raise ReviewInterrupted("interrupted by SIGTERM", signal_number=15)


@pytest.mark.every_case
def test_an_interrupt_ends_the_comparison_at_its_next_step() -> None:
    film = animated(*(spotted((at, at)) for at in range(1, 31)))
    change, head = added(before=saved(plain()), film=film, behind=saved(plain()))
    undisturbed = Asked()
    with closing(ComparedPictures(nothing_there, head, ("shots/",))) as pictures:
        assert [each.state for each in pictures.differences(change, undisturbed)] == ["added"] * 3
    assert undisturbed.times > 3 * 30, "at every frame and every crop"
    for at in range(1, undisturbed.times, 7):
        with closing(ComparedPictures(nothing_there, head, ("shots/",))) as pictures:
            found = pictures.differences(change, Asked(at))
            states = [each.state for each in found]
            assert states.count("unreadable") == 1, "it was said only once here"
            (left,) = (each for each in found if each.state == "unreadable")
            assert (left.crops, left.why) == ((), "the review was interrupted before it was compared")


def test_after_an_interrupt_no_picture_is_even_read() -> None:
    read: list[str] = []

    def head(path: str, most: int) -> bytes:
        read.append(path)
        return saved(plain())

    def interrupted() -> None:
        if read:
            raise ReviewInterrupted("interrupted by SIGTERM", signal_number=15)

    change, _ = added(a=b"", b=b"", c=b"")
    with closing(ComparedPictures(nothing_there, head, ("shots/",))) as pictures:
        found = pictures.differences(change, interrupted)
    assert [each.state for each in found] == ["unreadable"] * 3
    assert read == ["shots/a.png"]


def test_once_the_time_is_over_the_rest_is_named_and_never_approved(monkeypatch: pytest.MonkeyPatch) -> None:
    change, head = added(a=saved(plain()), b=saved(plain()), c=saved(plain()))

    def in_time_for_one(path: str, most: int) -> bytes | None:
        if path == "shots/b.png":
            monkeypatch.setattr(deadline, "MOST_SECONDS", 0)
        return head(path, most)

    with closing(ComparedPictures(nothing_there, in_time_for_one, ("shots/",))) as pictures:
        found = pictures.differences(change, uninterrupted)
        assert [path.name for path in (pictures.gallery or Path()).iterdir()] == list(found[0].crops)
    assert [(each.state, each.unread) for each in found] == [("added", False), ("too_large", True), ("too_large", True)]
    assert {each.why for each in found[1:]} == {"the 0 seconds for all pictures were over"}

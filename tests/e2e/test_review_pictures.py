"""Pictures in whole reviews with the real CLI: what the agents see is pixels, without loss."""

from __future__ import annotations

import base64
import json
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from tests.e2e.review_answers import CODE_FILE, code, confirm, report, veto
from tests.e2e.review_world import EXECUTOR, POST_VERIFY, ReviewWorld, fences
from tests.e2e.stub_api import Request, read, several, structured, tool_use

from review_advisor.policy.surfaces import Surface
from review_advisor.review.events import CallEnded
from review_advisor.review.rulings import Outcome

SHOT = "shots/login.png"
VISUAL = 'visual_paths = ["shots/"]'
RED, WHITE = (255, 0, 0), (255, 255, 255)


def shot(*spots: tuple[int, int], level: int = 6) -> bytes:
    picture = Image.new("RGB", (1_400, 900), WHITE)
    for spot in spots:
        picture.putpixel(spot, RED)
    buffer = BytesIO()
    picture.save(buffer, "PNG", compress_level=level)
    return buffer.getvalue()


def pictures_change(world: ReviewWorld, before: bytes, after: bytes) -> None:
    world.repo.write(SHOT, before)
    world.repo.commit("a picture")
    world.repo.write(SHOT, after)
    world.change({CODE_FILE: code(3)})


def images(request: Request) -> list[bytes]:
    """Every image block of a request, decoded."""
    found: list[bytes] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if value.get("type") == "image":
                found.append(base64.b64decode(value["source"]["data"]))
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    walk(request.body["messages"])
    return found


def crops_of(request: Request) -> list[str]:
    return [line.strip() for line in fences(request)["PICTURES"].splitlines() if line.startswith("  ")]


def test_both_agents_see_the_crops_pixel_by_pixel_d37(world: ReviewWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures_change(world, shot(), shot((700, 450)))
    names: list[str] = []
    asked = {EXECUTOR: 0, POST_VERIFY: 0}

    def agent(role: Any, final: Any) -> Any:
        def reply() -> Any:
            request = world.of(role)[-1]
            if "PICTURES" not in fences(request):
                return final
            world.without_consults.append(request) if role is EXECUTOR else None
            asked[role] += 1
            names[:] = crops_of(request)
            if asked[role] == 1:
                return several(*(tool_use("Read", file_path=name) for name in names))
            if asked[role] == 2:
                return read("../../etc/passwd")
            return final

        return reply

    world.answers(EXECUTOR, agent(EXECUTOR, report()))
    world.answers(POST_VERIFY, agent(POST_VERIFY, confirm()))
    done = world.review(config=VISUAL)
    assert done.end == (Outcome.APPROVED, 0)
    assert len(names) == 2
    for role in (EXECUTOR, POST_VERIFY):
        seen = [Image.open(BytesIO(image)) for image in images(world.of(role)[-1])]
        assert [(picture.format, picture.size) for picture in seen] == [("PNG", (49, 49))] * 2
        assert {picture.convert("RGB").getpixel((24, 24)) for picture in seen} == {RED, WHITE}
        assert "root:" not in json.dumps(world.of(role)[-1].body)
    seen_by = {each.role: each.opened for each in done.document.events if isinstance(each, CallEnded) and each.opened}
    assert seen_by == {role: tuple(sorted(names)) for role in (EXECUTOR, POST_VERIFY)}
    (shown,) = done.document.pictures
    assert (shown.name, shown.state, shown.changed_pixels) == (SHOT, "differs", 1)


@pytest.mark.parametrize("opens", ["nothing", "one side"])
def test_a_picture_that_the_judge_does_not_open_is_not_approved(world: ReviewWorld, opens: str) -> None:
    pictures_change(world, shot(), shot((700, 450)))

    def judge() -> Any:
        request = world.of(POST_VERIFY)[-1]
        if "PICTURES" not in fences(request) or images(request) or opens == "nothing":
            return confirm()
        return read(crops_of(request)[0])

    world.says(EXECUTOR, report(), report())
    world.answers(POST_VERIFY, judge)
    done = world.review(config=VISUAL)
    world.without_consults.append(world.of(EXECUTOR)[1])
    assert done.end == (Outcome.ESCALATED, 11)
    assert f"{SHOT} was not read: whoever judged it did not open all of its crops" in done.why
    assert len(images(world.of(POST_VERIFY)[-1])) == (opens == "one side")


def test_identical_pixels_cost_no_call(world: ReviewWorld) -> None:
    pictures_change(world, shot(level=1), shot(level=9))
    world.says(EXECUTOR, report())
    world.says(POST_VERIFY, confirm())
    done = world.review(config=VISUAL)
    assert done.end == (Outcome.APPROVED, 0)
    assert world.asked == ["executor", "post_verify"]
    assert done.document.surfaces[1].surface is Surface.VISUAL_GATE
    assert done.document.pictures[0].state == "identical"


def test_a_veto_on_a_damaged_and_a_changed_picture_calls_a_human(world: ReviewWorld) -> None:
    world.repo.write("shots/b.png", shot())
    pictures_change(world, shot(), shot((5, 5)))
    world.repo.write("shots/b.png", shot()[:200])
    world.repo.git("add", "--all")
    world.repo.git("commit", "--quiet", "--amend", "--no-edit")
    world.says(EXECUTOR, report(), report())
    world.says(POST_VERIFY, confirm(), veto())

    done = world.review(config=VISUAL)
    world.without_consults.append(world.of(EXECUTOR)[1])
    assert done.end == (Outcome.ESCALATED, 11)
    assert "shots/b.png: cannot be read: damaged" in done.why
    assert "vetoed on a one-shot surface" in done.why


def test_what_was_learned_lies_in_the_repository_afterwards(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3)})
    entry = {
        "title": "Prices triple",
        "body": "Every price is three times its number.",
        "path": CODE_FILE,
        "evidence": "price_2 = 2 * 3",
    }
    world.says(
        EXECUTOR,
        structured({"verdict": "approve", "summary": "fine", "confidence": 0.9, "knowledge": [entry]}),
    )
    world.says(POST_VERIFY, confirm(), confirm())
    done = world.review(config='wiki_folder = "docs/wiki"')
    assert done.end == (Outcome.APPROVED, 0)
    page = (world.repo.path / "docs/wiki/prices-triple.md").read_text(encoding="utf-8")
    assert page == done.text("wiki/prices-triple.md")
    assert f'path: "{CODE_FILE}"\nline: 2\n' in page
    assert json.loads(fences(world.of(POST_VERIFY)[1])["KNOWLEDGE"])[0]["title"] == "Prices triple"

"""What the adapter reads on the simulated GitHub, through PyGithub and real requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from tests.adapters.github.scene import APPROVED, HOSTILE_NAMES, PATCH, Scene, open_scene

from review_advisor.app.configuration import MOST_FOLDERS, declared_at
from review_advisor.change.change import REGULAR_MODE, SUBMODULE_MODE, SYMLINK_MODE
from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import LENS_MAP, MOST_DECLARED, TOO_MANY
from review_advisor.change.pull_request import Makers, Permission, Reaction, StandingRemark
from review_advisor.github.forge import (
    MOST_LISTED_COMMITS,
    MOST_RECENT,
    FolderEntry,
    ForgeError,
    ForgeMissing,
    ForgeRejected,
)
from review_advisor.github.state import CheckMark, Thread
from review_advisor.github.writes import MOST_CHARACTERS, Check, Conclusion, InlineComment
from review_advisor.mockworld.github import time_of
from review_advisor.mockworld.github_records import PullFile, Push
from review_advisor.policy.settings import ConfigError


@pytest.fixture
def scene() -> Iterator[Scene]:
    """A repository with one pull request by mona, and the adapter with a workflow's token."""
    with open_scene() as opened:
        yield opened


def test_a_pull_request_is_read_as_it_is(scene: Scene) -> None:
    pull = scene.opens(title="Fix \U0001f600 \u202e", body="x" * 200_000, branch="fix/\U0001f600 #1", draft=True)
    scene.github.labels(pull, "bug", "needs-human-review")
    assert scene.forge.pull_request(pull.number) == scene.fake.pull_request(pull.number)
    found = scene.forge.pull_request(pull.number)
    assert (found.title, len(found.body), found.head_ref) == (pull.title, 200_000, pull.head_ref)
    assert found.draft
    assert found.labels == ("bug", "needs-human-review")
    assert not found.from_fork


def test_a_fork_is_told_from_the_repository_and_a_deleted_one_is_still_a_fork(scene: Scene) -> None:
    scene.github.forks("octo/app", "eve")
    pull = scene.opens(by="eve")
    assert scene.forge.pull_request(pull.number).head_repository == "eve/app"
    scene.github.deletes_repository("eve/app")
    assert scene.forge.pull_request(pull.number).head_repository is None
    assert scene.forge.pull_request(pull.number).from_fork


def test_what_changed_lately_is_listed_with_its_checks(scene: Scene) -> None:
    forge, fake, github = scene.forge, scene.fake, scene.github
    old = scene.opens()
    github.app_token("octo-helper")
    bots = scene.opens(by="octo-helper[bot]")
    check = Check("review-advisor", f"pr-{bots.number}/usd-1.80", "t", "s", Conclusion.SUCCESS)
    forge.create_check(bots.head_sha, check)
    after = time_of(github.tick())
    waiting = scene.opens(by="eve")
    forge.create_check(waiting.head_sha, replace(check, external_id="x", conclusion=None))
    found = forge.recent_work("review-advisor", time_of(0))
    assert found == fake.recent_work("review-advisor", time_of(0))
    assert found.whole
    assert [each.number for each in found.pull_requests] == [waiting.number, bots.number, old.number]
    assert [each.checks for each in found.pull_requests] == [
        (CheckMark("github-actions", "x", in_progress=True),),
        (CheckMark("github-actions", check.external_id, in_progress=False),),
        (),
    ]
    assert [each.number for each in forge.recent_work("review-advisor", after).pull_requests] == [waiting.number]
    github.comments(old, by="eve", body="still here?")
    assert forge.recent_work("review-advisor", after).pull_requests[0].number == old.number
    github.move_branch(github.repository("octo/app"), old.head_ref, github.repository("octo/app").branches["main"])
    github.closes(old)
    found = forge.recent_work("review-advisor", after)
    assert found == fake.recent_work("review-advisor", after)
    assert found.pull_requests[0].checks is None, "it has no commit any more that could bear a check"
    assert found.pull_requests[0].closed_at == time_of(old.closed_at or 0)
    github.comments(old, by="eve", body="any news?")
    assert forge.recent_work("review-advisor", after).pull_requests == found.pull_requests
    assert [each.from_fork for each in found.pull_requests] == [False, False]
    github.forks("octo/app", "zoe")
    scene.opens(by="zoe")
    assert forge.recent_work("review-advisor", after).pull_requests[0].from_fork


def test_the_list_of_what_changed_lately_ends_somewhere_and_says_so(scene: Scene) -> None:
    for _ in range(MOST_RECENT + 1):
        scene.opens()
    found = scene.forge.recent_work("review-advisor", time_of(0))
    assert (len(found.pull_requests), found.whole) == (MOST_RECENT, False)
    assert found == scene.fake.recent_work("review-advisor", time_of(0))


def test_the_heads_of_a_branch_are_listed_also_those_that_a_forced_push_replaced(scene: Scene) -> None:
    pull = scene.opens()
    heads = [pull.head_sha]
    scene.github.pushes(pull, {"a.py": "1\n"})
    heads.append(pull.head_sha)
    scene.github.force_pushes(pull, {"a.py": "2\n"})
    heads.append(pull.head_sha)
    told = scene.forge.pull_request(pull.number)
    assert scene.forge.pushed_heads(told) == tuple(reversed(heads)) == scene.fake.pushed_heads(told)


def test_closed_and_merged_are_told_apart(scene: Scene) -> None:
    closed, merged = scene.opens(), scene.opens()
    scene.github.closes(closed)
    scene.github.merges(merged)
    assert scene.forge.pull_request(closed.number).state == "closed"
    assert scene.forge.pull_request(merged.number).state == "merged"


def test_a_pull_request_that_is_not_there_is_missing(scene: Scene) -> None:
    with pytest.raises(ForgeMissing, match="could not read pull request #99"):
        scene.forge.pull_request(99)


def test_two_open_pull_requests_can_have_one_head_and_a_closed_one_does_not_count(scene: Scene) -> None:
    first = scene.opens(branch="one")
    second = scene.opens(branch="one", contents={})
    closed = scene.opens(branch="one", contents={})
    scene.github.closes(closed)
    head = first.head_sha
    assert {head} == {second.head_sha, closed.head_sha}
    assert [each.number for each in scene.forge.open_pull_requests(head)] == [first.number, second.number]


def test_open_pull_requests_are_found_where_their_head_is_in_the_default_branch_by_now(scene: Scene) -> None:
    merged, other = scene.opens(branch="one"), scene.opens(branch="one", contents={})
    scene.github.merges(merged)
    assert [each.number for each in scene.forge.open_pull_requests(other.head_sha)] == [other.number]
    assert scene.fake.open_pull_requests(other.head_sha) == scene.forge.open_pull_requests(other.head_sha)


def makers(scene: Scene, number: int) -> list[set[str]]:
    """Whose work a pull request is, through both doors."""
    return [set(forge.makers(forge.pull_request(number)).logins) for forge in (scene.forge, scene.fake)]


def test_whoever_made_or_pushed_a_commit_is_a_maker(scene: Scene) -> None:
    pull = scene.opens()
    scene.github.pushes(pull, {"more.txt": "more\n"}, by=scene.github.user("hubot").login)
    scene.github.pushes(pull, {"last.txt": "last\n"}, by=scene.github.user("max").login, maker="mona")
    assert makers(scene, pull.number) == [{"mona", "hubot", "max"}] * 2
    scene.github.pushes(pull, {"last.txt": "more\n"}, by="hubot", maker="mona")
    assert makers(scene, pull.number) == [{"mona", "hubot", "max"}] * 2, "also whoever pushed an earlier commit"
    scene.github.force_pushes(pull, {"last.txt": "anew\n"}, by="mona")
    assert makers(scene, pull.number) == [{"mona"}] * 2, "who pushed what is no part of it any more is no maker"


def test_a_commit_that_names_no_account_leaves_its_maker_open(scene: Scene) -> None:
    pull = scene.opens()
    for maker, known in (("mona", True), ("", False), ("mona", False)):
        scene.github.pushes(pull, {"more.txt": f"{pull.head_sha}\n"}, by="mona", maker=maker)
        for forge in (scene.forge, scene.fake):
            assert forge.makers(forge.pull_request(pull.number)) == Makers(("mona",), whole=known)


def test_who_pushed_to_a_fork_that_is_gone_is_not_known(scene: Scene) -> None:
    scene.github.forks("octo/app", scene.github.user("eve").login)
    pull = scene.github.opens("octo/app", by="eve")
    scene.github.pushes(pull, {"last.txt": "last\n"}, by=scene.github.user("max").login, maker="eve")
    assert makers(scene, pull.number) == [{"eve", "max"}] * 2
    scene.github.repository("eve/app").private = True
    assert whole(scene, pull.number) == [False, False], "the token cannot read the fork"
    scene.github.deletes_repository("eve/app")
    assert makers(scene, pull.number) == [{"eve"}] * 2
    assert whole(scene, pull.number) == [False, False]


def whole(scene: Scene, number: int) -> list[bool]:
    """Whether all of those whose work it is are known, through both doors."""
    return [forge.makers(forge.pull_request(number)).whole for forge in (scene.forge, scene.fake)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("later, known", [(99, True), (100, True), (998, True), (999, False), (1_005, False)])
def test_a_push_is_known_however_many_came_after_it_up_to_a_bound(scene: Scene, later: int, known: bool) -> None:
    pull = scene.opens()
    scene.github.pushes(pull, {"more.txt": "more\n"}, by=scene.github.user("max").login, maker="mona")
    pushes = scene.github.repository("octo/app").pushes
    pushes += [Push(pull.head_ref, "d" * 40, "mona")] * (later - 1)
    pushes.append(Push(pull.head_ref, pull.head_sha, "mona"))
    found = [forge.makers(forge.pull_request(pull.number)) for forge in (scene.forge, scene.fake)]
    assert [each.whole for each in found] == [known] * 2
    assert ["max" in each.logins for each in found] == [later < 1_000] * 2


def test_two_commits_are_compared_by_their_names_whatever_is_pushed_meanwhile(scene: Scene) -> None:
    pull = scene.opens()
    base, author = scene.forge.tip("main"), scene.github.user("helper[bot]").login
    scene.github.commits("octo/app", "main", {"late.txt": "later\n"}, by="mona")
    head = scene.github.makes("octo/app", pull.head_ref, {"more.txt": "more\n"}, by=author, message="Bump\n\nLong")
    scene.github.force_pushes(pull, {"last.txt": "last\n"})
    found, same = scene.forge.compared(base, head), scene.fake.compared(base, head)
    assert found == same
    assert found.whole
    assert "more.txt" in found.paths
    assert not {"last.txt", "late.txt"} & set(found.paths)
    last = found.commits[-1]
    assert (last.sha, last.author, last.by_bot, last.committer, last.verified, last.parents, last.message) == (
        head, author, True, "web-flow", True, 1, "Bump\n\nLong",
    )  # fmt: skip
    assert [each.verified for each in found.commits[:-1]] == [False] * (len(found.commits) - 1)


@pytest.mark.parametrize("files, whole", [(299, True), (300, False)])
def test_a_comparison_of_many_files_is_not_whole(scene: Scene, files: int, whole: bool) -> None:
    contents = {f"{number}.txt": "x\n" for number in range(files)}
    pull = scene.github.opens("octo/app", contents, by="mona")
    base = scene.forge.tip("main")
    for forge in (scene.forge, scene.fake):
        assert forge.compared(base, pull.head_sha).whole is whole
    with pytest.raises(ForgeMissing):
        scene.forge.compared(base, "d" * 40)


def test_a_comparison_lists_the_commits_of_every_page(scene: Scene) -> None:
    pull = scene.opens()
    base = scene.forge.tip("main")
    for number in range(120):
        scene.github.pushes(pull, {"more.txt": f"{number}\n"})
    found = scene.forge.compared(base, pull.head_sha)
    assert found == scene.fake.compared(base, pull.head_sha)
    assert (len(found.commits), found.whole) == (121, True)


def test_who_pushed_the_head_has_to_be_known(scene: Scene) -> None:
    pull = scene.opens()
    scene.github.pushes(pull, {"more.txt": "more\n"})
    assert whole(scene, pull.number) == [True, True]
    del scene.github.repository("octo/app").pushes[-1]
    assert whole(scene, pull.number) == [False, False]


@pytest.mark.every_case
def test_of_a_very_long_pull_request_not_all_makers_are_known(scene: Scene) -> None:
    pull = scene.opens()
    for number in range(MOST_LISTED_COMMITS - 2):
        scene.github.pushes(pull, {"more.txt": f"{number}\n"})
    for forge in (scene.forge, scene.fake):
        assert forge.makers(forge.pull_request(pull.number)).whole
    scene.github.pushes(pull, {"more.txt": "one more\n"})
    for forge in (scene.forge, scene.fake):
        assert not forge.makers(forge.pull_request(pull.number)).whole


def test_a_comment_is_shown_to_be_seen_once(scene: Scene) -> None:
    pull = scene.opens()
    comment = scene.github.comments(pull, by="mona", body="/advisor help")
    for forge in (scene.forge, scene.fake, scene.forge):
        forge.react(comment.id)
    assert comment.seen_by == ["github-actions[bot]"]
    with pytest.raises(ForgeError):
        scene.forge.react(comment.id + 99_999)


def test_a_commit_inside_a_pull_request_is_not_its_head(scene: Scene) -> None:
    pull = scene.opens()
    before = pull.head_sha
    scene.github.pushes(pull, {"more.txt": "more\n"})
    assert scene.forge.open_pull_requests(before) == ()


def test_linked_issues_come_with_the_lowest_number_first(scene: Scene) -> None:
    issues = [scene.github.opens_issue("octo/app", by="mona", title=f"Issue {n}", body="spec") for n in range(120)]
    pull = scene.opens(closes=[issue.number for issue in reversed(issues)])
    found = scene.forge.linked_issues(pull.number)
    assert [each.number for each in found] == [issue.number for issue in issues]
    assert found == scene.fake.linked_issues(pull.number)


@pytest.mark.parametrize("permission", list(Permission))
def test_a_permission_is_githubs_own_word(scene: Scene, permission: Permission) -> None:
    scene.github.grants("octo/app", "hubot", permission)
    assert scene.forge.permission("hubot") is permission


def test_an_unknown_account_may_do_nothing_and_a_bots_name_is_no_permission(scene: Scene) -> None:
    assert scene.forge.permission("nobody-knows-them") is Permission.NONE
    scene.github.user("admin[bot]")
    assert not scene.forge.permission("admin[bot]").may_write


@pytest.mark.parametrize("path", [*HOSTILE_NAMES, ".review-advisor.toml"])
def test_a_file_of_a_commit_comes_byte_for_byte(scene: Scene, path: str) -> None:
    content = bytes(range(256)) * 8
    sha = scene.github.commits("octo/app", "main", {path: content}, by="octo")
    scene.github.commits("octo/app", "main", {path: "newer"}, by="octo")
    assert scene.forge.file(path, sha) == content


def test_a_file_that_is_not_there_is_none_and_so_is_a_folder(scene: Scene) -> None:
    sha = scene.github.commits("octo/app", "main", {"src/a.py": "x", "empty.txt": ""}, by="octo")
    assert scene.forge.file("src/b.py", sha) is None
    assert scene.forge.file("src", sha) is None
    assert scene.forge.file("empty.txt", sha) == b""


def committed(scene: Scene, entries: Mapping[str, str]) -> str:
    """A commit that holds these paths, each with its mode; the text of each is its path."""
    objects = scene.github.objects
    tree = objects.tree({path: (mode, objects.blob(path.encode())) for path, mode in entries.items()})
    return objects.commit(tree, (), "Modes", "mona", at=1).sha


def test_what_lies_in_a_folder_is_told_with_its_kind_by_both_doors(scene: Scene) -> None:
    sha = committed(
        scene,
        {
            "bot/a.md": REGULAR_MODE,
            "bot/run": "100755",
            "bot/deep/er/b.md": REGULAR_MODE,
            "bot/deep/c.md": REGULAR_MODE,
            "bot/link.md": SYMLINK_MODE,
            "bot/module": SUBMODULE_MODE,
            "botany.md": REGULAR_MODE,
            "link": SYMLINK_MODE,
        },
    )
    kinds = {"bot/a.md": "file", "bot/deep": "folder", "bot/link.md": "other", "bot/module": "file", "bot/run": "file"}
    for forge in (scene.forge, scene.fake):
        assert {each.path: each.kind for each in forge.folder("bot", sha)} == kinds
        assert [each.path for each in forge.folder("bot/deep", sha)] == ["bot/deep/c.md", "bot/deep/er"]
        for nothing in ("nothing", "bo", "../bot", ""):
            assert forge.folder(nothing, sha) == ()
        for no_folder in ("link", "botany.md"):
            assert forge.folder(no_folder, sha) == (FolderEntry(no_folder, "other"),)
        for no_file in ("bot/link.md", "bot/module", "bot"):
            assert forge.file(no_file, sha) is None


@pytest.mark.every_case
def test_a_folder_of_which_github_may_not_list_all_is_refused(scene: Scene) -> None:
    for entries, refused in ((999, False), (1_000, True), (1_001, True)):
        sha = committed(scene, {f"bot/{number}.md": REGULAR_MODE for number in range(entries)})
        for forge in (scene.forge, scene.fake):
            if refused:
                with pytest.raises(ForgeRejected):
                    forge.folder("bot", sha)
            else:
                assert len(forge.folder("bot", sha)) == entries


@pytest.mark.every_case
def test_the_declared_files_of_a_commit_are_read_without_following_anything(scene: Scene) -> None:
    at = ".review-advisor/advisors"
    none = committed(scene, {"src/a.py": REGULAR_MODE})
    before = len(scene.github.traffic.log)
    assert declared_at(scene.forge, none) == {}
    assert len(scene.github.traffic.log) == before + 1, "whoever declares nothing pays for one request"
    sha = committed(
        scene,
        {
            ".review-advisor/thresholds.toml": REGULAR_MODE,
            f"{at}/a.md": REGULAR_MODE,
            f"{at}/optional/b.json": REGULAR_MODE,
            f"{at}/old/er/c.md": REGULAR_MODE,
            LENS_MAP: REGULAR_MODE,
            f"{at}/link.md": SYMLINK_MODE,
            f"{at}/module": SUBMODULE_MODE,
            ".review-advisor/Advisors/d.md": REGULAR_MODE,
        },
    )
    texts = {
        path: BaseText(path)
        for path in (
            *(f"{at}/a.md", f"{at}/optional/b.json", f"{at}/old/er/c.md"),
            *(".review-advisor/Advisors/d.md", LENS_MAP),
        )
    }
    problems = {
        f"{at}/link.md": BaseText(problem="it is a symbolic link"),
        f"{at}/module": BaseText(problem="it is no file"),
    }
    for forge in (scene.forge, scene.fake):
        assert declared_at(forge, sha) == texts | problems
        for place in (".review-advisor", at, f"{at}/optional", LENS_MAP):
            for mode in (REGULAR_MODE, SYMLINK_MODE, SUBMODULE_MODE):
                assert list(declared_at(forge, committed(scene, {place: mode}))) == [place]


def test_no_more_is_read_of_declared_files_than_a_review_reads(scene: Scene) -> None:
    at = ".review-advisor/advisors"
    many = committed(scene, {f"{at}/{number}.md": REGULAR_MODE for number in range(MOST_DECLARED + 2)})
    found = declared_at(scene.fake, many)
    assert [each.problem for each in found.values() if each.problem] == [TOO_MANY] * 2
    deep = committed(scene, {f"{at}/{number}/a.md": REGULAR_MODE for number in range(MOST_FOLDERS)})
    with pytest.raises(ConfigError, match="folders"):
        declared_at(scene.fake, deep)
    sha = scene.github.commits("octo/app", "main", {f"{at}/a.md": "x" * 1_100_000}, by="octo")
    (huge,) = declared_at(scene.forge, sha).values()
    assert huge.problem.endswith("it is larger than 1 MB")


def test_a_commit_that_is_not_there_is_not_taken_for_one_without_the_file(scene: Scene) -> None:
    for forge in (scene.forge, scene.fake):
        for reads in (forge.file, forge.folder):
            with pytest.raises(ForgeMissing, match="No commit found"):
                reads("README.md", "f" * 40)


def test_a_file_of_more_than_a_megabyte_is_a_sentence(scene: Scene) -> None:
    sha = scene.github.commits("octo/app", "main", {"big.bin": b"x" * 1_100_000}, by="octo")
    with pytest.raises(ForgeRejected, match=r"could not read the file 'big\.bin': it is larger than 1 MB"):
        scene.forge.file("big.bin", sha)


def test_the_lines_that_take_comments_are_those_of_the_patches_that_github_shows(scene: Scene) -> None:
    listing = (
        *(PullFile(name, patch=PATCH) for name in HOSTILE_NAMES),
        PullFile("picture.png"),
        PullFile("moved.py", "renamed", previous_path="old.py"),
    )
    pull = scene.opens(listing=listing)
    found = scene.forge.commentable_lines(pull.number)
    assert set(found) == set(HOSTILE_NAMES)
    assert {lines.right for lines in found.values()} == {frozenset({1, 2, 3})}
    assert found == scene.fake.commentable_lines(pull.number)
    names = [(each.path, each.old_path) for each in scene.forge.changed_files(pull.number)]
    assert names[-2:] == [("picture.png", None), ("moved.py", "old.py")]
    assert scene.forge.changed_files(pull.number) == scene.fake.changed_files(pull.number)


@pytest.mark.every_case
def test_of_3500_files_github_lists_3000(scene: Scene) -> None:
    pull = scene.opens(listing=tuple(PullFile(f"src/f{n:04}.py", patch=PATCH) for n in range(3_500)))
    assert len(scene.forge.commentable_lines(pull.number)) == 3_000
    assert len(scene.github.traffic.log) == 30


def test_every_page_of_every_list_is_read(scene: Scene) -> None:
    pull = scene.opens()
    for n in range(250):
        scene.github.comments(pull, by="mona", body=f"comment {n} \U0001f600")
        scene.github.reviews(pull, by="hubot", body=f"review {n}")
    for _ in range(250):
        scene.fake.create_check(pull.head_sha, APPROVED)
    number = pull.number
    assert len(scene.forge.comments(number)) == 250
    assert scene.forge.comments(number) == scene.fake.comments(number)
    assert scene.forge.reviews(number) == scene.fake.reviews(number)
    assert len(scene.forge.checks(pull.head_sha, APPROVED.name)) == 250
    assert scene.forge.checks(pull.head_sha, APPROVED.name) == scene.fake.checks(pull.head_sha, APPROVED.name)
    ids = [check.id for check in scene.forge.checks(pull.head_sha, APPROVED.name)]
    assert ids == sorted(ids)


def test_checks_of_another_name_or_commit_are_not_ours(scene: Scene) -> None:
    pull = scene.opens()
    scene.fake.create_check(pull.head_sha, Check("lint", "", "Lint", "fine", Conclusion.SUCCESS))
    assert scene.forge.checks(pull.head_sha, "review-advisor") == ()


def test_who_edited_a_comment_last_is_known(scene: Scene) -> None:
    pull = scene.opens()
    own = scene.github.comments(pull, by="github-actions[bot]", body="the summary")
    scene.github.comments(pull, by="mona", body="hello")
    assert [each.edited_by for each in scene.forge.comments(pull.number)] == ["", ""]
    scene.github.edits(own, by="github-actions[bot]", body="the summary, again")
    assert scene.forge.comments(pull.number)[0].edited_by == "github-actions[bot]"
    scene.github.edits(own, by="eve", body="approved!")
    mine, theirs = scene.forge.comments(pull.number)
    assert (mine.author, mine.edited_by, mine.body) == ("github-actions[bot]", "eve", "approved!")
    assert theirs.author == "mona"


def test_a_text_comes_back_exactly_as_it_was_written(scene: Scene) -> None:
    pull = scene.opens()
    body = "<!-- review-advisor:summary -->\r\n\ttab \U0001f600\u202e\u200b&lt;b&gt; \\n $&  "
    body = body.ljust(MOST_CHARACTERS, "x")
    made = scene.forge.create_comment(pull.number, body)
    assert scene.forge.comments(pull.number)[0].body == body
    assert scene.forge.comments(pull.number)[0].id == made


def test_a_pending_review_is_seen_by_its_author_only(scene: Scene) -> None:
    pull = scene.opens()
    scene.github.reviews(pull, by="hubot", body="not yet", state="PENDING")
    mine = scene.forge.start_review(pull.number, pull.head_sha, "mine", ())
    assert [(each.id, each.pending) for each in scene.forge.reviews(pull.number)] == [(mine, True)]


def test_threads_tell_where_they_stand_and_who_began_them(scene: Scene) -> None:
    pull = scene.opens(listing=(PullFile("src/a.py", patch=PATCH), PullFile("src/b.py", patch=PATCH)))
    remarks = tuple(InlineComment("f-1", f"src/{name}.py", 3, None, "RIGHT", f"remark {name}") for name in "ab")
    review = scene.forge.start_review(pull.number, pull.head_sha, "", remarks)
    scene.forge.submit_review(pull.number, review)
    first, second = pull.reviews[0].threads
    scene.github.replies(first, by="mona", body="done")
    scene.github.resolves(second, by="mona")
    assert scene.forge.threads(pull.number) == (
        Thread(first.id, "github-actions[bot]", "remark a", resolved=False, outdated=False),
        Thread(second.id, "github-actions[bot]", "remark b", resolved=True, outdated=False),
    )


def test_threads_are_told_in_the_order_in_which_they_were_begun_however_github_lists_them(scene: Scene) -> None:
    pull = scene.opens(listing=(PullFile("src/a.py", patch=PATCH), PullFile("src/b.py", patch=PATCH)))
    for name in "ab":
        remark = InlineComment("f-1", f"src/{name}.py", 3, None, "RIGHT", f"remark {name}")
        review = scene.forge.start_review(pull.number, pull.head_sha, "", (remark,))
        scene.forge.submit_review(pull.number, review)
    in_order = scene.forge.threads(pull.number)
    assert [each.body for each in in_order] == ["remark a", "remark b"]
    pull.newest_threads_first = True
    assert scene.forge.threads(pull.number) == in_order


def test_remarks_tell_what_people_did_with_them(scene: Scene) -> None:
    pull = scene.opens(listing=(PullFile("src/a.py", patch=PATCH), PullFile("src/b.py", patch=PATCH)))
    remarks = (
        InlineComment("f-1", "src/a.py", 3, 2, "RIGHT", "remark a"),
        InlineComment("f-2", "src/b.py", 2, None, "LEFT", "remark b"),
    )
    reviewed = pull.head_sha
    scene.forge.submit_review(pull.number, scene.forge.start_review(pull.number, reviewed, "", remarks))
    first, second = pull.reviews[0].threads
    scene.github.reacts(first.comments[0], "THUMBS_UP", by="mona")
    scene.github.reacts(first.comments[0], "ROCKET", by="mona")
    scene.github.reacts(first.comments[0], "THUMBS_DOWN", by="helper[bot]")
    scene.github.resolves(second, by="mona")
    scene.github.edits(second.comments[0], by="mona", body="remark c")
    scene.github.pushes(pull, {"src/c.py": "c"})
    bot = "github-actions[bot]"
    found = scene.forge.remarks(pull.number)
    assert found == (
        StandingRemark(
            bot, "remark a", "", "src/a.py", reviewed, 2, 3, removed=False, resolved=False, resolved_by="",
            reactions=(Reaction("mona", up=True), Reaction("helper", up=False)),
        ),
        StandingRemark(
            bot, "remark c", "mona", "src/b.py", reviewed, 2, 2, removed=True, resolved=True, resolved_by="mona"
        ),
    )  # fmt: skip
    told = [(each.path, each.start_line, each.line, each.removed, each.resolved_by) for each in found]
    fake = scene.fake.remarks(pull.number)
    assert [(each.path, each.start_line, each.line, each.removed, each.resolved_by) for each in fake] == told


def test_a_merged_pull_request_names_the_commit_that_it_ended_with(scene: Scene) -> None:
    pull = scene.opens()
    assert scene.forge.pull_request(pull.number).merge_commit == ""
    made = scene.github.merges(pull)
    found = scene.forge.pull_request(pull.number)
    assert (found.state, found.merge_commit) == ("merged", made)
    assert found.merged_at is not None
    fake = scene.fake.pull_request(pull.number)
    assert (fake.merge_commit, fake.merged_at) == (made, found.merged_at)

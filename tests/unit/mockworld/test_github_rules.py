"""GitHub's rules that no description states: they hold whichever door a request comes through."""

import pytest
from tests.unit.mockworld.shop import AFTER, BEFORE, BOT, DONE, NUMBER, SHOP, Shop, remark, remarks_of_check

from review_advisor.change.pull_request import Permission
from review_advisor.github.forge import ForgeDenied, ForgeMissing, ForgeRejected, ReviewPending
from review_advisor.github.writes import MOST_CHARACTERS, Annotation, Check, InlineComment
from review_advisor.mockworld.github import WORKFLOW_ABILITIES
from review_advisor.mockworld.github_doors import CheckValues, Session, TreeEntry
from review_advisor.mockworld.github_records import PullFile
from review_advisor.mockworld.github_traffic import RefusedRequest

TOO_LONG = "x" * (MOST_CHARACTERS + 1)


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.mark.parametrize(
    "bad",
    [
        remark(20),
        remark(5, path="other.py"),
        remark(5, start=6),
        remark(30, start=5),
        InlineComment("f", "till.py", 41, None, "LEFT", "there is no such line"),
        remark(5, body=TOO_LONG),
        remark(5, body=" "),
    ],
    ids=["outside the diff", "no such file", "start after end", "two hunks", "left", "too long", "empty"],
)
def test_one_bad_remark_refuses_the_whole_review(shop: Shop, bad: InlineComment) -> None:
    with pytest.raises(ForgeRejected):
        shop.reviewed(remark(), bad)

    assert shop.pull.reviews == []


def test_remarks_stand_on_both_sides_and_on_context(shop: Shop) -> None:
    removed = InlineComment("f", "till.py", 5, None, "LEFT", "why is it gone?")

    shop.reviewed(remark(5, start=3), removed, remark(33))

    (review,) = shop.pull.reviews
    assert [thread.text for thread in review.threads] == ["LINE 5", "line 5", "line 33"]


def test_there_is_one_pending_review_and_only_its_author_sees_it(shop: Shop) -> None:
    review = shop.reviewed(remark())

    with pytest.raises(ReviewPending):
        shop.reviewed()
    assert [(each.id, each.pending) for each in shop.forge.reviews(NUMBER)] == [(review, True)]
    assert len(shop.forge.threads(NUMBER)) == 1
    other = shop.session(shop.github.app_token("other"))
    assert other.reviewing.reviews(NUMBER) == ()
    assert other.reviewing.threads(NUMBER) == ()
    with pytest.raises(RefusedRequest, match="Not Found"):
        other.reviewing.submit(NUMBER, review)


def test_a_submitted_review_stays(shop: Shop) -> None:
    review = shop.reviewed(remark())
    shop.forge.submit_review(NUMBER, review)

    with pytest.raises(ForgeRejected):
        shop.forge.discard_review(NUMBER, review)
    with pytest.raises(ForgeRejected):
        shop.forge.submit_review(NUMBER, review)
    assert [each.state for each in shop.pull.reviews] == ["COMMENTED"]


def test_a_discarded_review_makes_room_for_another(shop: Shop) -> None:
    shop.forge.discard_review(NUMBER, shop.reviewed(remark()))

    shop.forge.submit_review(NUMBER, shop.reviewed(remark(30)))

    assert len(shop.forge.threads(NUMBER)) == 1


def test_a_review_without_remarks_is_submitted_with_words_only(shop: Shop) -> None:
    review = shop.reviewed(body="")

    with pytest.raises(ForgeRejected):
        shop.forge.submit_review(NUMBER, review)

    assert [each.state for each in shop.pull.reviews] == ["PENDING"]


def test_a_review_of_a_commit_that_was_pushed_over_is_refused(shop: Shop) -> None:
    old = shop.pull.head_sha
    shop.github.force_pushes(shop.pull, {"till.py": AFTER + "more\n"})

    with pytest.raises(ForgeRejected):
        shop.forge.start_review(NUMBER, old, "Look.", (remark(),))

    shop.reviewed(remark())


def test_an_earlier_commit_of_the_pull_request_may_be_reviewed(shop: Shop) -> None:
    old = shop.pull.head_sha
    shop.github.pushes(shop.pull, {"new.py": "x\n"})

    shop.forge.start_review(NUMBER, old, "Look.", (remark(),))

    assert shop.pull.reviews[0].commit == old


def test_a_thread_moves_with_its_line_and_is_outdated_without_it(shop: Shop) -> None:
    shop.forge.submit_review(NUMBER, shop.reviewed(remark(5), remark(30)))

    shop.github.pushes(shop.pull, {"till.py": "first\n" + AFTER.replace("LINE 30", "line thirty")})

    assert [thread.outdated for thread in shop.forge.threads(NUMBER)] == [False, True]
    assert [thread.comments[0].line for thread in shop.pull.reviews[0].threads] == [6, None]


def test_texts_have_a_length(shop: Shop) -> None:
    comment = shop.forge.create_comment(NUMBER, "x" * MOST_CHARACTERS)
    check = Check("review-advisor", "pr-1", "t", TOO_LONG)

    for write in (
        lambda: shop.forge.create_comment(NUMBER, TOO_LONG),
        lambda: shop.forge.create_comment(NUMBER, ""),
        lambda: shop.forge.update_comment(comment, TOO_LONG),
        lambda: shop.reviewed(body=TOO_LONG),
        lambda: shop.forge.create_check(shop.pull.head_sha, check),
    ):
        with pytest.raises(ForgeRejected):
            write()

    assert [len(each.body) for each in shop.pull.comments] == [MOST_CHARACTERS]
    assert shop.github.repository(SHOP).checks == {}


def test_fifty_annotations_go_in_one_request(shop: Shop) -> None:
    values = [Annotation("till.py", 1, 1, "notice", "", f"Message {number}") for number in range(51)]
    checks = shop.session().checks

    with pytest.raises(RefusedRequest, match="Validation"):
        checks.create(shop.pull.head_sha, CheckValues("n", annotations=values))

    assert len(checks.create(shop.pull.head_sha, CheckValues("n", annotations=values[:50])).annotations) == 50


@pytest.mark.parametrize("lines", [(0, 1), (2, 1)])
def test_an_annotation_has_lines_in_their_order(shop: Shop, lines: tuple[int, int]) -> None:
    bad = Annotation("till.py", *lines, "notice", "", "Message")

    with pytest.raises(RefusedRequest):
        shop.session().checks.create(shop.pull.head_sha, CheckValues("n", annotations=[bad]))


def test_a_check_run_belongs_to_the_app_that_made_it(shop: Shop) -> None:
    made = shop.forge.create_check(shop.pull.head_sha, DONE)
    others = shop.session(shop.github.app_token("other")).checks
    personal = shop.session(shop.github.personal_token("ann")).checks

    with pytest.raises(RefusedRequest, match="its own app"):
        others.update(made, CheckValues(conclusion="failure"))
    with pytest.raises(RefusedRequest, match="GitHub App"):
        personal.create(shop.pull.head_sha, CheckValues("review-advisor"))

    forged = others.create(shop.pull.head_sha, CheckValues("review-advisor", conclusion="success"))
    apps = [(each.id, each.app) for each in shop.forge.checks(shop.pull.head_sha, "review-advisor")]
    assert apps == [(made, "github-actions"), (forged.id, "other")]


def test_labels_have_a_length_and_a_number(shop: Shop) -> None:
    for number in range(100):
        shop.forge.add_label(NUMBER, f"label {number}")

    shop.forge.add_label(NUMBER, "LABEL 1")
    with pytest.raises(ForgeRejected):
        shop.forge.add_label(NUMBER, "one too many")
    with pytest.raises(ForgeRejected):
        shop.forge.add_label(NUMBER, "x" * 51)
    assert len(shop.forge.pull_request(NUMBER).labels) == 100


def test_the_list_of_files_ends_at_three_thousand(shop: Shop) -> None:
    many = tuple(PullFile(f"file {number}", patch="@@ -0,0 +1 @@\n+x") for number in range(3_500))
    shop.github.pushes(shop.pull, {}, listing=many)

    assert len(shop.forge.commentable_lines(NUMBER)) == 3_000


@pytest.mark.parametrize("content", [b"\0binary", b"x" * 500_001, b"x\n" * 20_001], ids=["binary", "bytes", "lines"])
def test_some_files_are_listed_without_their_patch(shop: Shop, content: bytes) -> None:
    shop.github.pushes(shop.pull, {"big": content})

    assert set(shop.forge.commentable_lines(NUMBER)) == {"till.py"}
    assert "big" in {file.path for file in shop.session().facts.files(NUMBER)}
    with pytest.raises(ForgeRejected):
        shop.reviewed(remark(1, path="big"))


def test_whose_review_can_be_asked_for(shop: Shop) -> None:
    shop.github.grants(SHOP, "bob", Permission.WRITE)
    shop.github.grants(SHOP, "ann", Permission.WRITE)
    shop.github.team("octo", "guards")

    for reviewers in (("ann",), ("bob", "stranger"), ("octo/nobody",), ("other/guards",)):
        with pytest.raises(ForgeRejected):
            shop.may("members:read").request_review(NUMBER, reviewers)
    assert shop.pull.requested_users == []

    shop.may("members:read").request_review(NUMBER, ("bob", "octo/guards"))
    assert (shop.pull.requested_users, shop.pull.requested_teams) == (["bob"], ["octo/guards"])


def test_a_team_takes_a_token_that_may_read_the_members(shop: Shop) -> None:
    shop.github.team("octo", "guards")

    with pytest.raises(ForgeDenied):
        shop.forge.request_review(NUMBER, ("octo/guards",))


def test_resolving_a_thread_takes_the_right_to_write_contents(shop: Shop) -> None:
    shop.forge.submit_review(NUMBER, shop.reviewed(remark()))
    (thread,) = shop.forge.threads(NUMBER)

    with pytest.raises(ForgeDenied):
        shop.forge.resolve_thread(thread.id)
    shop.may("contents:write").resolve_thread(thread.id)

    assert [each.resolved for each in shop.forge.threads(NUMBER)] == [True]
    with pytest.raises(ForgeMissing):
        shop.forge.resolve_thread("PRRT_0")


def test_a_private_repository_is_not_there_for_strangers(shop: Shop) -> None:
    shop.github.opens_repository("octo/secret", private=True)
    strangers, owners = (
        Session(shop.github, "octo/secret", shop.github.personal_token(login)).facts for login in ("eve", "octo")
    )

    with pytest.raises(RefusedRequest, match="Not Found"):
        strangers.repository()
    assert owners.repository().private


def test_a_branch_moves_forward_only(shop: Shop) -> None:
    shop.may("contents:write")
    data, tip, ref = shop.session().git_data, shop.pull.head_sha, shop.pull.head_ref
    blob = data.create_blob(b"repaired\n")
    tree = data.create_tree(shop.github.commit(tip).tree, [TreeEntry("fix.py", "100644", blob)])
    made = data.create_commit("Repair", tree, [tip])
    beside = data.create_commit("Beside", tree, [shop.github.base_sha(shop.pull)])

    with pytest.raises(RefusedRequest, match="fast forward"):
        data.update_ref(ref, beside.sha)
    data.update_ref(ref, made.sha)

    assert shop.pull.head_sha == made.sha
    assert shop.forge.file("fix.py", made.sha) == b"repaired\n"
    assert shop.forge.file("till.py", made.sha) == AFTER.encode()
    assert (shop.github.commit(made.sha).author, shop.github.commit(made.sha).parents) == (BOT, (tip,))


def test_guarded_branches_and_workflows_are_not_pushed_to(shop: Shop) -> None:
    shop.may("contents:write")
    data, tip = shop.session().git_data, shop.pull.head_sha
    workflow = TreeEntry(".github/workflows/ci.yml", "100644", data.create_blob(b"on: push\n"))
    tree = data.create_tree(shop.github.commit(tip).tree, [workflow])
    made = data.create_commit("Take over", tree, [tip])

    with pytest.raises(RefusedRequest, match="workflow"):
        data.update_ref(shop.pull.head_ref, made.sha)
    shop.github.protects(SHOP, "main")
    with pytest.raises(RefusedRequest, match="Protected"):
        data.update_ref("main", shop.pull.head_sha)

    assert (shop.pull.head_sha, shop.forge.file("till.py", shop.github.base_sha(shop.pull))) == (tip, BEFORE.encode())


def test_annotations_are_counted_over_requests(shop: Shop) -> None:
    check = Check("review-advisor", "pr-1", "t", "s", DONE.conclusion, remarks_of_check(120))
    made = shop.forge.create_check(shop.pull.head_sha, check)

    shop.forge.update_check(made, check)

    stands = shop.github.repository(SHOP).checks[made]
    assert ([each.message for each in stands.annotations], stands.conclusion) == (
        [f"Message {number}" for number in range(120)],
        "success",
    )


def test_only_who_may_write_issues_makes_a_new_label(shop: Shop) -> None:
    shop.github.workflow_token(WORKFLOW_ABILITIES - {"issues:write"})
    with pytest.raises(ForgeDenied, match="You do not have permission to create labels on this repository"):
        shop.forge.add_label(NUMBER, "never-seen")
    shop.github.label(shop.github.repository(SHOP), "there-already")
    shop.forge.add_label(NUMBER, "There-Already")
    assert shop.forge.pull_request(NUMBER).labels == ("there-already",)

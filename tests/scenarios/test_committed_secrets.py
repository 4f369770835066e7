"""A change that commits a secret: the reviewers see its kind, the finding stands, and nobody is told the secret."""

import json
from dataclasses import replace

import pytest
from benchmarks._secret_samples import BASE64, UPPER, Draw, body_of, left, pem
from tests.scenarios.publishing import PATH, Desk
from tests.scenarios.reading import shown
from tests.scenarios.test_secrets_stay_out import everything_told

from review_advisor.agents.prompts import LONGEST_BODY
from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.github.sarif import sarif_json
from review_advisor.ledger.rows import readings_of, rows_of_events
from review_advisor.mockworld.agents import approve, confirm, finding, guidance, plan, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.rulings import Outcome
from review_advisor.safety.secrets import mark

DRAW = Draw(12)
ID = "AKIA" + DRAW.of(UPPER + "234567", 16)
TOKEN = "ghp_" + DRAW.word(36)
SECRET = DRAW.of(BASE64, 39) + "7"
KEY = pem(DRAW)
LINES = [f'KEYS = """first: {ID}', f"second: {SECRET}", *KEY.rstrip("\n").split("\n"), '"""']
ITS_LINE = f"second: {mark('AWS secret access key')}"


def committed(path: str = PATH) -> FileChange:
    lines = tuple(f"+{line}" for line in LINES)
    return FileChange(Status.ADDED, path, added=len(lines), hunks=(Hunk(0, 0, 1, len(lines), "", lines),))


def hidden(told: dict[str, str]) -> list[str]:
    """Where a piece of one of the secrets can be read."""
    secrets = (ID.removeprefix("AKIA"), SECRET, body_of(KEY))
    return [where for where, text in told.items() if any(left(secret, text) for secret in secrets)]


def test_a_committed_key_pair_is_reported_by_its_kind_and_told_to_nobody() -> None:
    desk = Desk()
    world = desk.world
    world.agents.script(Role.MID_FLIGHT, guidance())
    quoted = (
        finding(PATH, 2, ITS_LINE, title="A secret access key is committed"),
        finding(PATH, 1, f"first: {mark('AWS access key id')}\n{ITS_LINE}", title="So is its id"),
        finding(PATH, 3, f"{LINES[2]}\n{mark('private key')}", title="A private key is committed"),
    )
    question = json.dumps({"question": "is it live?", "context": ITS_LINE})
    document = desk.reviewed(reject(*quoted).after_asking(question), judged=[confirm()], files=(committed(),))
    assert document.outcome is Outcome.ESCALATED, "what stands between quotes of many lines may be code"
    assert [(each.title, each.line) for each in document.findings] == [
        (f["title"], f["line"]) for f in map(dict, quoted)
    ]
    desk.publish(document)
    for call in world.agents.asked:
        assert ITS_LINE in call.prompt, call.role
    diff = shown(world.calls(Role.EXECUTOR)[0], "DIFF").split("\n")
    assert len([line for line in diff if mark("private key") in line]) == len(KEY.rstrip("\n").split("\n")) - 2
    written = "".join(comment.body for thread in desk.threads for comment in thread.comments)
    assert [each.title for each in document.findings if each.title not in written] == []
    told = {
        **everything_told(world, document),
        "SARIF": sarif_json(document, "1"),
        "ledger": repr(readings_of(document)) + repr(rows_of_events(document.policy, document.events)),
        "GitHub": repr(desk.pull) + repr(desk.checks),
    }
    assert hidden(told) == []


@pytest.mark.parametrize("raw", [SECRET, f"x {SECRET}.", LINES[5], KEY], ids=["it", "in words", "a line", "the key"])
def test_a_secret_of_the_change_is_known_again_where_nothing_says_what_it_is(world: MockWorld, raw: str) -> None:
    """A model may read the file itself, or the author repeat the secret: what names it there stands elsewhere."""
    world.change(committed("src/auth/keys.py"))
    world.source.stated = replace(world.source.stated, title=f"Use {raw[:200]}", body=raw)
    question = json.dumps({"question": f"is {raw} real?", "context": raw})
    world.agents.script(Role.PRE_FLIGHT, plan(risk=raw))
    world.agents.script(Role.MID_FLIGHT, guidance(action=raw))
    read = finding("src/auth/keys.py", 2, LINES[1], title=f"It commits {raw}")
    world.agents.script(Role.EXECUTOR, approve(read, summary=raw).after_asking(question))
    world.agents.script(Role.POST_VERIFY, confirm())
    document = world.review()
    assert hidden(everything_told(world, document)) == []
    said = [found.evidence for found in document.findings if not found.harness]
    assert said == [ITS_LINE], "quoted as the file has it, it stands"


@pytest.mark.every_case
def test_a_secret_at_the_end_of_what_is_sent_is_not_cut_in_two(world: MockWorld) -> None:
    for kept in range(8, 40, 4):
        world.source.stated = replace(world.source.stated, body=f"{'word ' * 14_000}"[: LONGEST_BODY - kept] + TOKEN)
        world.review()
    assert [left(TOKEN, call.prompt) for call in world.agents.asked] == [""] * len(world.agents.asked)


def hunks_of_a_key() -> FileChange:
    """A private key whose second hunk holds most of it, and nothing that says what it is."""
    draw = Draw("a later piece")
    lines = ["-----BEGIN RSA PRIVATE KEY-----", *(draw.of(BASE64, 64) for _ in range(140)), "run(key)"]
    hunks = [(1, lines[:4]), (40, lines[4:])]
    made = tuple(Hunk(0, 0, at, len(its), "", tuple(f"+{line}" for line in its)) for at, its in hunks)
    return FileChange(path="src/deploy.txt", status=Status.ADDED, hunks=made, added=len(lines))


@pytest.mark.parametrize("shard_tokens", [60_000, 2_000], ids=["a packet of one hunk", "a part without the beginning"])
def test_a_key_is_told_to_nobody_who_is_shown_a_later_piece_of_it_alone(world: MockWorld, shard_tokens: int) -> None:
    file = hunks_of_a_key()
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"), shard_tokens=shard_tokens)
    world.change(file)
    doubted = finding("src/deploy.txt", 60, "run(key)", "medium", confidence=0.2)
    world.agents.script(Role.EXECUTOR, reject(doubted), approve())
    document = world.review()
    told = everything_told(world, document)
    key = [line[1:] for hunk in file.hunks for line in hunk.lines if len(line) > 60]
    pieces = [line[at : at + 20] for line in key for at in range(0, 44, 4)]
    assert [where for where, text in told.items() if any(piece in text for piece in pieces)] == []

"""A file of Windows line ends: nobody sees its carriage returns, and a quote of its lines stands."""

from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome

LINES = (" x = 1\r", "-y = 2\r", "+import os\r", "+os.remove(x)\r", " z = 3\r")
FILE = FileChange(Status.MODIFIED, "a.py", added=2, removed=1, hunks=(Hunk(1, 3, 1, 4, "", LINES),))


def test_a_quote_of_several_lines_stands_and_no_carriage_return_is_seen(world: MockWorld) -> None:
    world.change(FILE)
    world.agents.script(Role.EXECUTOR, reject(finding("a.py", 2, "import os\nos.remove(x)")))
    document = world.review()
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert [each.line for each in document.findings] == [2]
    for text in (report_text(document), *(call.prompt for call in world.agents.asked)):
        assert "<U+000D>" not in text
        assert "looks like a secret" not in text

"""``Agents`` that ask no question twice: what an earlier run of the same review was answered is answered again."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from review_advisor.adapters.answers.copies import Seen, edit, edited, seen
from review_advisor.adapters.answers.reply_store import ReplyStore
from review_advisor.core.roles.calls import AgentCall, Answered, Lost, LostReason
from review_advisor.core.roles.replies import checked_reply
from review_advisor.core.roles.reply_cache import (
    EditedFile,
    KeptReply,
    RunNames,
    answer_key,
    on_asking_again,
    renamed,
)
from review_advisor.core.safety.legible import legible
from review_advisor.core.safety.redaction import Redactor
from review_advisor.ports.review import Agents, Consults


class RememberingAgents:
    """``agents`` for one review, behind its kept replies.

    A question that is answered there costs nothing, and its reply is what it was: answer, consults, what it cost, and
    the edits in its copy of the tree. Any other is asked, and its reply is on disk before this returns. A call that
    was ended because the review could not go on is no reply. Replies are kept without secrets, as ``redactor`` knows
    them.
    """

    def __init__(self, agents: Agents, store: ReplyStore, names: RunNames, redactor: Redactor) -> None:
        self._agents = agents
        self._store = store
        self._names = names
        self._redactor = redactor
        self._ending = False

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        """The kept reply, or that of the agents. Raises what they raise. A shadow's reply is never kept."""
        if call.shadow:
            return self._agents.run(call, consults)
        key = answer_key(call, self._names, _evidence(call))
        kept = self._store.find(key)
        if kept is not None:
            return self._again(kept, call)
        before = seen(call.tree) if call.edits is not None and call.tree is not None else None
        reply = self._redactor.everywhere(legible(self._agents.run(call, consults)))
        reply = replace(reply, receipt=replace(reply.receipt, reply=key))
        reply = on_asking_again(reply, crashed_before=self._store.crashed_before(key))
        edits = self._edits(call, before)
        if edits is not None and (isinstance(reply, Answered) or not self._ending):
            self._keep(key, call, reply, edits)
        return reply

    def check_interrupt(self) -> None:
        """As the agents do."""
        self._agents.check_interrupt()

    def end_running(self) -> None:
        """As the agents do."""
        self._ending = True
        self._agents.end_running()

    def _again(self, kept: KeptReply, call: AgentCall) -> Answered | Lost:
        if call.tree is not None:
            try:
                edit(call.tree, kept.edits)
            except OSError as error:
                return Lost(LostReason.CRASH, f"The edits of a kept answer cannot be made again: {error.strerror}.")
        reply = renamed(kept.reply, self._names.put_in)
        return replace(reply, receipt=replace(reply.receipt, kept=True, paid_by=kept.paid_by))

    def _keep(self, key: str, call: AgentCall, reply: Answered | Lost, edits: tuple[EditedFile, ...]) -> None:
        usable = not isinstance(checked_reply(call.answer, reply).answer, Lost)
        number = self._store.next_number()
        bare = renamed(reply, self._names.taken_out)
        self._store.keep(
            key,
            KeptReply(
                number=number,
                paid_by=self._names.run_id,
                surface=call.surface,
                role=call.role,
                shard=call.shard,
                usable=usable,
                reply=bare,
                edits=edits,
                advisor=call.advisor,
                attempt=call.attempt,
            ),
        )

    def _edits(self, call: AgentCall, before: Seen | None) -> tuple[EditedFile, ...] | None:
        if before is None or call.tree is None:
            return ()
        return edited(call.tree, before)


def _evidence(call: AgentCall) -> str:
    """What the call's tree holds: by the name that the call gives it, or else by looking at every file."""
    if call.evidence or call.tree is None:
        return call.evidence
    digest = hashlib.sha256()
    for path in sorted(each for each in call.tree.rglob("*") if each.is_file()):
        digest.update(hashlib.sha256(str(path.relative_to(call.tree)).encode("utf-8", "surrogateescape")).digest())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()

-- What was paid for a reply is counted once, wherever its run was killed; and which runs had a veto to repair.

-- Names the reply among those of the run that paid for it; '' where none is kept.
ALTER TABLE calls ADD COLUMN reply TEXT NOT NULL DEFAULT '';

-- 1: with a veto that was the executor's to repair, because it did not come to a rejection of its own.
ALTER TABLE runs ADD COLUMN vetoed INTEGER NOT NULL DEFAULT 0;

-- How many of its calls were answered by what an earlier run had kept.
ALTER TABLE runs ADD COLUMN given INTEGER NOT NULL DEFAULT 0;

DROP TABLE kept;

-- A reply that a run was given by an earlier, killed or stopped run of the same review. That run paid for it, if its
-- call is recorded in this ledger; otherwise the first run that was given it counts as the one that paid.
CREATE TABLE kept (
    chain INTEGER NOT NULL REFERENCES chains (id),
    number INTEGER NOT NULL,
    paid_by TEXT NOT NULL,            -- that run's id
    reply TEXT NOT NULL,
    cost_usd REAL NOT NULL,           -- as far as it was reported
    executor_tokens INTEGER NOT NULL,
    advisor_tokens INTEGER NOT NULL,
    PRIMARY KEY (chain, number)
) WITHOUT ROWID;

CREATE INDEX kept_by_reply ON kept (paid_by, reply, chain, number);

DROP INDEX runs_by_wall;
DROP INDEX runs_by_executor;
CREATE INDEX runs_by_wall ON runs (wall_ms, executor_ms, status, repository, given);
CREATE INDEX runs_by_executor ON runs (executor_ms, wall_ms, status, repository, given);

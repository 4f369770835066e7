-- What became of pull requests: readings of chains of their own, each with one event.

CREATE TABLE observations (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    repository TEXT NOT NULL COLLATE NOCASE,
    pull_request INTEGER NOT NULL,
    head_sha TEXT NOT NULL,           -- at which it was closed
    reverted INTEGER,                 -- 1: a later commit takes the merge back; NULL: not merged, or nobody can tell
    overridden INTEGER                -- 1: a person approved its escalation; NULL: it was not escalated
);

CREATE INDEX observations_by_pull_request ON observations (pull_request, repository, chain);

CREATE TABLE labels (
    chain INTEGER NOT NULL REFERENCES chains (id),
    finding TEXT NOT NULL,            -- '' for the pull request itself
    label TEXT NOT NULL,
    value TEXT NOT NULL,
    source TEXT NOT NULL,             -- what shows it; of an unknown one, why nobody can tell
    PRIMARY KEY (chain, finding, label)
) WITHOUT ROWID;

-- The findings of which the labels prove something.
CREATE TABLE proofs (
    chain INTEGER NOT NULL REFERENCES chains (id),
    finding TEXT NOT NULL,
    proved_right INTEGER NOT NULL,
    PRIMARY KEY (chain, finding)
) WITHOUT ROWID;

-- Where the newest observation of a pull request meets its reviews, whichever came into the ledger first: kept, because a
-- rollup of a million runs has no time to look for it.

-- A finding that proved right or not, at the run that raised it first.
CREATE TABLE validations (
    chain INTEGER NOT NULL REFERENCES chains (id),
    finding TEXT NOT NULL,
    proved_right INTEGER NOT NULL,
    repository INTEGER NOT NULL REFERENCES repositories (id),
    PRIMARY KEY (chain, finding)
) WITHOUT ROWID;

-- What became of a head, at the last run that judged it.
CREATE TABLE fates (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    repository INTEGER NOT NULL REFERENCES repositories (id),
    approved INTEGER NOT NULL,        -- 1: the run approved it,
    consulted INTEGER NOT NULL,       -- 1: with a consult
    reverted INTEGER,
    overridden INTEGER
);

-- Readings of the events: they can be made anew from them (`review-advisor ledger rebuild`).
-- `number` is the position of the event that the row was read from.

CREATE TABLE repositories (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

-- Who took part. Runs share the same few combinations, so that a filter on them looks at one number a run.
CREATE TABLE castings (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE          -- canonical JSON of its parts
);

CREATE TABLE casting_parts (
    casting INTEGER NOT NULL REFERENCES castings (id),
    surface TEXT NOT NULL,
    role TEXT NOT NULL,               -- '' for a surface in which nobody was asked
    model TEXT NOT NULL,
    error TEXT NOT NULL,              -- why the answer did not come; '' if it came
    PRIMARY KEY (casting, surface, role, model, error)
) WITHOUT ROWID;

-- Kept narrow, because a filter may look at every row: what was said about the change stands in tables of its own.
CREATE TABLE runs (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    status TEXT NOT NULL CHECK (status IN ('unfinished', 'approved', 'changes_requested', 'escalated', 'stopped')),
    repository INTEGER REFERENCES repositories (id),
    pull_request INTEGER,
    casting INTEGER NOT NULL REFERENCES castings (id),
    letters INTEGER NOT NULL,         -- which pairs of letters its title holds: most titles need not be read
    cost_usd REAL,                    -- NULL: no call reported its cost
    consults INTEGER NOT NULL DEFAULT 0,
    findings INTEGER NOT NULL DEFAULT 0,
    vetoes INTEGER NOT NULL DEFAULT 0,
    degraded INTEGER NOT NULL DEFAULT 0,
    disabled INTEGER NOT NULL DEFAULT 0,
    recovered INTEGER NOT NULL DEFAULT 0,
    exhausted INTEGER NOT NULL DEFAULT 0,
    wall_ms INTEGER,                  -- NULL while unfinished
    executor_ms INTEGER NOT NULL DEFAULT 0,      -- the executor's first attempts
    executor_tokens INTEGER NOT NULL DEFAULT 0,  -- in, out, cache read and cache write
    advisor_tokens INTEGER NOT NULL DEFAULT 0    -- the same of the three other roles
);

CREATE INDEX runs_by_pull_request ON runs (pull_request);

CREATE TABLE titles (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    title TEXT NOT NULL               -- its first 200 characters
);

CREATE TABLE changes (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    label TEXT NOT NULL,
    head_sha TEXT
);

CREATE TABLE calls (
    chain INTEGER NOT NULL REFERENCES chains (id),
    number INTEGER NOT NULL,
    surface TEXT NOT NULL,
    role TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    ended TEXT NOT NULL,
    reason TEXT NOT NULL,
    requested_model TEXT NOT NULL,
    resolved_model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    cost_usd REAL,
    duration_ms INTEGER NOT NULL,
    prompt_characters INTEGER NOT NULL,
    prompt_sha256 TEXT NOT NULL,
    session_id TEXT NOT NULL,
    kept INTEGER NOT NULL,            -- 1: an earlier run of the same review was given the reply and paid for it
    PRIMARY KEY (chain, number)
) WITHOUT ROWID;

CREATE TABLE findings (
    chain INTEGER NOT NULL REFERENCES chains (id),
    finding TEXT NOT NULL,            -- its id, stable across pushes
    path TEXT NOT NULL,
    line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    severity TEXT NOT NULL,
    category TEXT NOT NULL,
    title TEXT NOT NULL,
    confidence REAL NOT NULL,
    PRIMARY KEY (chain, finding)
) WITHOUT ROWID;

CREATE TABLE consults (
    chain INTEGER NOT NULL REFERENCES chains (id),
    number INTEGER NOT NULL,
    surface TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    status TEXT NOT NULL,
    urgency TEXT NOT NULL,
    question TEXT NOT NULL,
    action TEXT NOT NULL,             -- what the advisor answered; '' without an answer
    stop_signal INTEGER NOT NULL,
    confidence REAL,
    reason TEXT NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY (chain, number)
) WITHOUT ROWID;

-- Judgements, with the right they had.
CREATE TABLE votes (
    chain INTEGER NOT NULL REFERENCES chains (id),
    number INTEGER NOT NULL,
    surface TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    role TEXT NOT NULL,
    authority TEXT NOT NULL,
    verdict TEXT NOT NULL,
    disagreements INTEGER NOT NULL,
    PRIMARY KEY (chain, number)
) WITHOUT ROWID;

-- What became of a disagreement that the executor answered.
CREATE TABLE dispositions (
    chain INTEGER NOT NULL REFERENCES chains (id),
    number INTEGER NOT NULL,
    surface TEXT NOT NULL,
    shard INTEGER NOT NULL,
    disagreement TEXT NOT NULL,
    disposition TEXT NOT NULL,        -- accepted or contested: the executor's word
    settled INTEGER NOT NULL,         -- with evidence that stands in the change
    reason TEXT NOT NULL,
    PRIMARY KEY (chain, number, disagreement)
) WITHOUT ROWID;

-- What only a person can decide: a surface that ended as escalated.
CREATE TABLE questions (
    chain INTEGER NOT NULL REFERENCES chains (id),
    number INTEGER NOT NULL,
    surface TEXT NOT NULL,
    question TEXT NOT NULL,
    PRIMARY KEY (chain, number)
) WITHOUT ROWID;

-- The truth: what happened, in order. Everything else in the ledger is a reading of it.

CREATE TABLE chains (
    id INTEGER PRIMARY KEY,           -- the moment of the first event, in microseconds since 1970 (UTC); unique
    run_id TEXT NOT NULL UNIQUE,
    events INTEGER NOT NULL DEFAULT 0,
    last_hash TEXT NOT NULL DEFAULT '0000000000000000000000000000000000000000000000000000000000000000'
);

CREATE TABLE events (
    chain INTEGER NOT NULL REFERENCES chains (id),
    position INTEGER NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    event NOT NULL,                   -- canonical JSON: TEXT, or a BLOB that zlib unpacks to it
    PRIMARY KEY (chain, position)
);

CREATE TRIGGER events_follow_one_another BEFORE INSERT ON events
WHEN NOT EXISTS (
    SELECT 1 FROM chains WHERE id = NEW.chain AND events = NEW.position AND last_hash = NEW.previous
)
BEGIN
    SELECT RAISE(ABORT, 'an event does not follow the last one of its run');
END;

CREATE TRIGGER chains_grow AFTER INSERT ON events
BEGIN
    UPDATE chains SET events = NEW.position + 1, last_hash = NEW.hash WHERE id = NEW.chain;
END;

CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are only ever added');
END;

CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are only ever added');
END;

CREATE TRIGGER chains_are_never_deleted BEFORE DELETE ON chains
BEGIN
    SELECT RAISE(ABORT, 'runs are only ever added');
END;

CREATE TRIGGER chains_never_shrink BEFORE UPDATE ON chains
WHEN NEW.id <> OLD.id OR NEW.run_id <> OLD.run_id OR NEW.events <> OLD.events + 1
BEGIN
    SELECT RAISE(ABORT, 'a run only ever grows');
END;

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
    status TEXT NOT NULL CHECK (status IN (
        'unfinished', 'nothing_to_review', 'approved', 'changes_requested', 'escalated', 'stopped'
    )),
    repository INTEGER REFERENCES repositories (id),
    pull_request INTEGER,
    casting INTEGER NOT NULL REFERENCES castings (id),
    letters INTEGER NOT NULL,         -- which pairs of letters its title holds: most titles need not be read
    cost_usd REAL,                    -- NULL: no call reported its cost
    consults INTEGER NOT NULL,
    findings INTEGER NOT NULL,
    vetoes INTEGER NOT NULL,
    degraded INTEGER NOT NULL,
    disabled INTEGER NOT NULL,
    recovered INTEGER NOT NULL,
    exhausted INTEGER NOT NULL,
    wall_ms INTEGER,                  -- NULL while unfinished
    executor_ms INTEGER NOT NULL,     -- the executor's first attempts
    executor_tokens INTEGER NOT NULL, -- in, out, cache read and cache write
    advisor_tokens INTEGER NOT NULL,  -- the same of the three other roles
    vetoed INTEGER NOT NULL,          -- it had a veto that was the executor's to repair
    given INTEGER NOT NULL,           -- it was given replies that an earlier run paid for
    consult_tokens INTEGER NOT NULL,  -- of the advisor's, those of consults
    executor_turns INTEGER NOT NULL,
    executor_calls INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,   -- all input
    cached_tokens INTEGER NOT NULL    -- of it, what the cache had
);

CREATE INDEX runs_by_pull_request ON runs (pull_request);

-- A median is the middle of an index: sorting a million runs takes seconds.
CREATE INDEX runs_by_wall ON runs (wall_ms, executor_ms, status, repository, given);
CREATE INDEX runs_by_executor ON runs (executor_ms, wall_ms, status, repository, given);

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
    call INTEGER NOT NULL,            -- its number within the review
    asks_again INTEGER NOT NULL,      -- the number of the call that it asks again; 0: of none
    surface TEXT NOT NULL,
    role TEXT NOT NULL,
    advisor TEXT NOT NULL,            -- the id of who is asked
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
    turns INTEGER NOT NULL,           -- the messages of the model, consults apart; 0 where nobody knows
    kept INTEGER NOT NULL,            -- 1: an earlier run of the same review was given the reply and paid for it
    reply TEXT NOT NULL,              -- names the reply among those of the run that paid for it; '' where none is kept
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
    tokens INTEGER,                   -- in, out and of the cache; NULL: the CLI did not say, or not of all requests
    duration_ms INTEGER,              -- NULL: the CLI did not say
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

-- What a model used within a call that this run made, where nobody reported what it cost.
CREATE TABLE unreported (
    chain INTEGER NOT NULL REFERENCES chains (id),
    number INTEGER NOT NULL,
    role TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    PRIMARY KEY (chain, number, role, model)
) WITHOUT ROWID;

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
    consult_tokens INTEGER NOT NULL,  -- part of the advisors'
    PRIMARY KEY (chain, number)
) WITHOUT ROWID;

CREATE INDEX kept_by_reply ON kept (paid_by, reply, chain, number);

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

-- The findings that had a comment on the diff, and what people made of it; readings of an observation.
CREATE TABLE remarks (
    chain INTEGER NOT NULL REFERENCES chains (id),
    finding TEXT NOT NULL,
    acted_on INTEGER NOT NULL,        -- 1: its thread was resolved, or its lines are gone, and it was not dismissed
    dismissed INTEGER NOT NULL,
    thumb INTEGER NOT NULL,           -- 1: up, -1: down, 0: none, or people disagree
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

-- A judged run of an observed pull request, with the comments on the findings that it raised first.
CREATE TABLE said (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    repository INTEGER NOT NULL REFERENCES repositories (id),
    comments INTEGER NOT NULL,
    acted_on INTEGER NOT NULL,
    dismissed INTEGER NOT NULL,
    thumbs_up INTEGER NOT NULL,
    thumbs_down INTEGER NOT NULL
);

-- Tasks of `run` beside reviews: each is a chain of its own events.

CREATE TABLE tasks (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    task TEXT NOT NULL,
    status TEXT NOT NULL,
    error_mode TEXT NOT NULL,         -- none, the status, or malformed:<tag>
    executor_backend TEXT NOT NULL,
    advisor_backend TEXT NOT NULL,
    consults INTEGER NOT NULL,        -- that the advisor was asked
    guidances INTEGER NOT NULL,
    proposals INTEGER NOT NULL,
    malformed INTEGER NOT NULL,
    executor_calls INTEGER NOT NULL,
    executor_tokens INTEGER NOT NULL,
    advisor_tokens INTEGER NOT NULL,
    cost_usd REAL,                    -- as far as it was reported; NULL: by no call
    duration_ms INTEGER NOT NULL      -- of its calls
);

-- The reviews in shadow mode: `rollup --shadow` says what they would have done to merges.

CREATE TABLE shadow_mode (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    exit_code INTEGER                 -- what it would have concluded: 0, 10, 11 or 12; NULL while unfinished
);

-- The only table that is not read from the events: which artifacts of which server were taken in already,
-- and of which workflow runs.
CREATE TABLE collected (
    server TEXT NOT NULL,
    artifact INTEGER NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (server, artifact)
) WITHOUT ROWID;

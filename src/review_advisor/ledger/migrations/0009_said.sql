-- What people made of the comments on the diff, and what of the advisors' tokens consults used.

-- Part of advisor_tokens: used by consults during the executor's work.
ALTER TABLE runs ADD COLUMN consult_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE kept ADD COLUMN consult_tokens INTEGER NOT NULL DEFAULT 0;

-- The findings that had a comment on the diff, and what people made of it; readings of an observation.
CREATE TABLE remarks (
    chain INTEGER NOT NULL REFERENCES chains (id),
    finding TEXT NOT NULL,
    acted_on INTEGER NOT NULL,        -- 1: its thread was resolved, or its lines are gone, and it was not dismissed
    dismissed INTEGER NOT NULL,
    thumb INTEGER NOT NULL,           -- 1: up, -1: down, 0: none, or people disagree
    PRIMARY KEY (chain, finding)
) WITHOUT ROWID;

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

-- What each reading turn of an executor costs is told by how many there are.

-- The messages of the model, consults apart; 0 where nobody knows.
ALTER TABLE calls ADD COLUMN turns INTEGER NOT NULL DEFAULT 0;

-- The executor's, and in how many of its calls: those whose turns are known, and that this run made itself.
ALTER TABLE runs ADD COLUMN executor_turns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN executor_calls INTEGER NOT NULL DEFAULT 0;

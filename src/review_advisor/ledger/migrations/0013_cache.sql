-- What the cache of prompts saves is told by how much of the input is read from it.

-- Of the calls that this run made itself: all tokens of input, read and written ones too, and those that were read.
ALTER TABLE runs ADD COLUMN prompt_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN cached_tokens INTEGER NOT NULL DEFAULT 0;

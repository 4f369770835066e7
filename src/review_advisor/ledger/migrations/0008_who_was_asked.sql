-- Who was asked: a call's number within its review, the call that it asks again, and the id of its advisor.
-- 0 and '' in runs that were recorded before events said so.

ALTER TABLE calls ADD COLUMN call INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN asks_again INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN advisor TEXT NOT NULL DEFAULT '';

"""The journal of answers: each is on disk before it is used, so that a killed review does not pay for it again."""

"""The requests that GitHub answers, by subject: each is logged, allowed or refused, and met by the planned trouble."""

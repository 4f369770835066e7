"""What each role is asked and what it may answer: prompts, schemas, fences, transcripts."""

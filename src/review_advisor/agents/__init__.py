"""How a question becomes a checked answer: prompts, schemas, evidence, replies, and ``claude``."""

"""Online machines: learning from a stream, and active learning."""

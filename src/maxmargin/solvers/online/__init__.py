"""Online learning from a stream of samples (LASVM; thesis, chapter 8)."""

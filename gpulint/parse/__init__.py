"""Text to syntax: one reader a format, each file parsed once."""

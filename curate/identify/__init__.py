"""Models that say which language a text is in, alone and combined."""

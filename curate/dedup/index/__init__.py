"""What earlier runs kept, on disk: later runs leave out what repeats it."""

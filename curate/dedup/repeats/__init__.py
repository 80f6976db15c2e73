"""What documents repeat of one another, piece by piece: lines, and long stretches of text; cut out of the later ones."""

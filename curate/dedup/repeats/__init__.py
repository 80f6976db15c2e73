"""What documents repeat of one another: lines and long stretches of text, cut out of the later ones."""

"""How many tokens of each cell, and which documents."""

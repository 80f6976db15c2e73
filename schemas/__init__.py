"""What the data is. Imports nothing from the other folders."""

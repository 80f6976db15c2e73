"""Compiled loops of the reader: numbers and addresses in, arrays out."""

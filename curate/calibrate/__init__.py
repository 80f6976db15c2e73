"""Limits of rules, fitted to text that a user trusts."""

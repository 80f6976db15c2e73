"""Trained judges of quality: using a classifier, and making one."""

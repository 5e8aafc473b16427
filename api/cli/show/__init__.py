"""Answers as tables and trees for people."""

"""Sealing a store that lay open: its log is copied sealed under the same ids, proved equal and taken for the old one."""

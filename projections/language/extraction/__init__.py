"""What a speaker states about themselves, as statements that stand by themselves. By rules, one table a language."""

"""What a speaker states about himself, as statements that stand by themselves. By rules, one table a language."""

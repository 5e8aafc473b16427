"""Sealing: what is stored of an owner's words is encrypted under the owner's secret, and that under a master key."""

"""The taming of RQ: its queue, scheduler and worker, which run one function of ours and nothing that Redis names."""

"""What makes a long history quick to ask: where its change log tells of a memory."""

"""Recompute a partition's chain over its stored events from what `redis-cli --no-raw XRANGE` prints on standard input."""

import ast
import hashlib
import sys

words = [ast.literal_eval("b" + line[line.index('"') :].rstrip()) for line in sys.stdin if '"' in line]
head, seq = bytes(32), 0
for at in range(0, len(words), 9):  # an id, then t, i, o and e, each a name and a value
    if int(words[at].removesuffix(b"-0")) != seq + 1:
        sys.exit(f"the log has a gap after {seq}")
    seq, body = seq + 1, words[at + 8]
    head = hashlib.sha256(head + seq.to_bytes(8, "big") + hashlib.sha256(body).digest()).digest()
print(seq, head.hex())

"""Recompute a partition's chain over its stored events from what `redis-cli --no-raw XRANGE` prints on standard input."""

import ast
import hashlib
import sys

words = [ast.literal_eval("b" + line[line.index('"') :].rstrip()) for line in sys.stdin if '"' in line]
starts = [at for at in range(len(words) - 1) if words[at].endswith(b"-0") and words[at + 1] == b"t"]
head, seq = bytes(32), 0
for at, end in zip(starts, [*starts[1:], len(words)], strict=True):  # an id, then fields, each a name and a value
    if int(words[at].removesuffix(b"-0")) != seq + 1:
        sys.exit(f"the log has a gap after {seq}")
    seq, entry = seq + 1, dict(zip(words[at + 1 : end : 2], words[at + 2 : end : 2], strict=True))
    if entry.get(b"s"):  # the body is there, and must be the one that was committed to
        entry[b"c"] = hashlib.sha256(entry[b"s"] + entry[b"e"]).digest()
    clear = [value for name, value in entry.items() if name not in (b"e", b"s")]
    told = b"".join(len(one).to_bytes(4, "big") + one for one in clear)
    head = hashlib.sha256(head + seq.to_bytes(8, "big") + told).digest()
print(seq, head.hex())

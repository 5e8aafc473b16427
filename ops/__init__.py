"""What operators run: settings, wiring, processes, commands.

Each process of ours imports this package first, before numpy. OpenBLAS starts its threads while numpy loads, and idle threads spin:
0.08 s of CPU on two cores. Products here are small, so one thread multiplies them; a number that somebody set stays.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

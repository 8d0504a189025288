"""Reads the files it is given with pandas or SciPy, once each, for `ladies bench text`.

Prints the versions, then a line "seconds path" for each file. Two threads at most.
"""

import os

os.environ["OMP_NUM_THREADS"] = "2"

import sys
import tempfile
import time

import numpy as np
import pandas as pd
import scipy
import scipy.io
import scipy.io._fast_matrix_market as fast

fast.PARALLELISM = 2

# The types that ladies reads as, which is also what pandas is fastest with.
COLUMNS = {0: np.int32, 1: np.int32, 2: np.float32}


def read(path):
    if path.endswith(".csv.gz"):
        weighted = "weights" in os.path.basename(path)
        types = {k: v for k, v in COLUMNS.items() if weighted or k < 2}
        return pd.read_csv(path, header=None, dtype=types, engine="c")
    return scipy.io.mmread(path)


def warm_up():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "small.csv.gz")
        pd.DataFrame({0: [1, 2], 1: [3, 4]}).to_csv(path, header=False, index=False)
        read(path)
        path = os.path.join(folder, "small.mtx")
        scipy.io.mmwrite(path, scipy.sparse.coo_matrix(np.eye(3)))
        read(path)


warm_up()
print(f"pandas {pd.__version__} (C engine), SciPy {scipy.__version__}")
for path in sys.argv[1:]:
    begin = time.perf_counter()
    table = read(path)
    seconds = time.perf_counter() - begin
    del table
    print(seconds, path)

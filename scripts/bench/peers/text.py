"""Reads the files it is given with pandas, polars or SciPy, those of them that are there, once each,
for `ladies bench text`.

Prints the versions, then a line "seconds name path" for each reading. Two threads at most.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["POLARS_MAX_THREADS"] = "2"

import sys
import tempfile
import time

import numpy as np

try:
    import pandas as pd
except ImportError:
    pd = None
try:
    import polars as pl
except ImportError:
    pl = None
try:
    import scipy
    import scipy.io
    import scipy.io._fast_matrix_market as fast

    fast.PARALLELISM = 2
except ImportError:
    scipy = None


# The types that ladies reads as, which are also those that these are fastest with.
def with_pandas(path, n_columns):
    types = dict(enumerate([np.int32, np.int32, np.float32][:n_columns]))
    return pd.read_csv(path, header=None, dtype=types, engine="c")


def with_polars(path, n_columns):
    types = dict(zip("abc"[:n_columns], [pl.Int32, pl.Int32, pl.Float32]))
    return pl.read_csv(path, has_header=False, schema=types)


def with_scipy(path, _):
    return scipy.io.mmread(path)


TABLES = {".csv", ".csv.gz"}
READERS = [
    ("pandas", pd, TABLES, with_pandas),
    ("polars", pl, TABLES, with_polars),
    ("SciPy", scipy, {".mtx"}, with_scipy),
]


def readings(path):
    """(name, function) of each that reads such a file."""
    base = os.path.basename(path)
    ending, n_columns = base[base.index(".") :], 3 if base.startswith("weights") else 2
    for name, module, endings, read in READERS:
        if module and ending in endings:
            yield name, lambda read=read: read(path, n_columns)


def warm_up():
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("small.csv", "small.mtx")]
        with open(paths[0], "w") as file:
            file.write("1,3\n2,4\n")
        if scipy:
            scipy.io.mmwrite(paths[1], scipy.sparse.coo_matrix(np.eye(3)))
        for path in paths:
            for _, read in readings(path):
                read()


warm_up()
there = [f"{name} {module.__version__}" for name, module, _, _ in READERS if module]
if not there:
    sys.exit(1)
print(", ".join(there))
for path in sys.argv[1:]:
    for name, read in readings(path):
        begin = time.perf_counter()
        table = read()
        seconds = time.perf_counter() - begin
        del table
        print(seconds, name, path)

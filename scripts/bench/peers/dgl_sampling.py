"""DGL's classic NeighborSampler on the graph in an .npz (indptr, indices): its version on the first
line, then milliseconds of one mini-batch a line.

  dgl_sampling.py GRAPH.npz LAYERS FANOUT BATCH ROUNDS
"""
import os
import sys
import time

os.environ.setdefault("DGLBACKEND", "pytorch")
import numpy as np
import torch
import dgl

path, layers, fanout, batch, rounds = sys.argv[1], *map(int, sys.argv[2:])
torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
with np.load(path) as arrays:
    offsets, columns = arrays["indptr"].astype(np.int64), arrays["indices"].astype(np.int64)
n = len(offsets) - 1
graph = dgl.graph(("csc", (torch.from_numpy(offsets), torch.from_numpy(columns), [])), num_nodes=n)
graph = graph.formats("csc")
sampler = dgl.dataloading.NeighborSampler([fanout] * layers)
generator = torch.Generator().manual_seed(1)
print("DGL", dgl.__version__)
for i in range(-10, rounds):
    seeds = torch.randint(n, (batch,), generator=generator).unique()
    began = time.perf_counter()
    nodes, _, blocks = sampler.sample(graph, seeds)
    if i >= 0:
        print(1e3 * (time.perf_counter() - began))
    del nodes, blocks

"""PyTorch Geometric; behind the folder stands which: cluster (ClusterLoader, on the parts of
ladies), saint (GraphSAINTRandomWalkSampler, both of its normalisations, on P, with the walks of
ladies), full (all nodes, an edge index)."""

from common import *

import torch_geometric
from torch_geometric.data import Data
from torch_geometric.loader import ClusterData, ClusterLoader, GraphSAINTRandomWalkSampler
from torch_geometric.nn import GCNConv
from torch_geometric.typing import SparseTensor

kind = sys.argv[2]


def edges_of(a):
    """The entries of a matrix, whose rows are destinations, as an edge index and weights."""
    a = a.tocoo()
    return torch.from_numpy(np.vstack((a.col, a.row)).astype(np.int64)), torch.from_numpy(a.data)


A = matrix(data, "A")
mask = torch.zeros(A.shape[0], dtype=torch.bool)
mask[torch.from_numpy(train)] = True
graph = Data(x=dense_features(), y=labels, train_mask=mask)
if kind == "saint":
    graph.edge_index, graph.edge_weight = edges_of(matrix(data, "P"))
    row, col = edges_of(A)[0]
    walks = SparseTensor(row=row, col=col, sparse_sizes=A.shape)
    roots = torch.from_numpy(train)
else:
    graph.edge_index, _ = edges_of(A)


class Gcn(nn.Module):
    def __init__(self):
        super().__init__()
        layers, _ = parameters()
        self.layers = nn.ModuleList()
        for weight, bias in layers:
            conv = GCNConv(*weight.shape, cached=kind == "full", normalize=kind != "saint")
            conv.lin.weight.data.copy_(torch.from_numpy(weight.T.copy()))
            conv.bias.data.copy_(torch.from_numpy(bias))
            self.layers.append(conv)

    def forward(self, h, edge_index, weights=None):
        for i, conv in enumerate(self.layers):
            h = conv(h, edge_index, weights)
            if i + 1 < len(self.layers):
                h = F.dropout(F.relu(h), case["dropout"], self.training)
        return h


class Parts(ClusterData):
    """Clusters that are given."""

    def _metis(self, edge_index, num_nodes):
        return torch.from_numpy(data["parts"].astype(np.int64))


class Walks(GraphSAINTRandomWalkSampler):
    """Walks that begin at training nodes and take no self-loops, as those of ladies: PyG's own
    begin at all nodes and walk on P, and their subgraphs are others."""

    def _sample_nodes(self, batch_size):
        start = roots[torch.randint(len(roots), (batch_size,))]
        return walks.random_walk(start, self.walk_length).view(-1)


def loader():
    if kind == "cluster":
        return ClusterLoader(
            Parts(graph, case["parts"], log=False), batch_size=case["clusters"], shuffle=True
        )
    if kind == "saint":
        return Walks(
            graph,
            batch_size=case["samples"],
            walk_length=case["length"],
            num_steps=1000,
            sample_coverage=case["coverage"],
            log=False,
        )
    return [graph]


def repeated(source):
    while True:
        yield from source


stream = repeated(loader())
model = Gcn()
training = Training(model)


def run():
    while True:
        began = clock()
        batch = next(stream)
        if kind == "full" or bool(batch.train_mask.any()):
            break
    sampled = clock()
    weights = batch.edge_norm * batch.edge_weight if kind == "saint" else None
    nodes = batch.train_mask
    training.step(
        lambda: model(batch.x, batch.edge_index, weights)[nodes],
        batch.y[nodes],
        batch.node_norm[nodes] if kind == "saint" else None,
    )
    return clock() - began, sampled - began, 0


def check():
    def forward(found):
        ids = found["input"].astype(np.int64)
        if kind == "saint":
            index, weights = edges_of(matrix(found, "block1"))
        else:
            index, weights = edges_of(A[ids][:, ids])[0], None
        logits = model(graph.x[torch.from_numpy(ids)], index, weights)
        return logits[torch.from_numpy(found["places"].astype(np.int64))]

    for conv in model.layers:
        conv.cached = False
    result = compare(model, forward)
    for conv in model.layers:
        conv.cached = kind == "full"
    return result


serve(f"PyG {torch_geometric.__version__} {kind}", run, check)

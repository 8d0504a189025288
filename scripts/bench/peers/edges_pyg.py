"""R-GCN, GINE, GAT, GCNII, GraphSAGE and link prediction by it in PyTorch Geometric. A sampled mini-batch
goes through a layer as that layer needs it: the last reads the edges of the seeds alone."""

from edges_common import *

import torch_geometric
from torch_geometric.data import Data
from torch_geometric.loader import LinkNeighborLoader, NeighborLoader
from torch_geometric.nn import GATConv, GCN2Conv, GINEConv, RGCNConv, SAGEConv

kind = case["model"]
values = torch.from_numpy(A.data)  # of P, for GCNII


def convolution(i):
    if kind == "rgcn":
        conv = RGCNConv(INPUTS[i], OUTPUTS[i], case["relations"], num_bases=case["bases"])
        conv.weight.data.copy_(weight(i, "maps").view_as(conv.weight))
        conv.comp.data.copy_(weight(i, "shares"))
        conv.root.data.copy_(weight(i, "own.weight"))
        conv.bias.data.copy_(weight(i, "own.bias"))
    elif kind == "gine":
        conv = GINEConv(perceptron(i), edge_dim=edge_features.shape[1])
        set_linear(conv.lin, i, "edge")
        set_linear(conv.nn[0], i, "first")  # which the constructor has set anew
        set_linear(conv.nn[3], i, "second")
    elif kind == "gat":
        heads = case["heads"] if i + 1 < case["layers"] else 1
        conv = GATConv(INPUTS[i], OUTPUTS[i] // heads, heads, add_self_loops=False)
        set_linear(conv.lin, i, "map", bias=False)
        conv.att_src.data.copy_(weight(i, "from").view_as(conv.att_src))
        conv.att_dst.data.copy_(weight(i, "to").view_as(conv.att_dst))
        conv.bias.data.copy_(weight(i, "bias"))
    elif kind == "gcnii":
        conv = GCN2Conv(case["hidden"], case["alpha"], case["theta"], i + 1, normalize=False)
    else:
        conv = SAGEConv(INPUTS[i], OUTPUTS[i])
        set_linear(conv.lin_l, i, "near")
        set_linear(conv.lin_r, i, "own", bias=False)
    return conv


def layer(conv, h, block):
    index, edge, n_rows = block
    if kind == "gcnii":
        return conv(*h, index, values)
    if n_rows < len(h):
        h = (h, h[:n_rows])
    if kind == "rgcn":
        return conv(h, index, edge_types[edge])
    return conv(h, index, edge_features[edge]) if kind == "gine" else conv(h, index)


def block_of(a, edge):
    rows = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
    return torch.from_numpy(np.vstack((a.indices, rows)).astype(np.int64)), edge, a.shape[0]


def blocks_of(batch, seeds):
    """The blocks of two layers: rows that have edges and the seeds, and the seeds alone."""
    index, edge = batch.edge_index, batch.e_id
    n_rows = max(seeds, int(index[1].max()) + 1)
    last = index[1] < seeds
    return [(index, edge, n_rows), (index[:, last], edge[last], seeds)]


def full_batches():
    everything = block_of(A, torch.arange(A.nnz))
    rows = torch.from_numpy(train)
    while True:
        yield [everything] * case["layers"], None, labels[rows], rows


def node_batches(graph):
    loader = NeighborLoader(
        graph,
        [case["samples"]] * case["layers"],
        torch.from_numpy(train),
        batch_size=case["batch"],
        shuffle=True,
    )
    while True:
        for batch in loader:
            blocks = blocks_of(batch, batch.batch_size)
            yield blocks, batch.n_id, labels[batch.n_id[: batch.batch_size]], None


def link_batches(graph):
    loader = LinkNeighborLoader(
        graph,
        [case["samples"]] * case["layers"],
        torch.stack(positives()),
        neg_sampling_ratio=1.0,
        batch_size=case["batch"],
        shuffle=True,
    )
    while True:
        for batch in loader:
            ends = batch.edge_label_index
            blocks = blocks_of(batch, int(ends.max()) + 1)
            yield blocks, batch.n_id, int(batch.edge_label.sum()), ends


def stream():
    if is_full:
        return full_batches()
    index, edge, _ = block_of(A, torch.arange(A.nnz))
    graph = Data(edge_index=index, num_nodes=A.shape[0])
    graph.edge_attr = edge  # so that the loader says which edges it has taken
    return link_batches(graph) if of_links else node_batches(graph)


batches = stream()
model = stack(convolution, layer)
serve(
    f"PyG {torch_geometric.__version__}",
    stepping(model, lambda: next(batches)),
    checking(model, block_of),
)

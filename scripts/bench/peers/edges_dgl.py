"""R-GCN, GINE, GAT, GCNII, GraphSAGE and link prediction by it in DGL."""

from edges_common import *

import dgl
from dgl.nn import GATConv, GCN2Conv, GINEConv, RelGraphConv, SAGEConv

kind = case["model"]


class Gine(nn.Module):
    """GINE with the map of the features of edges, which DGL's layer is given mapped."""

    def __init__(self, i):
        super().__init__()
        self.edge = nn.Linear(edge_features.shape[1], INPUTS[i])
        set_linear(self.edge, i, "edge")
        self.conv = GINEConv(perceptron(i))

    def forward(self, block, h, features):
        return self.conv(block, h, self.edge(features))


def convolution(i):
    if kind == "rgcn":
        conv = RelGraphConv(INPUTS[i], OUTPUTS[i], case["relations"], "basis", case["bases"])
        conv.linear_r.W.data.copy_(weight(i, "maps").view_as(conv.linear_r.W))
        conv.linear_r.coeff.data.copy_(weight(i, "shares"))
        conv.loop_weight.data.copy_(weight(i, "own.weight"))
        conv.h_bias.data.copy_(weight(i, "own.bias"))
    elif kind == "gine":
        conv = Gine(i)
    elif kind == "gat":
        heads = case["heads"] if i + 1 < case["layers"] else 1
        conv = GATConv(INPUTS[i], OUTPUTS[i] // heads, heads, allow_zero_in_degree=True)
        set_linear(conv.fc, i, "map", bias=False)
        conv.attn_l.data.copy_(weight(i, "from").view_as(conv.attn_l))
        conv.attn_r.data.copy_(weight(i, "to").view_as(conv.attn_r))
        conv.bias.data.copy_(weight(i, "bias").view_as(conv.bias))
    elif kind == "gcnii":
        conv = GCN2Conv(case["hidden"], i + 1, case["alpha"], case["theta"], bias=False)
    else:
        conv = SAGEConv(INPUTS[i], OUTPUTS[i], "mean")
        set_linear(conv.fc_neigh, i, "near", bias=False)
        set_linear(conv.fc_self, i, "own", bias=False)
        conv.fc_self.bias.data.copy_(weight(i, "near.bias"))
    return conv


def shares(rows, types):
    """For each edge one over how many of its type its node receives: RelGraphConv's norm."""
    key = rows * case["relations"] + types
    return (1 / torch.bincount(key)[key]).float().view(-1, 1)


def layer(conv, h, block):
    graph, edge, norm, is_sorted = block
    if kind == "gine":
        return conv(graph, h, edge_features[edge])
    if kind == "gcnii":
        return conv(graph, *h)
    if kind == "gat":
        return conv(graph, h).flatten(1)
    if kind == "sage":
        return conv(graph, h)
    types = edge_types[edge]
    norm = shares(graph.edges()[1], types) if norm is None else norm
    return conv(graph, h, types, norm, presorted=is_sorted)


def entries(a):
    """The rows and columns of a's entries."""
    rows = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
    return torch.from_numpy(rows), torch.from_numpy(a.indices.astype(np.int64))


def block_of(a, edge):
    rows, columns = entries(a)
    if kind == "gcnii":  # whose layer takes no blocks
        return dgl.graph((columns, rows), num_nodes=a.shape[0]), edge, None, False
    graph = dgl.create_block((columns, rows), num_src_nodes=a.shape[1], num_dst_nodes=a.shape[0])
    return graph, edge, None, False


def full_batches():
    """All edges, sorted by their types, which is quicker; what does not change is made once."""
    rows, columns = entries(A)
    edge, norm = torch.arange(A.nnz), None
    if kind == "rgcn":
        edge = torch.argsort(edge_types, stable=True)
        norm = shares(rows[edge], edge_types[edge])
    graph = dgl.graph((columns[edge], rows[edge]), num_nodes=A.shape[0])
    nodes = torch.from_numpy(train)
    while True:
        yield [(graph, edge, norm, kind == "rgcn")] * case["layers"], None, labels[nodes], nodes


def sampled_blocks(blocks):
    return [(b, b.edata[dgl.EID], None, False) for b in blocks]


def node_batches(graph, sampler):
    loader = dgl.dataloading.DataLoader(
        graph, torch.from_numpy(train), sampler, batch_size=case["batch"], shuffle=True
    )
    while True:
        for ids, output, blocks in loader:
            yield sampled_blocks(blocks), ids, labels[output], None


def link_batches(graph, sampler):
    """Positives are one of the two directions of an edge; both are left out of propagation."""
    ends = positives()
    sampler = dgl.dataloading.as_edge_prediction_sampler(
        sampler,
        exclude="reverse_id" if case["exclude"] == "seeds" else None,
        reverse_eids=graph.edge_ids(*graph.edges()[::-1]),
        negative_sampler=dgl.dataloading.negative_sampler.Uniform(1),
    )
    loader = dgl.dataloading.DataLoader(
        graph, graph.edge_ids(*ends), sampler, batch_size=case["batch"], shuffle=True
    )
    while True:
        for ids, pairs, others, blocks in loader:
            (a, b), (c, d) = pairs.edges(), others.edges()
            yield sampled_blocks(blocks), ids, len(a), (torch.cat((a, c)), torch.cat((b, d)))


def stream():
    if is_full:
        return full_batches()
    rows, columns = entries(A)
    graph = dgl.graph((columns, rows), num_nodes=A.shape[0])
    sampler = dgl.dataloading.NeighborSampler([case["samples"]] * case["layers"])
    return link_batches(graph, sampler) if of_links else node_batches(graph, sampler)


batches = stream()
model = stack(convolution, layer)
serve(
    f"DGL {dgl.__version__}",
    stepping(model, lambda: next(batches)),
    checking(model, block_of),
)

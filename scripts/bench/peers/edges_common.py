"""What the peers share that train other layers than those of a GCN, or predict links: the arrays of the
case, the model's weights by name, and the loop. The two peers bring layers, mini-batches and blocks.

Features of edges are in the order of A's entries; a mini-batch of ladies names them by `edge`."""

from common import *

A = matrix(data, "P" if case["model"] in ("gat", "gcnii") else "A")  # with self-loops, if the case has
X = dense_features()
of_links = case["work"] == "links"
edge_types = torch.from_numpy(data["edge_types"].astype(np.int64)) if "edge_types" in data else None
edge_features = torch.from_numpy(data["edge_features"]) if "edge_features" in data else None
weights = {name: torch.from_numpy(value.copy()) for name, value in arrays("weights").items()}
is_full = case["method"] == "full"
INPUTS = [X.shape[1]] + [case["hidden"]] * (case["layers"] - 1)
OUTPUTS = [case["hidden"]] * (case["layers"] - 1) + [
    case["embedding"] if of_links else int(labels.max()) + 1
]


def weight(i, name):
    """A parameter of the convolution of layer i, from 0."""
    return weights[f"layers.{i + 1}.conv.{name}"]


def set_linear(linear, i, name, bias=True):
    linear.weight.data.copy_(weight(i, name + ".weight").T)
    if bias:
        linear.bias.data.copy_(weight(i, name + ".bias"))


def perceptron(i):
    """The two layers of GINE, with the normalisation between them."""
    outputs = OUTPUTS[i]
    mlp = nn.Sequential(
        nn.Linear(INPUTS[i], outputs),
        nn.LayerNorm(outputs),
        nn.ReLU(),
        nn.Linear(outputs, outputs),
    )
    set_linear(mlp[0], i, "first")
    set_linear(mlp[3], i, "second")
    mlp[1].weight.data.copy_(weight(i, "norm.gain"))
    mlp[1].bias.data.copy_(weight(i, "norm.bias"))
    return mlp


class Stack(nn.Module):
    """Convolutions with activations between them; layer(conv, h, block) is the peer's."""

    def __init__(self, convolution, layer):
        super().__init__()
        self.layers = nn.ModuleList(convolution(i) for i in range(case["layers"]))
        self.layer = layer

    def forward(self, h, blocks):
        for i, (conv, block) in enumerate(zip(self.layers, blocks)):
            h = self.layer(conv, h, block)
            if i + 1 < len(self.layers):
                h = ACTIVATION(h)
        return h


class DeepStack(Gcnii):
    """GCNII with the peer's convolutions, which are given the first representation too."""

    def __init__(self, convolution, layer):
        super().__init__()
        self.layers = nn.ModuleList(convolution(i) for i in range(case["layers"]))
        self.of_peer = layer
        for conv, one in zip(self.layers, self.maps):
            conv.weight1 = one

    def layer(self, i, h, first, block):
        return self.of_peer(self.layers[i], (h, first), block)


def stack(convolution, layer):
    return (DeepStack if case["model"] == "gcnii" else Stack)(convolution, layer)


def link_loss(h, ends, positives):
    """The scores of pairs, the first of which are edges, and their loss."""
    scores = (h[ends[0]] * h[ends[1]]).sum(1)
    wanted = torch.zeros(len(scores))
    wanted[:positives] = 1
    return scores, F.binary_cross_entropy_with_logits(scores, wanted)


def checking(model, block_of):
    """The check; block_of(matrix, positions of its entries' edges) is a block of the peer."""

    def forward(found):
        blocks = []
        for i, a in enumerate(check_blocks(found), 1):
            edge = found.get(f"edge{i}", np.zeros(0)).astype(np.int64)
            blocks.append(block_of(a, torch.from_numpy(edge)))
        h = model(X[torch.from_numpy(found["input"].astype(np.int64))], blocks)
        if of_links:
            ends = [torch.from_numpy(found[name].astype(np.int64)) for name in ("from", "to")]
            return link_loss(h, ends, len(ends[0]) // 2)
        return h[torch.from_numpy(found["places"].astype(np.int64))]

    def check():
        if not of_links:
            return compare(model, forward)
        found = arrays("check")
        scores, loss = forward(found)
        model.zero_grad()
        loss.backward()
        norms = np.sort([float(p.grad.norm()) for p in model.parameters()])
        model.zero_grad()
        expected, wanted = found["logits"], np.sort(found["gradients"])
        return {
            "logits": float(np.abs(scores.detach().numpy() - expected).max())
            / float(np.abs(expected).max()),
            "loss": abs(loss.item() / float(found["loss"][0]) - 1),
            "gradients": float(np.abs(norms - wanted).max() / wanted.max()),
        }

    return check


def stepping(model, next_batch):
    """A step: next_batch() gives blocks, nodes of the input (None: all of X), and the labels of the
    rows and their places, or of links the ends of pairs."""
    training = Training(model)

    def run():
        began = clock()
        blocks, nodes, wanted, rows = next_batch()
        sampled = clock()
        x = X if nodes is None else X[nodes]
        gathered = clock()
        if of_links:
            training.clear()
            loss = link_loss(model(x, blocks), rows, wanted)[1]
            loss.backward()
            training.optimizer.step()
            loss.item()
        elif rows is None:
            training.step(lambda: model(x, blocks), wanted)
        else:
            training.step(lambda: model(x, blocks)[rows], wanted)
        return clock() - began, sampled - began, gathered - sampled

    return run


def positives():
    """The edges for training, each once, as two arrays of ends."""
    upper = sp.triu(A, 1).tocoo()
    return torch.from_numpy(upper.row.astype(np.int64)), torch.from_numpy(upper.col.astype(np.int64))

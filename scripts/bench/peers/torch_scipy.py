"""LADIES and FastGCN in PyTorch and SciPy, sampled the way that the authors of LADIES do it: rows
of P, dense probabilities over all nodes, NumPy's choice without replacement, COO blocks. With the
word `once` behind the folder: one training step, and the end."""

import scipy

from common import *

n = int(data["P_cols"][0])
P = matrix(data, "P")
random = np.random.RandomState(1)
size, self_nodes, union = case["samples"], case["self_nodes"], case["union"]


def probabilities(rows):
    p = np.asarray(rows.multiply(rows).sum(0))[0].astype(np.float64)
    return p / p.sum()


def row_normalized(a):
    sums = np.asarray(a.sum(1)).ravel()
    sums[sums == 0] = 1
    return sp.csr_matrix(sp.diags((1 / sums).astype(np.float32)) @ a)


def united(above, batch):
    """The nodes that a layer below `above` holds besides those that are drawn."""
    return {"batch": batch, "previous": above, "none": above[:0]}[self_nodes]


def without(p, own):
    q = p.copy()
    q[own] = 0
    return q / q.sum()


def draw(own, p):
    """The nodes of a layer."""
    p = p if union == "post" else without(p, own)
    k = min(int((p > 0).sum()), size)
    drawn = random.choice(n, k, p=p, replace=False)
    nodes = np.concatenate((own, drawn))
    return np.unique(nodes) if union == "post" else nodes


def block_of(rows, own, nodes, p):
    """The block of the given nodes."""
    if union == "post":
        with np.errstate(divide="ignore"):
            weights = 1 / p[nodes]
        weights[np.isinf(weights)] = 0
    else:
        drawn = nodes[len(own) :]
        weights = 1 / (max(1, len(drawn)) * without(p, own)[drawn])
        weights = np.concatenate((np.ones(len(own)), weights))
    return row_normalized(sp.csr_matrix(rows[:, nodes].multiply(weights), dtype=np.float32))


# FastGCN's probabilities are those of all rows, and made once.
everywhere = probabilities(P) if case["method"] == "fastgcn" else None


def sample(batch):
    above, blocks = batch, []
    for _ in range(case["layers"]):
        rows, own = P[above, :], united(above, batch)
        p = probabilities(rows) if everywhere is None else everywhere
        nodes = draw(own, p)
        blocks.append(coo_block(block_of(rows, own, nodes, p)))
        above = nodes
    return blocks[::-1], above


def same_block(above, nodes, batch):
    """The block that the nodes of ladies give."""
    rows = P[above, :]
    p = probabilities(rows) if everywhere is None else everywhere
    return block_of(rows, united(above, batch), nodes, p)


name = f"PyTorch {torch.__version__}, SciPy {scipy.__version__}"
batches = shuffled_batches()
if case["work"] == "sampling":

    def run():
        batch = next(batches)
        began = clock()
        sample(batch)
        return (clock() - began,) * 2 + (0,)

    serve(name, run, lambda: {"blocks": compare_blocks(same_block)})
    sys.exit()

model = Network()
training = Training(model)
X = dense_features()


def run():
    began = clock()
    batch = next(batches)
    blocks, nodes = sample(batch)
    sampled = clock()
    x = X[torch.from_numpy(nodes)]
    gathered = clock()
    training.step(lambda: model(x, blocks), labels[torch.from_numpy(batch)])
    return clock() - began, sampled - began, gathered - sampled


def check():
    def forward(found):
        blocks = [coo_block(a) for a in check_blocks(found)]
        return model(X[torch.from_numpy(found["input"].astype(np.int64))], blocks)

    return {**compare(model, forward), "blocks": compare_blocks(same_block)}


if sys.argv[2:] == ["once"]:
    run()
else:
    serve(name, run, check)

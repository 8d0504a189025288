"""Every method as an expert would have it in NumPy and PyTorch, without a line of C: whole arrays at
a time, probabilities over the columns that rows touch, matrices as CSR whose products are those of
embedding_bag (the fastest sparse product of PyTorch on a processor), sparse features that stay
sparse, all parameters in one array. With the word `once` behind the folder: one training step, and
the end."""

from scipy.sparse._sparsetools import csr_row_index

from common import *

FEW = 4  # rows of at most so many entries a node of the graph are sorted; others are counted
SPARSE_DRAW = 4  # up to this part of the columns numbers are drawn until they differ

random = np.random.default_rng(1)
method, layers, size = case["method"], case["layers"], case.get("samples")
own_loops = "P" if method in ("ladies", "fastgcn", "full", "graphsaint") else "A"
offsets, columns = data[own_loops + "_indptr"], data[own_loops + "_indices"]
values = data[own_loops + "_data"]
short_offsets = offsets.astype(np.int32)  # of one type with the columns, as SciPy's loops want them
n = len(offsets) - 1
place = np.full(n, -1, np.int32)  # where a node stands among those of a layer; -1 between uses


# ---------------------------------------------------------------- matrices and their products


class Csr:
    """offsets, columns and values of a matrix, as PyTorch's; its transpose, made when wanted."""

    def __init__(self, offsets, columns, values, n_cols, symmetric=False):
        self.arrays = offsets, columns, values
        self.shape, self.nnz = (len(offsets) - 1, n_cols), len(columns)
        self.tensors = [torch.from_numpy(np.ascontiguousarray(a)) for a in self.arrays]
        self.symmetric, self.turned = symmetric, None

    def transposed(self):
        if self.symmetric:
            return self
        if self.turned is None:
            self.turned = csr_of(scipy_of(self).T.tocsr())
        return self.turned

    def times(self, h):
        offsets, columns, values = self.tensors
        return F.embedding_bag(
            columns, h, offsets, mode="sum", per_sample_weights=values, include_last_offset=True
        )


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h, a):
        ctx.a = a
        return a.times(h)

    @staticmethod
    def backward(ctx, gradient):
        return ctx.a.transposed().times(gradient.contiguous()), None


def block_of(a):
    return Block(a.shape, a.nnz, lambda h: Product.apply(h, a))


def scipy_of(a):
    offsets, columns, values = a.arrays
    return sp.csr_matrix((values, columns, offsets), shape=a.shape)


def csr_of(a, symmetric=False):
    return Csr(a.indptr, a.indices, a.data, a.shape[1], symmetric)


# ---------------------------------------------------------------- rows and draws


def entries_of(rows):
    """How many entries each of the rows has, and where they stand in the graph's arrays."""
    first = offsets[rows]
    counts = offsets[rows + 1] - first
    ends = np.cumsum(counts)
    return counts, np.repeat(first - ends + counts, counts) + np.arange(ends[-1])


def ends_of(counts):
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int32)


def distinct(ends, k):
    """k different places, one after the other with probabilities in proportion to masses, whose sums
    up to each place are given; all that have any where they are fewer."""
    if k * SPARSE_DRAW > len(ends):
        mass = np.diff(ends, prepend=0)
        there = np.flatnonzero(mass)
        if len(there) <= k:
            return there
        keys = random.standard_exponential(len(there)) / mass[there]
        return there[np.argpartition(keys, k - 1)[:k]]
    found = np.empty(0, np.int64)
    while len(found) < k:
        drawn = np.searchsorted(ends, random.random(2 * k) * ends[-1], side="right")
        found = np.concatenate((found, drawn))
        first = np.sort(np.unique(found, return_index=True)[1])
        found = found[first[:k]]
    return found


def uniform(counts, k):
    """For each row of so many entries which of them it keeps, k at most and all alike: Floyd's way,
    all rows at once. Returns how many each keeps, and the numbers in its order."""
    many = counts > k
    kept = np.minimum(counts, k)
    drawn = np.tile(np.arange(k), (len(counts), 1))
    limits = counts[many]
    own = np.empty((len(limits), k), np.int64)
    for j in range(k):
        last = limits - k + j
        t = (random.random(len(limits)) * (last + 1)).astype(np.int64)
        taken = (own[:, :j] == t[:, None]).any(1)
        own[:, j] = np.where(taken, last, t)
    drawn[many] = own
    return kept, drawn[np.arange(k) < kept[:, None]]


def different(nodes):
    """The nodes without repetition; place has their numbers, which the caller takes back."""
    if len(nodes) * FEW < n:
        nodes = np.unique(nodes)
    else:
        flags = np.zeros(n, bool)
        flags[nodes] = True
        nodes = np.flatnonzero(flags)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    return nodes


# ---------------------------------------------------------------- the samplers


def square_masses(cols, v):
    """The nodes that columns touch, and the sums of the squares of their entries."""
    if len(cols) * FEW > n:
        return None, np.bincount(cols, v * v, n)
    near, inverse = np.unique(cols, return_inverse=True)
    return near, np.bincount(inverse, v * v)


everywhere = None
if method == "fastgcn":
    everywhere = np.bincount(columns, values.astype(np.float64) ** 2, n)
    ends_everywhere = np.cumsum(everywhere)


def layer_block(rows, above, nodes, weights):
    """The given nodes' columns of rows, weighted, each row divided by its sum."""
    counts, cols, v = rows
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    there = place[cols]
    keep = np.flatnonzero(there >= 0)
    place[nodes] = -1
    row = np.repeat(np.arange(len(above)), counts)[keep]
    col = there[keep]
    val = v[keep] * weights[col]
    total = np.bincount(row, val, len(above))
    total[total == 0] = 1
    return Csr(
        ends_of(np.bincount(row, minlength=len(above))),
        col,
        (val / total[row]).astype(np.float32),
        len(nodes),
    )


def own_nodes(above, batch):
    return {"batch": batch, "previous": above, "none": above[:0]}[case["self_nodes"]]


def rows_of(above):
    """How many entries each of the rows has, their columns and values: SciPy's copy of rows."""
    counts = offsets[above + 1] - offsets[above]
    cols, v = np.empty(counts.sum(), np.int32), np.empty(counts.sum(), np.float32)
    csr_row_index(len(above), above.astype(np.int32), short_offsets, columns, values, cols, v)
    return counts, cols, v


def masses(rows):
    return (None, everywhere) if everywhere is not None else square_masses(*rows[1:])


def at_nodes(near, mass, nodes):
    """The masses of nodes, zero where no column touches them."""
    if near is None:
        return mass[nodes]
    i = np.minimum(np.searchsorted(near, nodes), len(near) - 1)
    return np.where(near[i] == nodes, mass[i], 0)


def weights_of(near, mass, nodes, n_own):
    """One by the mass of each node; or, where the first n_own were there before the draw, one for
    these, and for the others what lets them stand for all that could be drawn."""
    p = at_nodes(near, mass, nodes)
    w = np.zeros(len(nodes))
    if n_own is None:
        np.divide(1, p, out=w, where=p > 0)
        return w
    others = mass.sum() - p[:n_own].sum()
    w[:n_own] = 1
    w[n_own:] = others / (max(1, len(nodes) - n_own) * p[n_own:])
    return w


def layer_wise(batch):
    above, blocks = batch, []
    for _ in range(layers):
        rows = rows_of(above)
        near, mass = masses(rows)
        own, n_own = own_nodes(above, batch), 0 if case["union"] == "pre" else None
        left = mass
        if case["union"] == "pre" and len(own) > 0:
            left, n_own = mass.copy(), len(own)
            left[own if near is None else np.flatnonzero(np.isin(near, own))] = 0
        drawn = distinct(ends_everywhere if left is everywhere else np.cumsum(left), size)
        drawn = drawn if near is None else near[drawn]
        if case["union"] == "pre":
            nodes = np.concatenate((own, drawn))
        else:
            nodes = np.unique(np.concatenate((own, drawn)))
        blocks.append(layer_block(rows, above, nodes, weights_of(near, mass, nodes, n_own)))
        above = nodes
    return blocks[::-1], above


def same_block(above, nodes, batch):
    """The block that the nodes of ladies give."""
    if method == "clustergcn":
        order = np.argsort(nodes)
        back = np.argsort(order)
        return scipy_of(symmetric_of(nodes[order]))[back][:, back]
    rows = rows_of(above)
    near, mass = masses(rows)
    n_own = None if case["union"] == "post" else len(own_nodes(above, batch))
    return scipy_of(layer_block(rows, above, nodes, weights_of(near, mass, nodes, n_own)))


def averaged(kept, cols):
    """The mean over the entries that each row keeps, and their nodes."""
    nodes = different(cols)
    block = Csr(
        ends_of(kept),
        place[cols],
        np.repeat((1 / np.maximum(kept, 1)).astype(np.float32), kept),
        len(nodes),
    )
    place[nodes] = -1
    return block, nodes


def neighbours(batch):
    above, blocks = batch, []
    for _ in range(layers):
        counts = offsets[above + 1] - offsets[above]
        kept, drawn = uniform(counts, size)
        block, above = averaged(kept, columns[np.repeat(offsets[above], kept) + drawn])
        blocks.append(block)
    return blocks[::-1], above


def labor(batch):
    above, blocks = batch, []
    for _ in range(layers):
        counts, cols, _ = rows_of(above)
        r = random.random(n, dtype=np.float32)
        limit = np.repeat((size / np.maximum(counts, 1)).astype(np.float32), counts)
        keep = r[cols] <= limit
        row = np.repeat(np.arange(len(above)), counts)[keep]
        block, above = averaged(np.bincount(row, minlength=len(above)), cols[keep])
        blocks.append(block)
    return blocks[::-1], above


def induced(nodes):
    """The entries between nodes, which are in order: rows, columns and places of entries."""
    counts, e = entries_of(nodes)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    cols = place[columns[e]]
    place[nodes] = -1
    keep = np.flatnonzero(cols >= 0)
    return np.repeat(np.arange(len(nodes)), counts)[keep], cols[keep], e[keep]


def symmetric_of(nodes):
    """D^-1/2 (A + I) D^-1/2 of the subgraph of nodes."""
    row, col, _ = induced(nodes)
    i = np.arange(len(nodes))
    row, col = np.concatenate((row, i)), np.concatenate((col, i))
    counts = np.bincount(row, minlength=len(nodes))
    scale = 1 / np.sqrt(counts)
    order = np.argsort(row, kind="stable")
    row, col = row[order], col[order].astype(np.int32)
    return Csr(ends_of(counts), col, (scale[row] * scale[col]).astype(np.float32), len(nodes), True)


def clusters():
    members = np.argsort(data["parts"], kind="stable")
    ends = ends_of(np.bincount(data["parts"], minlength=case["parts"]))
    while True:
        order = random.permutation(case["parts"])
        for i in range(0, len(order), case["clusters"]):
            parts = order[i : i + case["clusters"]]
            nodes = np.sort(np.concatenate([members[ends[p] : ends[p + 1]] for p in parts]))
            wanted = np.flatnonzero(trains[nodes])
            if len(wanted) > 0:
                yield [symmetric_of(nodes)] * layers, nodes, wanted, None


def walked():
    nodes = train[random.integers(0, len(train), size)]
    trail, a_offsets, a_columns = [nodes], data["A_indptr"], data["A_indices"]
    for _ in range(case["length"]):
        first = a_offsets[nodes]
        degree = a_offsets[nodes + 1] - first
        step = first + (random.random(len(nodes)) * degree).astype(np.int64)
        nodes = np.where(degree > 0, a_columns[np.minimum(step, len(a_columns) - 1)], nodes)
        trail.append(nodes)
    return np.unique(np.concatenate(trail))


def subgraphs():
    node_counts, entry_counts = np.zeros(n), np.zeros(len(columns))
    rounds, total = 0, 0
    while total < n * case["coverage"]:
        nodes = walked()
        node_counts[nodes] += 1
        entry_counts[induced(nodes)[2]] += 1
        rounds, total = rounds + 1, total + len(nodes)
    node_counts, entry_counts = np.maximum(node_counts, 1), np.maximum(entry_counts, 1)
    shares = np.repeat(node_counts, np.diff(offsets)) / entry_counts
    weighted = (values * shares).astype(np.float32)
    losses = (rounds / (node_counts * len(train))).astype(np.float32)
    while True:
        nodes = walked()
        row, col, e = induced(nodes)
        ends = ends_of(np.bincount(row, minlength=len(nodes)))
        wanted = np.flatnonzero(trains[nodes])
        block = Csr(ends, col, weighted[e], len(nodes))
        yield [block] * layers, nodes, wanted, torch.from_numpy(losses[nodes[wanted]])


def whole_graph():
    """The rows that the loss needs of each layer, or all of them in every layer."""
    P = matrix(data, "P")
    if case["all_rows"] or case["work"] == "inference":
        blocks, nodes = [csr_of(P, case["normalize"] == "sym")] * layers, np.arange(n)
        wanted = train
    else:
        nodes, blocks, wanted = train, [], np.arange(len(train))
        for _ in range(layers):
            rows = P[nodes]
            nodes = np.unique(rows.indices)
            blocks.insert(0, csr_of(rows[:, nodes]))
    while True:
        yield blocks, nodes, wanted, None


def seeded(sampler):
    for batch in shuffled_batches():
        blocks, nodes = sampler(batch)
        yield blocks, nodes, None, batch


SEEDED = {"ladies": layer_wise, "fastgcn": layer_wise, "graphsage": neighbours, "labor": labor}
OWN = {"clustergcn": clusters, "graphsaint": subgraphs, "full": whole_graph}


# ---------------------------------------------------------------- the work

name = f"expert: NumPy {np.__version__}, PyTorch {torch.__version__}"

if case["work"] == "product":
    P = csr_of(matrix(data, "P"))
    H = torch.randn(P.shape[1], case["columns"])

    def run():
        began = clock()
        P.times(H)
        return clock() - began, 0, 0

    def check():
        found = arrays("check")
        product = P.times(torch.from_numpy(found["h"])).numpy()
        return {"product": float(abs(product - found["product"]).max() / abs(found["product"]).max())}

    serve(name, run, check)
    sys.exit()

trains = np.zeros(n, bool)
trains[train] = True
batches = seeded(SEEDED[method]) if method in SEEDED else OWN[method]()

if case["work"] == "sampling":

    def run():
        began = clock()
        next(batches)
        return (clock() - began,) * 2 + (0,)

    serve(name, run, lambda: {"blocks": compare_blocks(same_block)})
    sys.exit()


class OneArray(Training):
    """Parameters and gradients as views of one array each, so that Adam and the norm take one."""

    def __init__(self, model):
        parameters = list(model.parameters())
        whole = nn.Parameter(torch.cat([p.detach().reshape(-1) for p in parameters]))
        whole.grad = torch.zeros_like(whole)
        first = 0
        for p in parameters:
            part = slice(first, first + p.numel())
            p.data, p.grad = whole.data[part].view_as(p), whole.grad[part].view_as(p)
            first += p.numel()
        self.whole = whole
        super().__init__(model, [whole])

    def clear(self):
        self.whole.grad.zero_()


X = torch.from_numpy(data["x"]) if "x" in data else matrix(data, "x")


def gather(nodes):
    if isinstance(X, torch.Tensor):
        return X[torch.from_numpy(nodes)]
    return block_of(csr_of(X if len(nodes) == n else X[nodes]))


model = network()
training = OneArray(model)
constant = None  # the features of full batches


def run():
    global constant
    began = clock()
    blocks, nodes, wanted, last = next(batches)
    sampled = clock()
    x = gather(nodes) if constant is None else constant
    gathered = clock()
    if method == "full":
        constant = x
    blocks = [block_of(a) for a in blocks]
    if case["work"] == "inference":
        with torch.no_grad():
            model(x, blocks)
    elif wanted is None:
        training.step(lambda: model(x, blocks), labels[torch.from_numpy(last)])
    else:
        targets = labels[torch.from_numpy(nodes[wanted])]
        training.step(lambda: model(x, blocks)[wanted], targets, last)
    return clock() - began, sampled - began, gathered - sampled


def check():
    def forward(found):
        if case["work"] == "inference":
            blocks, nodes, wanted = [block_of(a) for a in next(batches)[0]], np.arange(n), "output"
        else:
            blocks = [block_of(csr_of(a)) for a in check_blocks(found)]
            nodes, wanted = found["input"].astype(np.int64), "places"
        return model(gather(nodes), blocks)[torch.from_numpy(found[wanted].astype(np.int64))]

    result = compare(model, forward, training.clear)
    if method in ("ladies", "fastgcn", "clustergcn"):
        result["blocks"] = compare_blocks(same_block)
    return result


if case["work"] == "inference":
    model.eval()
if sys.argv[2:] == ["once"]:
    run()
else:
    serve(name, run, check)

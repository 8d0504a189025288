"""GAT's full batch as an expert would have it in NumPy and PyTorch, without a line of C: attention as one
function of autograd, on the entries of CSR arrays. Sums over entries and the products of heads are those
of embedding_bag (the fastest of PyTorch on a processor), features stay sparse."""

from edges_common import *

T = sp.csr_matrix((np.arange(A.nnz), A.indices, A.indptr), A.shape).T.tocsr()
rows = torch.from_numpy(np.repeat(np.arange(A.shape[0], dtype=np.int32), np.diff(A.indptr)))
columns, offsets = torch.from_numpy(A.indices), torch.from_numpy(A.indptr)
every = torch.arange(A.nnz, dtype=torch.int32)
# Of the transpose: its columns, its offsets, and where its entries are among A's.
t_columns, t_offsets, source = (torch.from_numpy(a) for a in (T.indices, T.indptr, T.data))
source = source.int()
features = X if "x" in data else csr_block(matrix(data, "x"))


def sums(x, entries, offsets, weights=None):
    """For each row the sum of the rows of x that its entries name, weighted."""
    return F.embedding_bag(
        entries, x, offsets, mode="sum", per_sample_weights=weights, include_last_offset=True
    )


def each(x):
    """The row of x of each entry, for which indexing by brackets takes four times as long."""
    return x.index_select(0, rows)


def products(columns, offsets, alpha, z):
    """For each head the product of its matrix with its own columns of z."""
    parts = z.view(len(z), alpha.shape[1], -1).unbind(1)
    weights = alpha.t().contiguous()
    return torch.cat(
        [sums(p.contiguous(), columns, offsets, w) for p, w in zip(parts, weights)], 1
    )


class Attention(torch.autograd.Function):
    """The sums of z, weighted by attention, whose scores are made of the rows of `to` and `near`."""

    @staticmethod
    def forward(ctx, z, to, near):
        scores = each(to) + near.index_select(0, columns)
        positive = scores > 0
        scores = F.leaky_relu(scores, 0.2)
        alpha = (scores - each(torch.segment_reduce(scores, "max", offsets=offsets))).exp_()
        alpha /= each(sums(alpha, every, offsets))
        ctx.save_for_backward(z, alpha, positive)
        return products(columns, offsets, alpha, z)

    @staticmethod
    def backward(ctx, g):
        z, alpha, positive = ctx.saved_tensors
        g, shape = g.contiguous(), (len(alpha), alpha.shape[1], -1)
        near = z.index_select(0, columns).view(shape)
        d = torch.mul(each(g).view(shape), near).sum(-1).mul_(alpha)
        d -= alpha * each(sums(d, every, offsets))
        d *= torch.where(positive, 1.0, 0.2)
        dz = products(t_columns, t_offsets, alpha.index_select(0, source), g)
        return dz, sums(d, every, offsets), sums(d, source, t_offsets)


class Gat(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.heads = case["heads"] if i + 1 < case["layers"] else 1
        self.map, self.own, self.near, self.bias = (
            nn.Parameter(weight(i, name)) for name in ("map.weight", "to", "from", "bias")
        )

    def forward(self, h):
        z = h.mm(self.map)
        of_heads = z.view(len(z), self.heads, -1)
        to, near = ((of_heads * a.view(self.heads, -1)).sum(-1) for a in (self.own, self.near))
        return Attention.apply(z, to, near) + self.bias


model = Stack(Gat, lambda conv, h, block: conv(h))
blocks, nodes = [None] * case["layers"], torch.from_numpy(train)
training = Training(model)


def run():
    began = clock()
    training.step(lambda: model(features, blocks)[nodes], labels[nodes])
    return clock() - began, 0, 0


serve(
    f"expert: NumPy {np.__version__}, PyTorch {torch.__version__}",
    run,
    lambda: compare(model, lambda found: model(features, blocks)[found["places"].astype(np.int64)]),
)

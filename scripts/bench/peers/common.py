"""What the peers of `ladies bench peers` share: the case that ladies has written, the check of one
mini-batch, and turns.

A case is a folder: case.json (settings), data.npz (the graph without self-loops, P, features,
labels, training nodes, perhaps parts), weights.npz (a model's parameters), check.npz (a mini-batch
of ladies with its logits, its loss and the norm of every gradient). A peer is started with the
folder, prints "ready" and the versions in use, and then answers lines: "check" with relative
differences from ladies, in JSON; "run N" with N lines of milliseconds, "whole sampling gathering",
and "ok".
"""

import json
import os
import select
import sys
import time
import warnings

warnings.filterwarnings("ignore")
folder = sys.argv[1]
with open(os.path.join(folder, "case.json")) as file:
    case = json.load(file)
os.environ["OMP_NUM_THREADS"] = str(case["threads"])
os.environ.setdefault("DGLBACKEND", "pytorch")
if os.environ.get("LADIES_ISA") == "avx2":  # which holds ladies back, and so the libraries here
    os.environ.update(
        ATEN_CPU_CAPABILITY="avx2",
        MKL_ENABLE_INSTRUCTIONS="AVX2",
        ONEDNN_MAX_CPU_ISA="AVX2",
        OPENBLAS_CORETYPE="Haswell",
    )

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(case["threads"])
torch.set_flush_denormal(True)  # as ladies in its passes backward
torch.manual_seed(1)


def arrays(name):
    with np.load(os.path.join(folder, name + ".npz")) as found:
        return {key: found[key] for key in found.files}


def matrix(found, name):
    """The sparse matrix that ladies has written as NAME_indptr, NAME_indices, NAME_data."""
    indptr, indices = found[name + "_indptr"], found[name + "_indices"]
    values = found.get(name + "_data", np.ones(len(indices), np.float32))
    n_cols = int(found[name + "_cols"][0])
    return sp.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, n_cols))


data = arrays("data")
labels = torch.from_numpy(data["labels"].astype(np.int64)) if "labels" in data else None
train = data["train"].astype(np.int64) if "train" in data else None


def dense_features():
    """All features as a dense tensor, as the programs have them."""
    if "x" in data:
        return torch.from_numpy(data["x"])
    return torch.from_numpy(matrix(data, "x").toarray())


def parameters():
    """The weights and biases of the layers in order, and those of a linear head, or None."""
    found = arrays("weights")
    layers = [
        (found[f"layers.{i}.conv.weight"], found[f"layers.{i}.conv.bias"])
        for i in range(1, case["layers"] + 1)
    ]
    head = (
        (found["head.linear.weight"], found["head.linear.bias"])
        if "head.linear.weight" in found
        else None
    )
    return layers, head


class Block:
    """P or a part of it: shape, number of entries, and mm, its product with a dense tensor."""

    def __init__(self, shape, nnz, mm):
        self.shape, self.nnz, self.mm = shape, nnz, mm


def coo_block(a):
    """A block with a PyTorch COO tensor, whose product PyTorch differentiates."""
    a = a.tocoo()
    indices = torch.from_numpy(np.vstack((a.row, a.col)).astype(np.int64))
    t = torch.sparse_coo_tensor(indices, torch.from_numpy(a.data), a.shape, check_invariants=False)
    return Block(a.shape, a.nnz, lambda h: torch.sparse.mm(t, h))


class CsrProduct(torch.autograd.Function):
    """A CSR tensor, whose transpose is given, times a dense tensor."""

    @staticmethod
    def forward(ctx, h, a, transposed):
        ctx.transposed = transposed
        return a @ h

    @staticmethod
    def backward(ctx, gradient):
        return ctx.transposed @ gradient.contiguous(), None, None


def csr_tensor(a):
    return torch.sparse_csr_tensor(
        torch.from_numpy(a.indptr), torch.from_numpy(a.indices), torch.from_numpy(a.data), a.shape
    )


def csr_block(a, symmetric=False):
    """A block with PyTorch CSR tensors, of the matrix and of its transpose."""
    t = csr_tensor(a)
    back = t if symmetric else csr_tensor(sp.csr_matrix(a.T))
    return Block(a.shape, a.nnz, lambda h: CsrProduct.apply(h, t, back))


ACTIVATION = {"relu": F.relu, "elu": F.elu}[case.get("activation", "relu")]


class Network(nn.Module):
    """nn.gcn of ladies with the settings of the case: the same order of each product."""

    def __init__(self):
        super().__init__()
        layers, head = parameters()
        tensors = [torch.from_numpy(a.copy()) for pair in layers for a in pair]
        self.layers = nn.ParameterList(nn.Parameter(t) for t in tensors)
        self.head = nn.ParameterList(nn.Parameter(torch.from_numpy(a.copy())) for a in head or ())
        self.activation = ACTIVATION

    def layer(self, i, h, block):
        weight, bias = self.layers[2 * i], self.layers[2 * i + 1]
        inputs, outputs = weight.shape
        order = case["order"]
        if isinstance(h, Block):
            order = "transform_first"
        elif order == "auto":
            transform = block.shape[1] * inputs * outputs + block.nnz * outputs
            propagate = block.nnz * inputs + block.shape[0] * inputs * outputs
            order = "transform_first" if transform <= propagate else "propagate_first"
        if order == "transform_first":
            return block.mm(h.mm(weight)) + bias
        return torch.addmm(bias, block.mm(h), weight)

    def forward(self, h, blocks):
        last = len(blocks) - 1
        for i, block in enumerate(blocks):
            h = self.layer(i, h, block)
            if i < last or len(self.head):
                h = F.dropout(self.activation(h), case["dropout"], self.training)
        if len(self.head):
            h = F.dropout(h, case["head_dropout"], self.training)
            h = torch.addmm(self.head[1], h, self.head[0])
        return h


class Gcnii(nn.Module):
    """nn.gcnii of ladies with the settings of the case and one alpha for all layers."""

    def __init__(self):
        super().__init__()
        found = {name: nn.Parameter(torch.from_numpy(a)) for name, a in arrays("weights").items()}
        self.ends = nn.ParameterList(
            found[f"{end}.{part}"] for end in ("first.linear", "head") for part in ("weight", "bias")
        )
        self.maps = nn.ParameterList(
            found[f"layers.{i}.weight"] for i in range(1, case["layers"] + 1)
        )

    def layer(self, i, h, first, block):
        alpha, beta = case["alpha"], np.log(case["theta"] / (i + 1) + 1)
        s = torch.add(alpha * first, block.mm(h), alpha=1 - alpha)
        return torch.addmm(s, s, self.maps[i], beta=1 - beta, alpha=beta)

    def forward(self, h, blocks):
        first = h = ACTIVATION(h.mm(self.ends[0]) + self.ends[1])
        for i, block in enumerate(blocks):
            h = ACTIVATION(self.layer(i, h, first, block))
        return torch.addmm(self.ends[3], h, self.ends[2])


def network():
    """The network of the case, whose products are those of its blocks."""
    return Gcnii() if case["model"] == "gcnii" else Network()


class Training:
    """Adam on a model, or on parameters that are given: step(logits function, labels of its rows[,
    weights of their losses])."""

    def __init__(self, model, parameters=None):
        self.parameters = parameters or list(model.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, case["lr"])

    def clear(self):
        self.optimizer.zero_grad()

    def step(self, forward, wanted, weights=None):
        self.clear()
        if weights is None:
            loss = F.cross_entropy(forward(), wanted)
        else:
            loss = (F.cross_entropy(forward(), wanted, reduction="none") * weights).sum()
        loss.backward()
        if case["clip"] > 0:
            nn.utils.clip_grad_norm_(self.parameters, case["clip"])
        self.optimizer.step()
        loss.item()


def compare(model, forward, clear=None):
    """The relative differences from ladies of forward(found), the logits of check.npz, of their
    loss, and of the gradients' norms. clear: what sets gradients to zero, by default the model's."""
    clear = clear or model.zero_grad
    found = arrays("check")
    model.eval()
    logits = forward(found)
    nodes = torch.from_numpy(found["output"].astype(np.int64))
    loss = F.cross_entropy(logits, labels[nodes])
    clear()
    loss.backward()
    norms = np.sort([float(p.grad.norm()) for p in model.parameters()])
    model.train()
    clear()
    expected = found["logits"]
    return {
        "logits": float(np.abs(logits.detach().numpy() - expected).max() / np.abs(expected).max()),
        "loss": abs(loss.item() - float(found["loss"][0])) / abs(float(found["loss"][0])),
        "gradients": float(
            np.abs(norms - np.sort(found["gradients"])).max() / found["gradients"].max()
        ),
    }


def check_blocks(found):
    """The matrices of the mini-batch in check.npz."""
    return [matrix(found, f"block{i}") for i in range(1, case["layers"] + 1)]


def compare_blocks(block_of):
    """The largest relative difference of block_of(rows' nodes, columns' nodes, seeds), a matrix,
    from the blocks in check.npz of the same nodes."""
    found, worst = arrays("check"), 0
    seeds = found[f"dst{case['layers']}"].astype(np.int64)
    for i, expected in enumerate(check_blocks(found), 1):
        nodes = [found[f"{side}{i}"].astype(np.int64) for side in ("dst", "src")]
        difference = abs(block_of(*nodes, seeds) - expected).max() / abs(expected).max()
        worst = max(worst, float(difference))
    return worst


def shuffled_batches():
    """Batches of training nodes, epoch after epoch."""
    while True:
        order = train[torch.randperm(len(train)).numpy()]
        for first in range(0, len(order), case["batch"]):
            yield order[first : first + case["batch"]]


def serve(name, run, check=None):
    """Answers the lines of ladies. run() returns the seconds of all, of sampling, of gathering."""
    print("ready", name, flush=True)
    while True:
        while not select.select([sys.stdin], [], [], 5)[0]:
            if os.getppid() == 1:
                return
        words = sys.stdin.readline().split()
        if not words or words[0] == "quit":
            return
        if words[0] == "check":
            print(json.dumps(check() if check else {}), flush=True)
            continue
        for _ in range(int(words[1])):
            print(*(f"{1e3 * seconds:.5f}" for seconds in run()))
        print("ok", flush=True)


clock = time.perf_counter

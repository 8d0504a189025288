"""Whole graphs with PyTorch's CSR tensors: a full-batch step, exact inference, one product with P.
Or that product with SciPy, for the word `scipy` behind the folder."""

import scipy

from common import *

P = matrix(data, "P")
symmetric = case["normalize"] == "sym"
name = f"PyTorch {torch.__version__}, CSR"

if case["work"] == "product":
    h = np.random.default_rng(1).standard_normal((P.shape[1], case["columns"]), dtype=np.float32)
    if sys.argv[2:] == ["scipy"]:
        name = f"SciPy {scipy.__version__}"
        product = lambda: P @ h
    else:
        t, h = csr_tensor(P), torch.from_numpy(h)
        product = lambda: t @ h

    def run():
        began = clock()
        product()
        return clock() - began, 0, 0

    def check():
        found = arrays("check")
        ours = csr_tensor(P) @ torch.from_numpy(found["h"])
        difference = np.abs(ours.numpy() - found["product"]).max() / np.abs(found["product"]).max()
        return {"product": float(difference)}

    serve(name, run, check)
    sys.exit()

model = network()
block = csr_block(P, symmetric)
if "x" in data:
    X = torch.from_numpy(data["x"])
else:
    X = csr_block(matrix(data, "x"))
blocks = [block] * case["layers"]
nodes = torch.from_numpy(train)
training = Training(model)


def run():
    began = clock()
    if case["work"] == "inference":
        with torch.no_grad():
            model(X, blocks)
    else:
        training.step(lambda: model(X, blocks)[nodes], labels[nodes])
    return clock() - began, 0, 0


def check():
    return compare(
        model, lambda found: model(X, blocks)[torch.from_numpy(found["output"].astype(np.int64))]
    )


if case["work"] == "inference":
    model.eval()
serve(name, run, check)

--- Smooths predictions over the graph with the known labels, as a last step after any model, or
-- without one. It propagates a matrix F, nodes x classes, and mixes each node's initial row F0 in
-- again:
--     F  <-  alpha S F + (1 - alpha) F0                 S = D^-1/2 A D^-1/2, without self-loops
--
-- Label propagation (Zhou, Bousquet, Lal, Weston and Schoelkopf, NeurIPS 2003): F0 has a row of 0
-- and 1 for the nodes whose label is known, and zeros for all others.
--
-- Correct and Smooth (Huang, He, Singh, Lim and Benson, "Combining Label Propagation and Simple
-- Models Out-performs Graph Neural Networks", ICLR 2021, eqs. 4 to 9). Z are the probabilities of a
-- model, L the nodes with known labels Y:
--     correct   E0 = Y - Z in the rows L, else 0; E by propagation; Z <- Z + s E, with the scale
--               s_v = (mean over L of ||E0_u||_1) / ||E_v||_1        ("autoscale")
--     smooth    F0 = Y in the rows L, Z in the others; F by propagation
-- As in the authors' program a scale above 1000, which nodes have that errors hardly reach, counts
-- as 1.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local label_kinds = require "ladies.data.labels"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"

local smoothing = {}

local free_after = module.free_after
local LARGEST_SCALE = 1000

-- Returns F after some steps of propagation from F0, `first`.
local function propagated(S, first, alpha, steps)
  local share, f = first * (1 - alpha), first
  for i = 1, steps do
    local near = S:matmul(f)
    near = free_after(near, near * alpha)
    local after = free_after(near, near + share)
    if i > 1 then f:release() end
    f = after
  end
  return free_after(share, f)
end

-- Returns a copy of the matrix x in which some nodes have other rows.
local function with_rows(x, nodes, rows)
  return x:clone():copy_rows_(nodes, rows)
end

-- Checks the data set and the options for both functions below, and returns S, the nodes with known
-- labels, the labels' kind, and the labels as rows of 0 and 1.
local function known(where, data, opts)
  options.value(where, "the data set", data, "Dataset")
  core.check_constant(where, data.graph.adjacency)
  label_kinds.check_there(where, data)
  local nodes, kind = opts.nodes or data.train, label_kinds.kind_of(data.labels)
  if not nodes or #nodes == 0 then
    errors.fail(where .. ": there are no nodes whose labels are known")
  end
  local missing = kind.first_unlabelled(data.labels, nodes)
  if missing then errors.fail(("%s: nodes[%d] has no label"):format(where, missing)) end
  return data.graph:normalize("sym", {self_loops = false}), nodes, kind,
    kind.targets(data.labels[nodes], data.classes)
end

--- smoothing.label_propagation(data [, {nodes =, alpha = 0.9, steps = 50}]) -> Tensor: logits of
-- all nodes, nodes x classes, from the graph and the labels of `nodes` (the training nodes) alone.
-- Predictions of a model have to beat them; see the file's header for alpha. Nothing is recorded.
function smoothing.label_propagation(data, given)
  local where = "ladies.smoothing.label_propagation"
  local opts = options.check(where, given, {
    nodes = "Index or nil", alpha = {"number in [0, 1)", 0.9},
    steps = {"integer in [1, 10000]", 50},
  })
  local S, nodes, kind, y = known(where, data, opts)
  return core.no_grad(function()
    local first = with_rows(core.zeros(data.graph.n_nodes, data.classes), nodes, y)
    return kind.logits(propagated(S, first, opts.alpha, opts.steps))
  end)
end

-- Returns the probabilities z, corrected by the propagated errors at `nodes`.
local function corrected(S, z, nodes, y, opts)
  local known_errors = y - z[nodes]
  local first = with_rows(z * 0, nodes, known_errors)
  local e = propagated(S, first, opts.correct, opts.steps)
  local sizes = e:abs():row_sums()
  local mean = known_errors:abs():row_sums():mean():item()
  local unreached = sizes:below(mean / LARGEST_SCALE)
  local scale = core.where(unreached, 1, mean / core.where(unreached, 1, sizes))
  return z + e * scale:reshape(#scale, 1)
end

--- smoothing.correct_and_smooth(data, logits [, {nodes =, correct = 0.8, smooth = 0.9,
-- steps = 50}]) -> Tensor: the logits of all nodes, nodes x classes, after both steps of Correct
-- and Smooth with the labels of `nodes` (the training nodes); those of the validation nodes may be
-- given besides where they are not to be scored. correct and smooth are the alpha of each step; 0
-- leaves it out. Nothing is recorded.
function smoothing.correct_and_smooth(data, logits, given)
  local where = "ladies.smoothing.correct_and_smooth"
  local opts = options.check(where, given, {
    nodes = "Index or nil", correct = {"number in [0, 1)", 0.8}, smooth = {"number in [0, 1)", 0.9},
    steps = {"integer in [1, 10000]", 50},
  })
  options.value(where, "the logits", logits, "Tensor")
  core.check_constant(where, logits)
  local S, nodes, kind, y = known(where, data, opts)
  if logits.n_rows ~= data.graph.n_nodes or logits.n_cols ~= data.classes then
    errors.fail(("%s: logits of %d x %d for %d nodes of %d classes"):format(where, logits.n_rows,
      logits.n_cols, data.graph.n_nodes, data.classes))
  end
  return core.no_grad(function()
    local z = kind.probabilities(logits)
    if opts.correct > 0 then z = corrected(S, z, nodes, y, opts) end
    if opts.smooth > 0 then
      z = propagated(S, with_rows(z, nodes, y), opts.smooth, opts.steps)
    end
    return kind.logits(z)
  end)
end

return smoothing

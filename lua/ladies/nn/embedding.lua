--- The model of free rows: each node has a row of its own that is learned, from neither features
-- nor edges. With a decoder of ladies.nn.link_decoder it is DistMult or ComplEx as these were
-- published, without an encoder, or with "dot" a factorisation of the adjacency matrix. It knows
-- nothing of nodes for which no loss was computed.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local module = require "ladies.nn.module"
local network = require "ladies.nn.network"
local options = require "ladies.base.options"

local Embedding = module.class("Embedding", "rows:Tensor layers:table[]")

--- nn.embedding{nodes =, outputs =, seed = 1} -> Model: a row of `outputs` columns for each of so
-- many nodes; first of normal numbers, with rows of about length one. model.n_layers is 0, which
-- says that it reads no graph: it is trained without a sampler.
function Embedding.new(given)
  local opts = options.check("ladies.nn.embedding", given, {
    nodes = "positive integer", outputs = "positive integer", seed = {"integer", 1},
  })
  local rows = core.zeros(opts.nodes, opts.outputs):normal_(1 / math.sqrt(opts.outputs),
    core.rng(opts.seed):fork(-1))
  return setmetatable({config = opts, layers = {}, n_layers = 0, rows = rows:requires_grad_()},
    Embedding)
end

--- model:forward(features, batch) -> Tensor: the rows of batch.output. Of the features of all nodes
-- only how many they are is looked at.
function Embedding:forward(features, batch)
  network.check_batch(batch, "output")
  if not batch.features and features.n_rows ~= self.rows.n_rows then
    errors.fail(("nn.embedding: the model has rows of %d nodes, and the features are of %d"):format(
      self.rows.n_rows, features.n_rows))
  end
  return self.rows[batch.output]
end

function Embedding:__tostring()
  return ("Embedding of %d nodes, %d columns"):format(self.rows.n_rows, self.rows.n_cols)
end

return Embedding

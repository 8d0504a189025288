--- Computes the outputs of a model for nodes at given times, from the edges before these times
-- alone, for models that are trained on mini-batches of ladies.samplers.temporal. Computing layer
-- after layer over the whole graph would look ahead. So some nodes at a time are computed from a
-- mini-batch in which nothing is random: it has all earlier edges of each row or, with strategy =
-- "recent", the k last ones, as in training.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local mapped_files = require "ladies.base.mapped_files"
local options = require "ladies.base.options"

-- The number of rows of input that a mini-batch should have, and the number of nodes of the first
-- one.
local ROWS, FIRST = 1 << 17, 64

local SPEC = {sampler = "callable"}

-- Returns the number of nodes for the next mini-batch, which at the present ratio of rows to nodes
-- has ROWS rows of input; the mini-batch before had n nodes and so many rows.
local function next_size(n, rows)
  return math.max(16, math.min(4 * n, math.floor(n * ROWS / math.max(1, rows))))
end

--- inference.in_time(model, data, nodes: Index, times: Index, {sampler = Sampler}) -> Tensor: what
-- the model gives for node nodes[i] at times[i], each such pair once, a row for each. The sampler
-- is a ladies.samplers.temporal of data.edges; its `samples` count with strategy = "recent" alone,
-- and all earlier edges with "uniform". Nothing later than times[i], nor of the same time, has a
-- part in row i. Nothing is recorded, no element is dropped, and products are of float32.
return function(model, data, nodes, times, given)
  local where = "ladies.inference.in_time"
  options.value(where, "the model", model, "table")
  options.value(where, "the model's forward", model.forward, "callable")
  options.value(where, "the data set", data, "table")
  options.value(where, "the nodes", nodes, "Index")
  options.value(where, "the times", times, "Index")
  local opts = options.check(where, given, SPEC)
  local exact = type(opts.sampler) == "table" and rawget(opts.sampler, "exact")
  if not exact then errors.fail(where .. ": the sampler must be a ladies.samplers.temporal") end
  if #nodes == 0 then errors.fail(where .. ": there are no nodes") end
  core.check_constant(where, data.features)
  local rng, n, first, size, out = core.rng(1), #nodes, 1, FIRST, nil
  core.in_float32(core.no_grad, function()
    while first <= n do
      local last = math.min(first + size - 1, n)
      local batch = exact(nodes:slice(first, last), rng, {times = times:slice(first, last)})
      if data.edges then data.edges:attach_all(batch) end
      local h = model:forward(data.features, batch, false)
      options.value(where, "what the model's forward returns", h, "Tensor")
      out = out or core.zeros(n, h.n_cols)
      out:slice(first, last):copy_(h)
      first, size = last + 1, next_size(last - first + 1, #batch.input)
    end
  end)
  mapped_files.check()
  return out
end

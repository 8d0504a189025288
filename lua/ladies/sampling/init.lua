--- What samplers are made of: random choice with design weights and the algebra of index vectors
-- (in C: choice, alias, uniform, permutation, unique, union, find; here put_first,
-- poisson_probabilities and poisson), the check of
-- what a sampler returns, and errors that name their layer.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local sampling = core.sampling

--- sampling.at_layer(l: integer, f, ...) -> ...: the results of f(...), whose errors then begin
-- with the layer.
function sampling.at_layer(layer, f, ...)
  layer = options.value("sampling.at_layer", "the layer", layer, "integer")
  options.value("sampling.at_layer", "f", f, "callable")
  return errors.within("layer %d", layer, f, ...)
end

--- sampling.put_first(src, dst) -> Index: positions that bring those nodes of src that are in dst
-- to the front, in dst's order, and leave the others in theirs: adj:pick_cols(pick), src[pick].
function sampling.put_first(src, dst)
  return sampling.union(sampling.find(src, dst), core.range(1, #src))
end

-- The mu for which the min(1, p[i] / mu) sum to k; where no more than k are positive, the least of
-- these.
local function threshold(p, k)
  local positive = p:above(0)
  if positive:sum():item() <= k then return (p + (1 - positive) * p:max()):min() end
  local certain = core.zeros(#p)
  local before, mu
  repeat
    before = certain
    mu = (p * (1 - before)):sum():item() / (k - before:sum():item())
    certain = (before + p:above(mu)):above(0)             -- never fewer: mu only falls
  until certain == before
  return mu
end

--- sampling.poisson_probabilities(p: Tensor, k: number) -> Tensor: those with which choice(p, k,
-- {draw = "poisson"}) draws each position of a vector p: min(1, p[i] / mu), which sum to k; where
-- no more than k are positive, 1 for these.
function sampling.poisson_probabilities(p, k)
  local where = "sampling.poisson_probabilities"
  options.value(where, "p", p, "Tensor")
  options.value(where, "k", k, "positive integer")
  core.check_constant(where, p)
  if p.ndim ~= 1 or #p == 0 or not (p:min() >= 0 and p:max() > 0) or not p:is_finite() then
    errors.fail(("%s: p must be a vector of finite numbers of 0 or more, some of them positive, "
      .. "got %s"):format(where, p))
  end
  return (p / threshold(p, k)):clamp(0, 1)
end

--- sampling.disjoint_union(blocks: Block[]) -> block: the blocks {adj =, dst =, src =} of a list
-- side by side, without an edge between them: a block-diagonal adj, and their nodes one after the
-- other. A node that is in several is in the union as often. See ladies.block_diagonal.
function sampling.disjoint_union(blocks)
  local where, parts = "sampling.disjoint_union", {adj = {}, dst = {}, src = {}}
  for i, block in ipairs(options.value(where, "the blocks", blocks, "array of tables")) do
    for key, class in pairs{adj = "Matrix", dst = "Index", src = "Index"} do
      parts[key][i] = options.value(where, ("%s of block %d"):format(key, i), block[key], class)
    end
  end
  return {adj = core.block_diagonal(parts.adj), dst = sampling.concat(parts.dst),
    src = sampling.concat(parts.src)}
end

--- sampling.poisson(p: Tensor, k: number, {rng =}) -> pick, w: as choice(p, k, {draw = "poisson"}),
-- but never without any position: a draw of none is made again, and the weights, times the
-- probability that there is one, are those of that, unbiased as well. k is 1 or more.
function sampling.poisson(p, k, given)
  local opts = options.check("sampling.poisson", given, {rng = "Rng"})
  local how = {draw = "poisson", rng = opts.rng}
  local pick, w = sampling.choice(p, k, how)
  local none = (1 - sampling.poisson_probabilities(p, k)):log():sum():exp():item()
  while #pick == 0 do pick, w = sampling.choice(p, k, how) end
  return pick, w * (1 - none)
end

-- What is wrong with a mini-batch, as text, or nil. These look at one thing each. `rules` says what
-- to look at: the options of check, and `repeats` where ids may occur twice.

local function wrong_class(name, value, class)
  local found = options.class_of(value) or type(value)
  if found ~= class then return ("%s must be of class %s, got %s"):format(name, class, found) end
end

local function wrong_ids(name, ids, rules)
  local wrong = wrong_class(name, ids, "Index")
  if wrong or #ids == 0 then return wrong end
  local least, most = ids:min(), ids:max()
  if least < 1 then return ("%s has the id %d, expected ids from 1 on"):format(name, least) end
  if rules.nodes and most > rules.nodes then
    return ("%s has the id %d, expected at most %d, the number of nodes"):format(
      name, most, rules.nodes)
  end
  if rules.quick or rules.repeats then return nil end
  local distinct = #sampling.unique(ids)
  if distinct < #ids then
    return ("%s has %d ids, but only %d distinct ones"):format(name, #ids, distinct)
  end
end

-- The first element of t that is not finite, as text, or nil.
local function not_finite(t)
  local finite, value = t:is_finite()
  if not finite then return value ~= value and "nan" or tostring(value) end
end

local function wrong_matrix(name, adj, dst, src, rules)
  local wrong = wrong_class(name, adj, "Matrix")
  if wrong then return wrong end
  if adj.n_rows ~= #dst or adj.n_cols ~= #src then
    return ("%s is %d x %d, expected %d x %d: a row for each node of dst, a column for each of src")
      :format(name, adj.n_rows, adj.n_cols, #dst, #src)
  end
  if rules.quick then return nil end
  local infinite = not_finite(adj:entry_values())
  if infinite then return ("%s has the weight %s, expected finite ones"):format(name, infinite) end
end

local function wrong_control(control, n, rules)
  local wrong = wrong_class("control", control, "Tensor")
  if wrong then return wrong end
  if control.n_rows ~= n then
    return ("control has %d rows, expected %d: one for each node of dst"):format(control.n_rows, n)
  end
  if rules.quick then return nil end
  local infinite = not_finite(control)
  if infinite then return ("control has %s, expected finite numbers"):format(infinite) end
end

local function wrong_block(block, above, rules)
  if type(block) ~= "table" then return "the block must be a table, got " .. type(block) end
  local wrong = wrong_ids("dst", block.dst, rules) or wrong_ids("src", block.src, rules)
    or wrong_matrix("adj", block.adj, block.dst, block.src, rules)
  if not wrong and block.control ~= nil then
    wrong = wrong_control(block.control, #block.dst, rules)
  end
  if not wrong and above and block.dst ~= above.src then
    wrong = ("dst (%d nodes) differs from src of the next layer (%d nodes), expected the same ids")
      :format(#block.dst, #above.src)
  end
  return wrong
end

-- The batch's `name` must be field `of` of layer l.
local function wrong_end(name, ids, of, l, blocks)
  local wrong = wrong_class(name, ids, "Index")
  if wrong or ids == blocks[l][of] then return wrong end
  return ("%s (%d nodes) differs from %s of layer %d (%d nodes), expected the same ids"):format(
    name, #ids, of, l, #blocks[l][of])
end

local function wrong_loss_nodes(nodes, n, rules)
  local wrong = wrong_ids("loss_nodes", nodes, {quick = rules.quick})
  if wrong then return wrong end
  if #nodes > 0 and nodes:max() > n then
    return ("loss_nodes has the position %d, expected at most %d, the number of output nodes")
      :format(nodes:max(), n)
  end
end

local function wrong_loss_weight(weight, nodes, n)
  local wrong = wrong_class("loss_weight", weight, "Tensor")
  if wrong then return wrong end
  if weight.ndim ~= 1 or #weight ~= n then
    return ("loss_weight is %d x %d, expected a vector of %d: a weight for each output node")
      :format(weight.n_rows, weight.n_cols, n)
  end
  local infinite = not_finite(weight)
  if infinite then return ("loss_weight has %s, expected finite numbers"):format(infinite) end
  if nodes and weight[nodes]:scatter_add(nodes, n) ~= weight then
    return "loss_weight is not 0 for every output node that is not in loss_nodes"
  end
end

local function wrong_loss(batch, rules)
  local nodes, weight, n = batch.loss_nodes, rawget(batch, "loss_weight"), #batch.output
  local wrong = nodes ~= nil and wrong_loss_nodes(nodes, n, rules)
  if not wrong and weight ~= nil then wrong = wrong_loss_weight(weight, nodes, n) end
  return wrong or nil
end

-- The nodes of the output, at their positions among the nodes of the last layer, which may repeat.
local function wrong_readout(batch, src)
  local readout = batch.readout
  if readout == nil then return nil end
  local wrong = wrong_class("readout", readout, "Index")
  if wrong then return wrong end
  if #readout > 0 and (readout:min() < 1 or readout:max() > #src) then
    return ("readout has the positions %d to %d, expected 1 to %d"):format(readout:min(),
      readout:max(), #src)
  end
  if src[readout] ~= batch.output then
    return "the nodes of the last layer's src at the positions in readout are not the output"
  end
end

local function wrong_batch(batch, rules)
  if type(batch) ~= "table" then return "a mini-batch must be a table, got " .. type(batch) end
  if type(batch.blocks) ~= "table" or #batch.blocks == 0 then
    return "blocks must be an array with a block for each layer"
  end
  local n = #batch.blocks
  rules.repeats = batch.readout ~= nil
  for l = n, 1, -1 do
    local wrong = wrong_block(batch.blocks[l], batch.blocks[l + 1], rules)
    if wrong then return ("layer %d: %s"):format(l, wrong) end
  end
  return wrong_end("input", batch.input, "src", 1, batch.blocks)
    or wrong_end("output", batch.output, "dst", n, batch.blocks)
    or wrong_readout(batch, batch.blocks[n].src)
    or wrong_loss(batch, rules)
end

--- sampling.check(batch [, where [, {nodes =, quick = false}]]) -> MiniBatch: the mini-batch itself
-- when it keeps the contract, else an error that begins with `where` (the sampler's name) and says
-- which layer has what instead of what. The contract: blocks[l] = {adj =, dst =, src =} for every
-- layer, the first nearest the features; adj is #dst x #src with finite weights; the ids of
-- blocks[l].dst are those of blocks[l + 1].src; `input` is the first block's src, `output` the last
-- one's dst; no id is past `nodes`, where that is given, or occurs twice in a layer, unless there
-- is `readout`, the positions of the output in the last src; loss_nodes are positions in the
-- output, loss_weight has a weight for each output node, 0 for those that loss_nodes leaves out.
-- Costs a pass over all; with `quick` over the ids alone: then weights may be infinite, ids repeat.
function sampling.check(batch, where, given)
  local wrong = wrong_batch(batch, options.check("sampling.check", given, {
    nodes = "positive integer or nil", quick = {"boolean", false},
  }))
  if wrong then errors.fail(("%s: %s"):format(where or "mini-batch", wrong)) end
  return batch
end

--- sampling.hash(batch) -> string: a text that depends on every bit of what training reads of a
-- mini-batch: its blocks (structure, weights, order; control and noise), input, output and
-- features, loss_nodes and loss_weight.
function sampling.hash(batch)
  local where, parts, hashes = "sampling.hash", {}, {}       -- layers may share one
  local function add(object)
    options.value(where, "a part", object, "Matrix or Index or Tensor or nil")
    if object and not hashes[object] then hashes[object] = object:hash() end
    parts[#parts + 1] = object and hashes[object] or "-"
  end
  options.value(where, "the mini-batch", batch, "table")
  for _, block in ipairs(options.value(where, "blocks", batch.blocks, "array of tables")) do
    add(block.adj) add(block.dst) add(block.src) add(block.control) add(block.noise)
  end
  add(batch.input) add(batch.output) add(batch.features)
  add(batch.loss_nodes) add(rawget(batch, "loss_weight"))
  return table.concat(parts, " ")
end

return sampling

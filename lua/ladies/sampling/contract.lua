--- Checks that a mini-batch keeps the contract of samplers, and computes a hash of all that
-- training reads of a mini-batch.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local contract = {}

-- The functions below each check one thing, and return as text what is wrong with a mini-batch, or
-- nil. `rules` says what to check: the options of sampling.check, and `repeats` where ids may occur
-- twice.

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
  local distinct = #core.sampling.unique(ids)
  if distinct < #ids then
    return ("%s has %d ids, but only %d distinct ones"):format(name, #ids, distinct)
  end
end

-- Describes the first element of t that is not finite; nil if all are.
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

-- Returns what is wrong with the batch's field `name` (input or output), which must have the same
-- ids as field `of` of layer l.
local function wrong_end(name, ids, of, l, blocks)
  local wrong = wrong_class(name, ids, "Index")
  if wrong or ids == blocks[l][of] then return wrong end
  return ("%s (%d nodes) differs from %s of layer %d (%d nodes), expected the same ids"):format(
    name, #ids, of, l, #blocks[l][of])
end

local function wrong_loss_nodes(nodes, n, rules)
  local wrong = wrong_ids("loss_nodes", nodes, {quick = rules.quick})
  if wrong then return wrong end
  if #nodes == 0 then
    return "loss_nodes is empty, expected a node at least: draw again where no node is in the loss"
  elseif nodes:max() > n then
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

-- Returns what is wrong with `readout`: the positions of the output's nodes among those of the last
-- layer, which may repeat.
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

-- The types of fields that a mini-batch may have besides.
local OPTIONAL = {
  after_step = "callable or nil", features = "Tensor or Matrix or Rows or nil",
  penalty = "callable or nil", propagate = "callable or nil", stats = "table or nil",
}

--- sampling.check(batch [, where [, {nodes =, quick = false}]]) -> MiniBatch: returns the
-- mini-batch if it keeps the contract of samplers; otherwise raises an error that begins with
-- `where` (the sampler's name) and says what is wrong in which layer. The contract: blocks[l] =
-- {adj =, dst =, src =} for every layer, the first nearest the features; adj is #dst x #src with
-- finite weights; the ids of blocks[l].dst are those of blocks[l + 1].src; `input` is the first
-- block's src, `output` the last one's dst; no id is past `nodes`, where that is given, or occurs
-- twice in a layer, unless there is `readout`, the positions of the output in the last src;
-- the loss_nodes are positions in the output; loss_weight has a weight for each output node, 0 for
-- those that loss_nodes leaves out. The check reads the whole mini-batch; with `quick` only the
-- ids, and neither weights that are not finite nor repeated ids are found.
function contract.check(batch, where, given)
  local wrong = wrong_batch(batch, options.check("sampling.check", given, {
    nodes = "positive integer or nil", quick = {"boolean", false},
  }))
  if wrong then errors.fail(("%s: %s"):format(where or "mini-batch", wrong)) end
  for name, type_text in pairs(OPTIONAL) do
    options.value(where or "mini-batch", name, batch[name], type_text)
  end
  return batch
end

--- sampling.hash(batch) -> string: a text that depends on every bit of what training reads of a
-- mini-batch: its blocks (structure, weights, order; control and noise), input, output and
-- features, loss_nodes and loss_weight.
function contract.hash(batch)
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

return contract

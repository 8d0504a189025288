--- Decides how exact inference is carried out: which rows each layer computes, and whether
-- activations are in memory or in files. The logits are the same to the bit in every way, except
-- with OpenBLAS's kernels for AVX2 (its Haswell and Zen), whose products depend in the last bits on
-- the place of a row.
--
-- Each layer is computed for all nodes before the next begins, so a node costs its degree once a
-- layer and not its whole neighbourhood of five hops. Besides P and the features, memory holds the
-- output of the layer before and two intermediates of the current one: 3 N K floats for N nodes and
-- K columns. Features that stay in a file are read into N rows of float32, unless the first layer
-- multiplies them some rows at a time (model.takes_rows). A layer may pass on a table of tensors
-- for layers further on (jumping knowledge, initial residuals); these are held as long as they are
-- passed on. What does not fit into the memory that is given lies in temporary files.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local link = require "ladies.ranks.link"
local machine = require "ladies.base.machine"
local options = require "ladies.base.options"
local OwnRows = require "ladies.ranks.own_rows"
local receptive_field = require "ladies.evaluation.receptive_field"
local units = require "ladies.base.units"

local Way = {__name = "Way"}
Way.__index = Way

local SPEC = {
  nodes = "Index or nil", memory = "string or positive number or nil", folder = "string or nil",
}

-- Returns the default folder of temporary files, not /tmp, since they may be larger than a /tmp
-- that is in memory.
local function default_folder()
  return os.getenv "TMPDIR" or core.exists "/var/tmp" and "/var/tmp" or "/tmp"
end

--- Way.new(where, {nodes =, memory =, folder =}) -> Way: see ladies.inference.way.
function Way.new(where, given)
  local opts = options.check(where, given, SPEC)
  local nodes, distinct = opts.nodes, nil
  if nodes then
    if #nodes == 0 then errors.fail(where .. ": there are no nodes") end
    distinct = core.sampling.unique(nodes)
    if #distinct == #nodes then distinct = nodes end
  end
  return setmetatable({
    nodes = nodes, distinct = distinct, folder = opts.folder or default_folder(),
    memory = opts.memory and units.bytes(where .. ": memory", opts.memory) or machine.memory() // 2,
  }, Way)
end

-- Adds the tensors in a value, a Tensor or a table with tensors at any depth, to a set.
local function add_tensors(set, value)
  if options.class_of(value) == "Tensor" then
    set[value] = true
  elseif type(value) == "table" and not set[value] then
    set[value] = true
    for _, part in next, value do add_tensors(set, part) end
  end
  return set
end

-- Frees the tensors in a layer's input, except those that are in its `output` too and those in the
-- set `held`.
local function release(input, output, held)
  local passed_on = add_tensors({}, output)
  for tensor in pairs(add_tensors({}, input)) do
    if type(tensor) == "userdata" and not passed_on[tensor] and not held[tensor]
      and not tensor.in_step then
      tensor:release()
    end
  end
end

local function in_files(room) return (select(2, core.room_use(room))) end

-- Computes all layers, and returns the output of the last one for the nodes that `field` has there.
-- edges: what blocks have of their edges, or nil (see ladies.data.edges). own: the rows of P that
-- this rank has, where these and its rows of activations are all that it computes (OwnRows).
local function layers(room, model, field, features, edges, own)
  local all = own and core.range(own.first, own.last) or core.range(1, field.P.n_rows)
  local whole = {adj = own or field.P, dst = all, src = all, whole = own and field.P}
  if edges then edges:attach(whole) end
  local held = add_tensors({[features] = true}, model)
  local h = own and features:rows(all) or field.src and features:rows(field.src) or features
  if options.class_of(h) == "Rows" and not model.takes_rows then h = h:to_tensor() end
  for i = 1, model.n_layers do
    local input = h
    local block = i < field.first and whole or receptive_field.block(field, i, all)
    if edges and block ~= whole then edges:attach(block) end
    h = errors.within("layer %d", i, model.layer, model, i, input, block)
    release(input, h, held)
    if in_files(room) > 0 then collectgarbage() end      -- what a layer has left behind
  end
  return h
end

--- Tells whether the last computation failed because neither the memory that was given nor the disk
-- had room for it.
function Way:lacked_room()
  return self.room ~= nil and select(3, core.room_use(self.room))
end

-- Returns the results of a protected call that succeeded, and raises the error of one that failed.
-- An error that is due to a lack of memory or disk space says what helps.
local function finish(way, ok, ...)
  if ok then return ... end
  if not way:lacked_room() then errors.pass_on(...) end
  errors.fail(errors.message(...) .. "; more memory (--memory, in Lua memory), another disk (by "
    .. "TMPDIR, in Lua folder) or sampled inference helps")
end

--- Calls f(room, ...) with its tensors in the memory and files that this way allows, and returns
-- its results.
function Way:call(f, ...)
  self.room = core.room(self.memory, self.folder)
  return finish(self, errors.try(core.in_room, self.room, core.by_rows, f, self.room, ...))
end

-- Fails unless the last layer has returned a row for each of n nodes.
local function check(h, n)
  options.value("ladies.inference", "what the last layer returns", h, "Tensor")
  if h.n_rows ~= n then
    errors.fail(("ladies.inference: the last layer returned %s, not a row for each of the %d nodes")
      :format(h, n))
  end
end

-- Tells whether a model can be computed on some rows alone: whether, besides what it takes from P,
-- a row of each layer's output depends on the same row of its input. Then two nodes without
-- neighbours have the same logits beside two others as by themselves; where a layer subtracts the
-- mean over all nodes, for one, they have not. nil where that cannot be tried. own(n): P for n
-- nodes without neighbours as `layers` takes it, or nil for a Matrix.
local function is_by_rows(model, P, n_features, own)
  local x = core.zeros(4, n_features)
  x:normal_(1, core.rng(1))
  local function logits(n)
    local way, nodes = Way.new("ladies.inference", {}), core.range(1, n)
    local alone = own and P or core.matrix{n_rows = n, n_cols = n, rows = nodes, cols = nodes}
    return way:call(layers, model, {P = alone, first = model.n_layers + 1}, x:rows(nodes), nil,
      own and own(n))
  end
  local ok, of_four = errors.try(logits, 4)
  local alone, of_two = errors.try(logits, 2)
  if not (ok and alone) then return nil end
  if of_four.n_rows ~= 4 or of_two.n_rows ~= 2 then return false end
  local size = of_four:abs():max()
  return (of_four:slice(1, 2) - of_two):abs():max() <= 1e-4 * size
end

-- Returns which rows are computed in each layer: not all, where the wanted nodes need fewer and the
-- model can be computed on some rows alone.
local function field_of(model, P, nodes, n_features)
  local field = receptive_field.of(P, nodes, model.n_layers)
  if field.first <= model.n_layers and is_by_rows(model, P, n_features) == false then
    return receptive_field.of(P, nil, model.n_layers)
  end
  return field
end

-- Computes all layers as `layers` does. Within link.shared, which all ranks call together, each
-- rank computes its own rows of all layers where that is possible; elsewhere they divide the
-- products alone, and every rank has all activations.
local function divided(self, model, field, features, edges)
  local P = field.P
  if not link.is_sharing() or edges or field.first <= field.n_layers
    or not OwnRows.pays(P, features)
    or not is_by_rows(model, P, features.n_cols, OwnRows.without_edges) then
    return self:call(layers, model, field, features, edges)
  end
  local own = OwnRows.new(P, features)
  return link.joined(own.bounds, self.call, self, layers, model, field, features, nil, own)
end

--- Computes the logits of the way's nodes, in their order, or of all; see ladies.inference.exact.
-- edges: those of the data set, for blocks to have, or nil.
function Way:logits(model, P, features, edges)
  local field, nodes, where = self.field, self.nodes, "ladies.inference"
  options.value(where, "the model", model, "table")
  options.value(where, "the model's n_layers", model.n_layers, "integer")
  if options.class_of(P) ~= "MatrixInParts" then options.value(where, "P", P, "Matrix") end
  options.value(where, "features", features, "Tensor or Matrix or Rows")
  options.value(where, "edges", edges, "EdgeData or nil")
  if not field or field.P ~= P or field.n_layers ~= model.n_layers then
    field = field_of(model, P, self.distinct, features.n_cols)
    self.field = field
  end
  local computed = field.dst[model.n_layers]
  local h = divided(self, model, field, features, edges)
  check(h, computed and #computed or P.n_rows)
  if computed == nodes then return h end
  return h:rows(computed and core.sampling.find(computed, nodes) or nodes)
end

local function size(bytes)
  return bytes < 1e9 and ("%.3g MB"):format(bytes / 1e6) or ("%.3g GB"):format(bytes / 1e9)
end

--- Tells in one line what was chosen, and why.
function Way:__tostring()
  local field, room, parts = self.field, self.room, {"exact"}
  if field and field.first <= field.n_layers then
    local from = field.first == field.n_layers and "layer " .. field.first
      or ("layers %d to %d"):format(field.first, field.n_layers)
    parts[2] = ("%s of %d nodes and their neighbours alone, %.0f %% of the entries of all"):format(
      from, #self.distinct, 100 * field.entries / (field.n_layers * field.P.nnz))
  end
  if room and in_files(room) > 0 then
    parts[#parts + 1] = ("more than the %s of memory that it may have: up to %s in files in %s")
      :format(size(self.memory), size(in_files(room)), self.folder)
  elseif room and core.room_use(room) > 0 then
    parts[#parts + 1] = ("up to %s in memory"):format(size((core.room_use(room))))
  end
  return table.concat(parts, "; ")
end

return Way

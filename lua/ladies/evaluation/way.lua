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
--
-- How much disk these take is known beforehand, by a rehearsal (rehearsal.lua). Where they are
-- needed, the last finished layer is kept for another call to go on with (kept_layers.lua).

local core = require "ladies_core"
local division = require "ladies.evaluation.division"
local errors = require "ladies.base.errors"
local kept_layers = require "ladies.evaluation.kept_layers"
local link = require "ladies.ranks.link"
local machine = require "ladies.base.machine"
local options = require "ladies.base.options"
local OwnRows = require "ladies.ranks.own_rows"
local receptive_field = require "ladies.evaluation.receptive_field"
local rehearsal = require "ladies.evaluation.rehearsal"
local tell = require "ladies.base.tell"
local units = require "ladies.base.units"

local Way = {__name = "Way"}
Way.__index = Way

local SPEC = {
  nodes = "Index or nil", memory = "string or positive number or nil", folder = "string or nil",
  ranks_infer = "together|alone or nil",
}

-- Returns the default folder of temporary files, not /tmp, since they may be larger than a /tmp
-- that is in memory.
local function default_folder()
  return os.getenv "TMPDIR" or core.exists "/var/tmp" and "/var/tmp" or "/tmp"
end

local around      -- the Way in whose `within` this is, and in whose room all inference is

--- Way.new(where, {nodes =, memory =, folder =, ranks_infer =}) -> Way: see ladies.inference.way.
function Way.new(where, given)
  local opts = options.check(where, given, SPEC)
  local nodes, distinct = opts.nodes, nil
  if nodes then
    if #nodes == 0 then errors.fail(where .. ": there are no nodes") end
    distinct = core.sampling.unique(nodes)
    if #distinct == #nodes then distinct = nodes end
  end
  return setmetatable({
    nodes = nodes, distinct = distinct, ranks_infer = opts.ranks_infer,
    folder = opts.folder or around and around.folder or default_folder(),
    memory = opts.memory and units.bytes(where .. ": memory", opts.memory)
      or around and around.memory or machine.memory() // 2,
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

-- Returns what the first layer reads.
local function input_of(model, field, features)
  if field.src then return features:rows(field.src) end
  if options.class_of(features) ~= "Rows" or rehearsal.takes_rows(model, field.P) then
    return features
  end
  return features:to_tensor()
end

-- Returns what the last layer that is kept has passed on, and the number of the next one; nil and 1
-- where none is.
local function resumed(room, work, known)
  local h = work.kept and work.kept:find(room, known)
  if not h then return nil, 1 end
  local first = work.kept.layer + 1
  tell("ladies: exact inference goes on with layer %d of %d, which an earlier one had come to (%s)",
    first, work.model.n_layers, work.kept.folder)
  return h, first
end

-- Computes all layers, and returns the output of the last one for the nodes that the field has
-- there. work: model, field, features; input, a function that returns what the first layer reads;
-- edges, what blocks have of their edges, or nil (see ladies.data.edges); kept, KeptLayers, or nil;
-- own, the rows of P that this rank has, where these and its rows of activations are all that it
-- computes (OwnRows), or nil; watch, of ladies.evaluation.division, or nil: where it returns true
-- after a layer, they end there without a result.
local function layers(room, work)
  local model, field, edges, kept, own = work.model, work.field, work.edges, work.kept, work.own
  local all = own and core.range(own.first, own.last) or core.range(1, field.P.n_rows)
  local whole = {adj = own or field.P, dst = all, src = all, whole = own and field.P}
  if edges then edges:attach(whole) end
  local held = add_tensors({[work.features] = true}, model)
  local known = {features = work.features, nodes = all}
  local h, first = resumed(room, work, known)
  h = h or work.input(all)
  for i = first, model.n_layers do
    local input = h
    local block = i < field.first and whole or receptive_field.block(field, i, all)
    if edges and block ~= whole then edges:attach(block) end
    h = errors.within("layer %d", i, model.layer, model, i, input, block)
    release(input, h, held)
    if work.watch and work.watch(i, room, own ~= nil) then return nil end
    if in_files(room) > 0 then
      collectgarbage()                                   -- what a layer has left behind
      if kept and i < model.n_layers then kept:keep(room, i, h, known, held) end
    end
  end
  return h
end

--- Tells whether the last computation failed because neither the memory that was given nor the disk
-- had room for it.
function Way:lacked_room()
  return self.is_short or self.room ~= nil and select(3, core.room_use(self.room))
end

local HELPS = "; more memory (--memory, in Lua memory), another disk (by TMPDIR, in Lua folder) "
  .. "or, of nodes, sampled inference helps"

-- Returns the results of a protected call that succeeded, and raises the error of one that failed.
-- An error that is due to a lack of memory or disk space says what helps.
local function finish(way, ok, ...)
  if ok then return ... end
  if not way:lacked_room() then errors.pass_on(...) end
  errors.fail(errors.message(...) .. HELPS)
end

-- Calls f(...) with its large tensors in the room of this way, and returns its results: that of
-- the `within` around it, which then says what helps where room is lacking, or one of its own.
local function in_room(way, f, ...)
  if around then
    way.room = around.room
    return core.in_room(way.room, f, ...)
  end
  way.room = core.room(way.memory, way.folder)
  return finish(way, errors.try(core.in_room, way.room, f, ...))
end

--- Calls f(room, ...) with its tensors in the memory and files that this way allows, and returns
-- its results.
function Way:call(f, ...)
  return in_room(self, function(...) return core.by_rows(f, self.room, ...) end, ...)
end

--- Calls f(...) with its large tensors, and those of all exact inference in it, in the memory and
-- files that this way allows together, and returns its results.
function Way:within(f, ...)
  options.value("way:within", "what is called", f, "callable")
  local before = around
  local _ <close> = setmetatable({}, {__close = function() around = before end})
  return in_room(self, function(...)
    around = around or self
    return f(...)
  end, ...)
end

-- Fails unless the last layer has returned a row for each of n nodes.
local function check(h, n)
  options.value("ladies.inference", "what the last layer returns", h, "Tensor")
  if h.n_rows ~= n then
    errors.fail(("ladies.inference: the last layer returned %s, not a row for each of the %d nodes")
      :format(h, n))
  end
end

-- Fails where the disk has not so many bytes for files, of which it may have some already.
local function check_disk(way, bytes, kept)
  local free = core.folder.free(way.folder)
  way.is_short = free + (kept and kept:bytes() or 0) < bytes
  if not way.is_short then return end
  errors.fail(("exact inference needs %s of disk for what it computes, and %s has %s free%s")
    :format(units.size(bytes), way.folder, units.size(free), HELPS))
end

-- Returns the bytes that work takes in files, which a rehearsal tells and the way remembers; nil
-- where that is not known.
local function bytes_in_files(way, work)
  if way.rehearsed ~= work.field then
    way.rehearsed, way.bytes = work.field, rehearsal.bytes(layers, work, way.memory, way.folder)
  end
  return way.bytes
end

-- Returns the results of a protected call that succeeded, and raises the error of one that failed.
-- An interruption says from where another call goes on.
local function finish_kept(kept, n_layers, ok, ...)
  if ok then return ... end
  local e = ...
  if kept and kept.layer > 0 and errors.is_interrupt(e) then
    e = core.interruption(("%s; layer %d of %d is kept in %s, and the same inference goes on after "
      .. "it"):format(errors.message(e), kept.layer, n_layers, kept.folder))
  end
  error(e, 0)
end

-- Computes the layers; where their outputs do not fit in memory, there must be disk for them, and
-- finished layers are kept. Not so where ranks share the work, who would have to agree.
local function carry_out(way, work)
  way.is_short = false
  local bytes = link.size == 1 and bytes_in_files(way, work) or 0
  if bytes == 0 then return way:call(layers, work) end
  local kept <close> = kept_layers.open(way.folder, work.model, work.model.layer, work.field.P,
    work.features, way.distinct)
  check_disk(way, bytes, kept)
  work.kept = kept
  local h = finish_kept(kept, work.model.n_layers, errors.caught(way.call, way, layers, work))
  if kept then kept:remove() end
  return h
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
    return way:call(layers, {
      model = model, field = {P = alone, first = model.n_layers + 1}, features = x,
      input = function() return x:rows(nodes) end, own = own and own(n),
    })
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

-- Tells whether each rank can compute its own rows of all layers. A model that cannot be computed
-- so is not tried again.
local function goes_by_own_rows(known, work)
  local field, features = work.field, work.features
  if known.not_by_rows or work.edges or field.first <= field.n_layers
    or not OwnRows.pays(field.P, features) then
    return false
  end
  known.not_by_rows = not is_by_rows(work.model, field.P, features.n_cols, OwnRows.without_edges)
  return not known.not_by_rows
end

-- Computes all layers by all ranks: each rank its own rows where that is possible; elsewhere they
-- divide the products alone, and every rank has all activations. Returns nil where it was found
-- that each is faster alone, which is measured unless that is decided.
local function together(self, work, known, is_decided)
  local by_rows = goes_by_own_rows(known, work)
  work.watch = not is_decided and division.watch(known, work.model.n_layers, self.memory) or nil
  if not by_rows then
    self.shared = "the ranks divided single products" .. (known.not_by_rows
      and ", since the layers cannot be computed by rows" or "")
    return carry_out(self, work)
  end
  self.shared = "each rank computed its own rows"
  local own = OwnRows.new(work.field.P, work.features)
  local of_own = setmetatable({own = own, input = function(all) return work.features:rows(all) end},
    {__index = work})
  return link.joined(own.bounds, self.call, self, layers, of_own)
end

-- Computes all layers as `layers` does. Within link.shared, which all ranks call together, they do
-- it together, or each of them alone: as the way says or else as is faster.
local function divided(self, work)
  if not link.is_sharing() then return carry_out(self, work) end
  local known, wish = division.of(work.model), self.ranks_infer
  local in_parts = OwnRows.are_in_parts(work.field.P, work.features)
  if in_parts and wish == "alone" then
    errors.fail "ranks_infer = alone: of a data set in shards no rank has all that inference reads"
  end
  local alone = known.alone
  if wish or in_parts then alone = wish == "alone" end
  if not alone then
    local h = together(self, work, known, alone ~= nil)
    if h then return h end
    work.watch = nil
  end
  self.shared = "each rank computed all of it alone"
  return link.apart(carry_out, self, work)
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
  local h = divided(self, {
    model = model, field = field, features = features, edges = edges,
    input = function() return input_of(model, field, features) end,
  })
  check(h, computed and #computed or P.n_rows)
  if computed == nodes or not computed and nodes == core.range(1, P.n_rows) then return h end
  return h:rows(computed and core.sampling.find(computed, nodes) or nodes)
end

--- Tells in one line what was chosen, and why.
function Way:__tostring()
  local field, room, parts = self.field, self.room, {"exact"}
  if field and field.first <= field.n_layers then
    local is_last = field.first == field.n_layers
    local from = is_last and "layer " .. field.first
      or ("layers %d to %d"):format(field.first, field.n_layers)
    parts[2] = ("%s of %d nodes%s alone, %.0f %% of the entries of all"):format(from,
      #self.distinct, is_last and "" or " and their neighbours",
      100 * field.entries / (field.n_layers * field.P.nnz))
  end
  parts[#parts + 1] = self.shared
  if room and in_files(room) > 0 then
    parts[#parts + 1] = ("more than the %s of memory that it may have: up to %s in files in %s")
      :format(units.size(self.memory), units.size(in_files(room)), self.folder)
  elseif room and core.room_use(room) > 0 then
    parts[#parts + 1] = ("up to %s in memory"):format(units.size((core.room_use(room))))
  end
  return table.concat(parts, "; ")
end

return Way

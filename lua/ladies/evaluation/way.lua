--- Decides how exact inference is carried out: which rows each layer computes, by which ranks, and
-- whether activations are in memory or in files (room.lua). The logits are the same to the bit in
-- every way, except with OpenBLAS's kernels for AVX2 (its Haswell and Zen), whose products depend
-- in the last bits on the place of a row.
--
-- How much disk files take is known beforehand, by a rehearsal (rehearsal.lua). Where they are
-- needed, the last finished layer is kept for another call to go on with (kept_layers.lua).

local core = require "ladies_core"
local by_ranks = require "ladies.evaluation.by_ranks"
local by_rows = require "ladies.evaluation.by_rows"
local errors = require "ladies.base.errors"
local kept_layers = require "ladies.evaluation.kept_layers"
local layers = require "ladies.evaluation.layers"
local link = require "ladies.ranks.link"
local options = require "ladies.base.options"
local receptive_field = require "ladies.evaluation.receptive_field"
local rehearsal = require "ladies.evaluation.rehearsal"
local Room = require "ladies.evaluation.room"
local units = require "ladies.base.units"

local Way = {__name = "Way"}
Way.__index = Way

local SPEC = {
  nodes = "Index or nil", memory = "string or positive number or nil", folder = "string or nil",
  ranks_infer = "together|alone or nil",
}

--- Way.new(where, {nodes =, memory =, folder =, ranks_infer =}) -> Way: see ladies.inference.way.
function Way.new(where, given)
  local opts = options.check(where, given, SPEC)
  local nodes, distinct = opts.nodes, nil
  if nodes then
    if #nodes == 0 then errors.fail(where .. ": there are no nodes") end
    distinct = core.sampling.unique(nodes)
    if #distinct == #nodes then distinct = nodes end
  end
  return setmetatable({nodes = nodes, distinct = distinct, ranks_infer = opts.ranks_infer,
    room = Room.new(where, opts.memory, opts.folder)}, Way)
end

-- Fails unless the last layer has returned a row for each of n nodes.
local function check(h, n)
  options.value("ladies.inference", "what the last layer returns", h, "Tensor")
  if h.n_rows ~= n then
    errors.fail(("ladies.inference: the last layer returned %s, not a row for each of the %d nodes")
      :format(h, n))
  end
end

-- Returns the bytes that work takes in files, which a rehearsal tells and the way remembers; nil
-- where that is not known.
local function bytes_in_files(way, work)
  if way.rehearsed ~= work.field then
    way.rehearsed = work.field
    way.bytes = rehearsal.bytes(work, way.room.memory, way.room.folder)
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
  local room = way.room
  local bytes = link.size == 1 and bytes_in_files(way, work) or 0
  if bytes == 0 then return room:call(layers.compute, work) end
  local kept <close> = kept_layers.open(room.folder, work.model, work.model.layer, work.field.P,
    work.features, way.distinct)
  room:check_disk(bytes, kept and kept:bytes() or 0)
  work.kept = kept
  local h = finish_kept(kept, work.model.n_layers, errors.caught(room.call, room, layers.compute,
    work))
  if kept then kept:remove() end
  return h
end

-- Returns which rows are computed in each layer: not all, where the wanted nodes need fewer and the
-- model can be computed on some rows alone.
local function field_of(model, P, nodes, n_features)
  local field = receptive_field.of(P, nodes, model.n_layers)
  if field.first <= model.n_layers and by_rows(model, P, n_features) == false then
    return receptive_field.of(P, nil, model.n_layers)
  end
  return field
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
  -- Whether rows can be computed alone is a matter of the model's layers.
  if not field or field.P ~= P or not rawequal(self.model, model)
      or field.n_layers ~= model.n_layers then
    field = field_of(model, P, self.distinct, features.n_cols)
    self.field, self.model = field, model
  end
  local computed = field.dst[model.n_layers]
  local h = by_ranks(self, {
    model = model, field = field, features = features, edges = edges,
    input = function() return layers.input(model, field, features) end,
  }, carry_out)
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
    parts[2] = ("%s of %s%s alone, %.0f %% of the entries of all"):format(from,
      units.plain(#self.distinct, "node"), is_last and ""
        or #self.distinct == 1 and " and its neighbours" or " and their neighbours",
      100 * field.entries / (field.n_layers * field.P.nnz))
  end
  parts[#parts + 1] = self.shared
  local in_memory, in_files = room:use()
  if in_files > 0 then
    parts[#parts + 1] = ("more than the %s of memory that it may have: up to %s in files in %s")
      :format(units.size(room.memory), units.size(in_files), room.folder)
  elseif in_memory > 0 then
    parts[#parts + 1] = ("up to %s in memory"):format(units.size(in_memory))
  end
  return table.concat(parts, "; ")
end

return Way

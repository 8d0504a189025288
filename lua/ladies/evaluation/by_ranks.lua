--- Carries out exact inference by several ranks: each computes its own rows of all layers, or they
-- divide single products, or each of them computes everything. The option ranks_infer decides
-- which, or else what was measured to be faster (division.lua).

local by_rows = require "ladies.evaluation.by_rows"
local division = require "ladies.evaluation.division"
local errors = require "ladies.base.errors"
local layers = require "ladies.evaluation.layers"
local link = require "ladies.ranks.link"
local OwnRows = require "ladies.ranks.own_rows"

-- Tells whether each rank can compute its own rows of all layers. A model that cannot be computed
-- so is not tried again.
local function goes_by_own_rows(known, work)
  local field, features = work.field, work.features
  if known.not_by_rows or work.edges or field.first <= field.n_layers
    or not OwnRows.pays(field.P, features) then
    return false
  end
  known.not_by_rows = not by_rows(work.model, field.P, features.n_cols, OwnRows.without_edges)
  return not known.not_by_rows
end

-- Computes all layers by all ranks: each rank its own rows where that is possible; elsewhere they
-- divide the products alone, and every rank has all activations. Returns nil where it was found
-- that each is faster alone, which is measured unless that is decided.
local function together(way, work, known, is_decided, carry_out)
  local has_own = goes_by_own_rows(known, work)
  work.watch = not is_decided and division.watch(known, work.model.n_layers, way.room.memory) or nil
  if not has_own then
    way.shared = "the ranks divided single products" .. (known.not_by_rows
      and ", since the layers cannot be computed by rows" or "")
    return carry_out(way, work)
  end
  way.shared = "each rank computed its own rows"
  local own, room = OwnRows.new(work.field.P, work.features), way.room
  local of_own = setmetatable({own = own, input = function(all) return work.features:rows(all) end},
    {__index = work})
  return link.joined(own.bounds, room.call, room, layers.compute, of_own)
end

--- by_ranks(way, work, carry_out) -> Tensor: computes all layers of the work (see layers.compute).
-- Within link.shared, which all ranks call, they do it together, or each of them alone by
-- carry_out(way, work). way.shared says what was done.
local function by_ranks(way, work, carry_out)
  if not link.is_sharing() then return carry_out(way, work) end
  local known, wish = division.of(work.model), way.ranks_infer
  local in_parts = OwnRows.are_in_parts(work.field.P, work.features)
  if in_parts and wish == "alone" then
    errors.fail "ranks_infer = alone: of a data set in shards no rank has all that inference reads"
  end
  local alone = known.alone
  if wish or in_parts then alone = wish == "alone" end
  if not alone then
    local h = together(way, work, known, alone ~= nil, carry_out)
    if h then return h end
    work.watch = nil
  end
  way.shared = "each rank computed all of it alone"
  return link.apart(carry_out, way, work)
end

return by_ranks

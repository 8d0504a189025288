--- Reads the split from an open npz file: each part is an array of the ids of its nodes, or a mask
-- of all nodes.
--
--   idx_train, idx_val, idx_test          ids from 0 (also idx_valid; train_idx, ...)
--   train_mask, val_mask, test_mask       true for the nodes of the part; or, for several splits, a
--                                         matrix with a column, or a row, for each split
--                                         (also valid_mask; train_masks, ...)

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local notes = require "ladies.data.notes"
local npz_arrays = require "ladies.data.formats.npz.arrays"

local npz_split = {}

local NAMES = {
  train = {ids = {"idx_train", "train_idx"}, masks = {"train_mask", "train_masks"}},
  val = {ids = {"idx_val", "idx_valid", "val_idx", "valid_idx"},
    masks = {"val_mask", "valid_mask", "val_masks", "valid_masks"}},
  test = {ids = {"idx_test", "test_idx"}, masks = {"test_mask", "test_masks"}},
}

--- The names of arrays that are known, as a set.
npz_split.KNOWN = {}
for _, kinds in pairs(NAMES) do
  for _, names in pairs(kinds) do
    for _, name in ipairs(names) do npz_split.KNOWN[name] = true end
  end
end

-- Fails unless a mask has a split of this number (from 0). Without a number the first of several
-- splits is taken, and a note tells so.
local function check_number(context, list, key, n_splits, which)
  if which and which >= n_splits then
    checks.fail(context, "%s has %d splits, got the number %d", key, n_splits, which)
  elseif not which and n_splits > 1 then
    notes.add(context, list, "%s has %d splits, of which number 0 is taken; --split N takes "
      .. "another", key, n_splits)
  end
end

-- Returns the nodes of a mask, which is a vector with an element for each of n nodes, or a matrix
-- with a column or a row for each split; then the split with number `which` is taken.
local function masked_nodes(context, list, file, key, n, which)
  local mask, ids = file:tensor(key), {}
  local by_columns = mask.ndim == 2 and mask.n_rows == n
  if not by_columns and (mask.ndim == 2 and mask.n_cols or #mask) ~= n then
    checks.fail(context, "%s has length %d, must have %d, one for each node", key, #mask, n)
  end
  if mask.ndim == 2 then
    check_number(context, list, key, by_columns and mask.n_cols or mask.n_rows, which)
  end
  local split = (which or 0) + 1
  for node = 1, n do
    local x = mask.ndim == 1 and mask[node]
      or by_columns and mask:get(node, split) or mask:get(split, node)
    if x > 0 then ids[#ids + 1] = node end
  end
  return core.index(ids)
end

-- Returns the number of the split for which the user asks, or nil.
local function number_of(context, asked)
  if not asked then return nil end
  local which = math.tointeger(tonumber(asked))
  if not which or which < 0 then
    checks.fail(context, 'no split "%s"; splits of a file have numbers from 0', asked)
  end
  return which
end

--- Reads the parts into the fields of a data set of n nodes. asked: the number of a split as a
-- text, where there are several; nil; or false for any, since another one is made.
function npz_split.read(context, file, fields, n, asked)
  local which, n_splits = asked == false and 0 or number_of(context, asked), 0
  for _, part in ipairs(checks.SPLIT) do
    local ids = npz_arrays.one_of(context, file, NAMES[part].ids)
    local mask = npz_arrays.one_of(context, file, NAMES[part].masks)
    context.keys[part] = ids or mask
    if ids then
      fields[part] = file:index(ids)
      if mask then
        notes.add(context, fields.notes, "not used: %s, as there is %s", mask, ids)
      end
    elseif mask then
      fields[part] = masked_nodes(context, fields.notes, file, mask, n, which)
    end
    if fields[part] then
      n_splits = math.max(n_splits, not ids and #file:shape(mask) == 2 and math.huge or 1)
    end
  end
  if asked and which >= n_splits then
    checks.fail(context, 'no split "%s"; the file has %s', asked,
      n_splits == 0 and "none of its own" or "one of its own, number 0")
  end
end

return npz_split

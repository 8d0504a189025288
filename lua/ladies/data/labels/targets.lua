--- Handles real targets (for regression), which a data set may have beside labels or instead of
-- them: a Tensor, nodes x targets, of any finite numbers. NaN stands for a target that is not
-- known; a node may have some that are known and some that are not.

local core = require "ladies_core"
local checks = require "ladies.data.checks"

local targets = {}

-- Returns a Tensor with 1 where an element is known and 0 where it is NaN, which does not equal
-- itself.
local function known_cells(x) return x:equals(x) end

--- Returns a vector as a matrix of one column, and a matrix as it is.
function targets.columns(x)
  return x.ndim == 1 and x:reshape(#x, 1) or x
end

local PIECE = 1 << 16      -- elements that are looked at together

--- Tells whether some element of a Tensor is a number that is not whole, which no class is.
function targets.has_fractions(x)
  local all = x:reshape(x.n_rows * x.n_cols)
  for first = 1, #all, PIECE do
    for _, value in ipairs(all:slice(first, math.min(#all, first + PIECE - 1)):to_table()) do
      if math.abs(value) < math.huge and value % 1 ~= 0 then return true end
    end
  end
  return false
end

--- Fails unless `x` has a row of finite or unknown targets for each of n nodes, and a column for
-- each of `names`, which may be nil. Returns whether some are known.
function targets.check(context, x, n, names)
  local key = context.keys.targets
  checks.length(context, "targets", x.n_rows, n, "one row for each " .. (context.unit or "node"))
  if x.n_cols == 0 then checks.fail(context, "%s has no columns, must have one at least", key) end
  if names then
    checks.length(context, "target_names", #names, x.n_cols,
      ("one for each column of %s"):format(key))
  end
  local known = known_cells(x)
  checks.finite(context, "targets", core.where(known, x, core.zeros(x.n_rows, x.n_cols)))
  return known:max() > 0
end

--- Returns the Index of the nodes that have a known target.
function targets.known(x)
  return known_cells(x):row_sums():positions()
end

--- Returns the position in the Index `ids` of the first node without a known target, or nil.
function targets.first_unknown(x, ids)
  if #ids == 0 then return nil end
  for i, count in ipairs(known_cells(x[ids]):row_sums():to_table()) do
    if count == 0 then return i end
  end
end

--- Describes each target: {known =, least =, mean =, greatest =}, the last three nil where no node
-- has it.
function targets.count(x)
  local list = {}
  for j = 1, x.n_cols do
    local column = x:slice_cols(j, j):reshape(x.n_rows)
    local own = column[known_cells(column):positions()]
    list[j] = {known = #own}
    if #own > 0 then
      list[j].least, list[j].greatest = own:min(), own:max()
      list[j].mean = own:sum():item() / #own
    end
  end
  return list
end

-- Returns a text as a quoted field of a CSV table.
local function quoted(text) return ('"%s"'):format(text:gsub('"', '""')) end

--- Writes a table of targets: a header, and for each node its number and its targets, with an empty
-- field for one that is not known. `names` may be nil.
function targets.write(path, x, names)
  local titles, lines = {"node"}, {}
  for j = 1, x.n_cols do
    titles[j + 1] = names and quoted(names[j]) or ("target_%d"):format(j - 1)
  end
  for node = 1, x.n_rows do
    local row = x[node]:to_table()
    for j, value in ipairs(row) do row[j] = value == value and ("%.9g"):format(value) or "" end
    lines[node] = ("%d,%s\n"):format(node - 1, table.concat(row, ","))
  end
  core.file.write(path, table.concat(titles, ",") .. "\n" .. table.concat(lines))
end

return targets

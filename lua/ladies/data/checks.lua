--- Checks the parts of a data set, whether they come from a file or from a script.
--
-- A context says how the user knows these parts: `where` begins every message, `keys` has the name
-- of each part, and `shift` is added to ids and positions (-1 for files, which count from 0). So a
-- message reads `x.npz: idx_train[5] is 2708, must be in 0..2707`.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local checks = {}

-- The parts of a split, in the order in which messages name them.
checks.SPLIT = {"train", "val", "test"}

function checks.fail(context, text, ...)
  errors.fail(("%s: %s"):format(context.where, text:format(...)))
end

--- Fails unless a part has the length that is expected of it.
function checks.length(context, part, length, expected, reason)
  if length ~= expected then
    checks.fail(context, "%s has length %d, must have %d, %s", context.keys[part], length, expected,
      reason)
  end
end

--- Fails unless the elements of the Index `ids` are 1 .. n. If `none` is given, a text that says
-- what 0 means, 0 is allowed too.
function checks.ids(context, part, ids, n, none)
  local low = none and 0 or 1
  if #ids == 0 or (ids:min() >= low and ids:max() <= n) then return end
  local shift = context.shift
  for i = 1, #ids do
    if ids[i] < low or ids[i] > n then
      checks.fail(context, "%s[%d] is %d, must be in %d..%d%s", context.keys[part], i + shift,
        ids[i] + shift, 1 + shift, n + shift, none and (", or %d: %s"):format(shift, none) or "")
    end
  end
end

--- Fails if two of the texts of a part are equal.
function checks.different(context, part, texts)
  local first, key, shift = {}, context.keys[part], context.shift
  for i, text in ipairs(texts) do
    if first[text] then
      checks.fail(context, '%s[%d] is "%s" again, after %s[%d]', key, i + shift, text, key,
        first[text] + shift)
    end
    first[text] = i
  end
end

--- The end of messages about a missing feature, which says what to do about it.
checks.MISSING = "; replace a missing feature by its column's mean, say, and mark it in a further "
  .. "column of 0 and 1"

local function remedy(part) return part == "features" and checks.MISSING or "" end

-- Returns how many values are not finite, and the place of the first.
local function not_finite(values, shift)
  local count, first = 0, nil
  for i = 1, values.n_rows do
    for j, value in ipairs(values.ndim == 2 and values[i]:to_table() or {values[i]}) do
      if value ~= value or math.abs(value) == math.huge then
        count = count + 1
        first = first or (values.ndim == 2 and ("[%d, %d]"):format(i + shift, j + shift)
          or ("[%d]"):format(i + shift))
      end
    end
  end
  return count, first
end

-- Fails if a value of Rows is not finite. Since Rows may be large, the search ends at the first
-- such value.
local function finite_rows(context, part, x)
  local finite, value, row, column = x:is_finite()
  if finite then return end
  checks.fail(context, "%s must be finite numbers, got %s at %s[%d, %d]%s", context.keys[part],
    value ~= value and "nan" or value, context.keys[part], row + context.shift,
    column + context.shift, remedy(part))
end

--- Fails if a value of a Tensor, of Rows or of a Matrix is not a finite number.
function checks.finite(context, part, x)
  local values = x
  if options.class_of(x) == "Matrix" then
    local least, greatest = core.value_range(x)
    if not least or least > -math.huge and greatest < math.huge then return end
    values = x.values
  end
  if options.class_of(x) == "Rows" then return finite_rows(context, part, x) end
  if options.class_of(values) ~= "Tensor" or values:is_finite() then return end
  local count, first = not_finite(values, context.shift)
  checks.fail(context, "%s must be finite numbers, got %d NaN or infinite, the first at %s%s%s",
    context.keys[part], count, context.keys[part], first, remedy(part))
end

--- Fails unless the Matrix is the adjacency of a graph: square, not empty, finite.
function checks.adjacency(context, matrix)
  local n, key = matrix.n_rows, context.keys.adjacency
  if n ~= matrix.n_cols then
    checks.fail(context, "%s must be square, got %d x %d", key, n, matrix.n_cols)
  elseif n == 0 then
    checks.fail(context, "%s is the graph of no nodes", key)
  end
  checks.finite(context, "adjacency", matrix)
end

local function position(ids, id)
  for i = 1, #ids do
    if ids[i] == id then return i end
  end
end

-- Raises the error for an id that is in the split twice.
local function fail_twice(context, parts)
  local owner, shift = {}, context.shift
  for _, part in ipairs(checks.SPLIT) do
    for i, id in ipairs(parts[part] and parts[part]:to_table() or {}) do
      if owner[id] then
        checks.fail(context, "%s[%d] is %s %d again, after %s[%d]", context.keys[part], i + shift,
          context.unit or "node", id + shift, context.keys[owner[id]],
          position(parts[owner[id]], id) + shift)
      end
      owner[id] = part
    end
  end
end

--- Fails unless the parts of the split are ids of n nodes, none of them twice, all with a label.
-- first_unknown(ids) returns the position of a node without one, or nil; `unknown` says in messages
-- what that node lacks ("label").
function checks.split(context, parts, n, first_unknown, unknown)
  local all
  for _, part in ipairs(checks.SPLIT) do
    local ids = parts[part]
    if ids then
      checks.ids(context, part, ids, n)
      local i = first_unknown(ids)
      if i then
        checks.fail(context, "%s[%d] is %s %d, which has no %s", context.keys[part],
          i + context.shift, context.unit or "node", ids[i] + context.shift, unknown or "label")
      end
      all = all and all .. ids or ids
    end
  end
  -- One fast look at all ids; the slow search is only for the message.
  if all and not errors.try(all.check_unique, all) then fail_twice(context, parts) end
end

return checks

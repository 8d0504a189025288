--- Decides how many classes there are and how they are numbered. Files number classes from 0, so
-- there is one more than the largest number, unless the classes have names, which say how many
-- there are. Without names:
--
--   * where no node has class 0 and some have class 1, the file counts from 1: class 1 becomes the
--     first, and the numbers of the file stay as names
--   * other classes without a node stay, and a note names them
--   * more classes than nodes (1,024 are always allowed) are refused

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local notes = require "ladies.data.notes"
local options = require "ladies.base.options"

local class_numbers = {}

local ALWAYS = 1024
local SHOWN = 5        -- classes that a line names

--- Returns the most classes that a file may have for n nodes; max_ids: the user's own limit, or
-- nil.
function class_numbers.limit(n, max_ids)
  return max_ids or math.max(ALWAYS, n)
end

--- Converts a number in a file to the class in labels: -1 and NaN become 0, for no class, and
-- others count from 1; nil for a number that is no class.
function class_numbers.of(x)
  if x ~= x then return 0 end
  local class = math.tointeger(x)
  return class and class >= -1 and class < (1 << 31) - 1 and class + 1 or nil
end

local function check(context, labels, limit)
  local most = labels:max()
  if most <= limit then return end
  for i = 1, #labels do
    if labels[i] == most then
      checks.fail(context, "%s[%d] is %d: more classes than the %d that %d nodes may have; names "
        .. "of classes, or --max-ids (in Lua max_ids), allow more", context.keys.labels,
        i + context.shift, most + context.shift, limit, #labels)
    end
  end
end

local function from_one(fields, counts)
  local shifted, names = {}, {}
  for i, label in ipairs(fields.labels:to_table()) do shifted[i] = math.max(label - 1, 0) end
  for class = 1, #counts - 1 do names[class] = ("%d"):format(class) end
  fields.labels, fields.class_names = core.index(shifted), names
  return table.move(counts, 2, #counts + 1, 1)
end

local function tell_empty(context, list, counts, first)
  local empty, n = {}, 0
  for i, count in ipairs(counts) do
    if count == 0 then
      n = n + 1
      if n <= SHOWN then empty[n] = ("%d"):format(i - 1 + first) end
    end
  end
  if n == 0 then return end
  notes.add(context, list, "no node has class %s%s of %d..%d; a model has outputs for them all the "
    .. "same", table.concat(empty, ", "), n > SHOWN and (" and %d others"):format(n - SHOWN) or "",
    first, #counts - 1 + first)
end

--- Converts the labels in the fields of a data set, one class a node, to an Index, and completes
-- the class names. max_ids: a limit of the user's, or nil.
function class_numbers.apply(context, fields, max_ids)
  local labels = fields.labels
  if options.class_of(labels) ~= "Index" or #labels == 0 or labels:max() < 1 then return end
  if fields.class_names then return end
  check(context, labels, class_numbers.limit(#labels, max_ids))
  local counts, first = labels:counts(labels:max()), context.shift + 1
  if first == 0 and counts[1] == 0 and (counts[2] or 0) > 0 then
    counts, first = from_one(fields, counts), 1
    notes.add(context, fields.notes,
      "%s count from 1, as no node has class 0: class 1 is the first",
      context.keys.labels)
  end
  tell_empty(context, fields.notes, counts, first)
end

return class_numbers

--- Makes hints for errors in tables that an option of ladies.data.from_files may solve: names of
-- nodes or classes in place of numbers, and ids that count from 1.

local table_header = require "ladies.data.formats.tables.header"

local READS = "; where %s, --%s %s (in Lua %s = %q) reads them"
local NAMES = READS:format("nodes have names", "ids", "strings", "ids", "strings")
local CLASSES = READS:format("classes have names", "classes", "strings", "classes", "strings")

local TARGETS = "; where they are no classes but real targets, --labels-as targets (in Lua "
  .. 'labels_as = "targets"), or the name targets.csv, says so'

-- The texts that stand in tables where a number is missing, as messages quote them.
local NONE = {nothing = true, ['"nan"'] = true, ['"na"'] = true, ['"n/a"'] = true,
  ['"null"'] = true, ['"none"'] = true, ['"?"'] = true}

local table_hints = {}

--- Tells whether ladies.text.read refused a field for a number that is missing.
function table_hints.is_missing(message)
  local found = message:match ": found (.-), expected a number$"
  return found and NONE[found:lower()]
end

--- The hint about ids that count from 1.
table_hints.FROM_1 = READS:format("ids count from 1", "ids", '"numbers from 1"', "ids",
  "numbers from 1")

--- Returns the hint for an id that is larger than `most`, the last one, or "": ids of files that
-- count from 1 are larger by one. first_id: the number that the file is said to count from.
function table_hints.beyond(id, most, first_id)
  return first_id == 0 and id == most + 1 and table_hints.FROM_1 or ""
end

-- Returns the hint for an id that was refused.
local function of_id(found, expected, first_id)
  local id, most = tonumber(found), tonumber(expected:match "^at most (%d+)")
  return id and most and table_hints.beyond(id, most, first_id) or ""
end

--- Returns the hint to add to a message of ladies.text.read about a field, or "". kinds: those of
-- the columns; first_id: 0 or 1; has_classes: whether a column of labels is one of classes.
function table_hints.of(message, kinds, first_id, has_classes)
  local column, found, expected = message:match ', column (%d+): found "([^"]*).*, expected (.*)$'
  local kind = column and kinds[tonumber(column)]
  if not kind then return "" end
  local is_word = table_header.is_one{found}
  if kind == "id" then return is_word and NAMES or of_id(found, expected, first_id) end
  if kind == "numbers" and column == "1" and is_word then return NAMES end
  if kind ~= "label" or not has_classes then return "" end
  return is_word and CLASSES or tonumber(found) and TARGETS or ""
end

return table_hints

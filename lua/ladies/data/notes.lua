--- Collects notes, lines about what was changed or chosen when a data set was read: they are kept
-- in the field `notes` of the data set, and printed once on stderr.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local tell = require "ladies.base.tell"

local notes = {}

local told, silent = {}, false

--- Adds a line about a data set to `list`; the context is that of ladies.data.checks.
function notes.add(context, list, text, ...)
  list[#list + 1] = core.printable(("%s: %s"):format(context.where, text:format(...)))
end

--- Prints on stderr the lines of `list` that this process has not printed yet.
function notes.tell(list)
  for _, line in ipairs(not silent and list or {}) do
    if not told[line] then tell("%s", line) end
    told[line] = true
  end
end

--- Returns what f(...) returns, and tells none of its notes: they were told before, when the same
-- data set was read.
function notes.silently(f, ...)
  silent = true
  local ok, result = errors.try(f, ...)
  silent = false
  if not ok then errors.pass_on(result) end
  return result
end

return notes

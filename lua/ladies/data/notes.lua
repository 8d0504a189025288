--- What reading a data set has changed or chosen, in a line each: told once on stderr, and kept in
-- `notes` of the data set.

local core = require "ladies_core"
local tell = require "ladies.base.tell"

local notes = {}

local told = {}

--- Adds a line about a data set to `list`; the context is that of ladies.data.checks.
function notes.add(context, list, text, ...)
  list[#list + 1] = core.printable(("%s: %s"):format(context.where, text:format(...)))
end

--- Tells those lines of `list` on stderr that this process has not told yet.
function notes.tell(list)
  for _, line in ipairs(list or {}) do
    if not told[line] then tell("%s", line) end
    told[line] = true
  end
end

return notes

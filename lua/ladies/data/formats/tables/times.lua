--- Reads the times of edges that stand in a table as texts (see ladies.data.edges.dates).

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local dates = require "ladies.data.edges.dates"
local edge_columns = require "ladies.data.edges.columns"

local times = {}

--- times.column(context, title, texts, which) -> Index, integer: the times of edges, from the
-- different texts of a column (ladies.text.names) and an Index of which of them each edge has; and
-- the number from which they are counted.
function times.column(context, title, texts, which)
  local of = {}
  for i = 1, #texts do
    of[i] = dates.time(texts[i])
    if not of[i] then
      checks.fail(context, 'column %s, row %d of the edges: found "%s", expected %s', title,
        which:equals(i):positions()[1], texts[i], dates.EXPECTED)
    end
  end
  local whole, origin = edge_columns.times(context, title, of)
  return #which > 0 and whole[which] or core.index{}, origin
end

return times

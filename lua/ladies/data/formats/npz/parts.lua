--- Reads from an open npz file what it says of nodes that are in the order of parts of the graph
-- (see ladies.data.parts): `part_ends`, the last node of each part, and `former_ids`, the id that
-- each node had before.

local checks = require "ladies.data.checks"

local npz_parts = {}

--- The names of these arrays, as a set.
npz_parts.KNOWN = {part_ends = true, former_ids = true}

--- Adds part_ends and former_ids to the fields of a data set, where the file has them.
function npz_parts.read(context, file, fields)
  if not file:has "part_ends" then return end
  local n, ends = fields.adjacency.n_rows, file:index "part_ends"
  context.keys.part_ends, context.keys.former_ids = "part_ends", "former_ids"
  checks.ids(context, "part_ends", ends, n)
  if #ends == 0 or ends[#ends] ~= n or ends:sort() ~= ends then
    checks.fail(context, "part_ends must ascend to the last node")
  end
  fields.part_ends = ends
  if not file:has "former_ids" then return end
  fields.former_ids = file:index "former_ids"
  checks.length(context, "former_ids", #fields.former_ids, n, "one for each node")
end

return npz_parts

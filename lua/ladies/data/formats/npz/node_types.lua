--- Reads the types of nodes from an open npz file: `node_type`, a whole number from 0 or a text for
-- each node, and `node_type_names`, a text for each number.

local columns = require "ladies.data.edges.columns"
local npz_arrays = require "ladies.data.formats.npz.arrays"

local node_types = {}

--- The names of these arrays, as a set.
node_types.KNOWN = {node_type = true, node_type_names = true}

--- Adds node_types and node_type_names to the fields of a data set, where the file has them.
function node_types.read(context, file, fields)
  if not file:has "node_type" then return end
  context.keys.node_types, context.keys.node_type_names = "node_type", "node_type_names"
  fields.node_types, fields.node_type_names = columns.read_types(context, file, "node_type",
    npz_arrays.texts(context, file, "node_type_names"))
end

return node_types

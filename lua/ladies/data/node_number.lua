--- node_number(where, data, node): the number of a node of a data set that is given by its number
-- or by its name; an error in the name of the function `where`.

local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

return function(where, data, node)
  if type(node) == "string" then
    local id, message = data:find_node(node)
    if id then return id end
    local near = data.node_names and data.node_names:nearest(node)
    errors.fail(("%s: %s%s"):format(where, message,
      near and ('; did you mean "%s"?'):format(near) or ""))
  end
  return options.value(where, "the node", node, ("integer in [1, %d]"):format(data.graph.n_nodes))
end

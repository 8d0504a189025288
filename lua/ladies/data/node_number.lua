--- node_number(where, data, node): the number of a node of a data set that is given by its number
-- or by its name; an error in the name of the function `where`.

local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

return function(where, data, node)
  if type(node) == "string" then
    local id, message = data:find_node(node)
    return id or errors.fail(("%s: %s"):format(where, message))
  end
  return options.value(where, "the node", node, ("integer in [1, %d]"):format(data.graph.n_nodes))
end

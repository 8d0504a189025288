--- Checks the rows that a decoder scores edges by.

local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

--- check_rows(where, edges, h): fails, by a line that begins with `where`, unless h is a Tensor
-- with a row for each node of the Edges.
return function(where, edges, h)
  options.value(where, "h", h, "Tensor")
  if h.n_rows ~= edges.n_nodes then
    errors.fail(("%s: h has %d rows for edges of %d nodes"):format(where, h.n_rows, edges.n_nodes))
  end
end

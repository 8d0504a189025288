--- square(where, P): P, which must be a square Matrix; `where` begins the error otherwise.

local options = require "ladies.base.options"

return function(where, P)
  options.value(where, "P", P, "Matrix")
  if P.n_rows ~= P.n_cols then
    options.fail(("%s: P must be square, got %s"):format(where, P))
  end
  return P
end

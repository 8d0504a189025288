--- in_memory(features): returns features as a Tensor or a Matrix, reading features that stay in a
-- file (Rows) into memory.

local options = require "ladies.base.options"

return function(features)
  return options.class_of(features) == "Rows" and features:to_tensor() or features
end

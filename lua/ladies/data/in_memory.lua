--- in_memory(features): features as a Tensor or a Matrix; those that stay in a file are read.

local options = require "ladies.base.options"

return function(features)
  return options.class_of(features) == "Rows" and features:to_tensor() or features
end

--- seeds(value): value, which must be an Index that is not empty. An empty batch is an error in all
-- samplers: it has no layer to sample, and a mean loss over it is 0/0.

local options = require "ladies.base.options"

return function(value)
  options.value("sampler", "the seeds", value, "Index")
  if #value == 0 then options.fail "sampler: there are no seeds" end
  return value
end

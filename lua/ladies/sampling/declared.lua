--- Declares the options of samplers once for two uses: a sampler's file declares its options with
-- type, default and help, and ladies.experiment.methods makes the settings of experiments of these.
--
-- An option is {name, type, default =, help =}, with the types of ladies.options. One without a
-- default is required, unless its type ends in "or nil"; then `follows` says what it is when it is
-- not given. Options that several samplers have are declared here.

local tables = require "ladies.base.tables"

local declared = {}

local SHARED = {
  samples = {"samples", "positive integer or array of positive integers",
    help = "nodes drawn for a layer, or neighbours for a node; with commas between them, those of "
      .. "each layer, the first nearest the features"},
  layers = {"layers", "positive integer or nil"},
  draw = {"draw", "wor|wr|poisson|systematic|pivotal|sampford", default = "wor",
    help = "how nodes are drawn: without replacement, with it, each on its own, or a given number "
      .. "by one of three rules; see sampling.choice"},
  debias = {"debias", "boolean", default = false, help = "unbiased weights for draw wor"},
  union = {"union", "pre|post", default = "pre",
    help = "self nodes are put in before the draw, or after it as the authors do"},
  self_nodes = {"self_nodes", "none|previous|batch", default = "none",
    help = "nodes that every sampled layer holds besides: none, the previous layer's, the batch's"},
  row_normalize = {"row_normalize", "boolean", default = true,
    help = "sampled rows are divided by their sums"},
  probability = {"probability", "norms|uniform", default = "norms",
    help = "nodes are drawn by the norms of their columns, or all alike"},
  flat = {"flat", "boolean", default = false,
    help = "by the norms of columns, not by their squares"},
  form = {"form", "mean|unbiased", default = "mean",
    help = "the mean over the sample, or the unbiased estimate of P"},
  eta = {"eta", "number in [0, 1]", default = 0.4,
    help = "the share of the uniform distribution in what players draw by"},
  cap = {"cap", "positive number", default = 1, help = "the most that a draw is paid"},
  features = {"features", "Tensor or Matrix or Rows"},
  seed = {"seed", "integer", default = 1},
}

-- The options that each sampler has declared: a table from a sampler's name to a table from an
-- option's name to the option.
local of_sampler = {}

-- Returns the full option for an element of a list, which is the name of a shared option, an
-- option, or a shared option's name with fields that replace the shared ones.
local function whole(one)
  if type(one) == "string" then one = {one} end
  return tables.merged(SHARED[one[1]] or {}, one)
end

--- declared.spec(sampler, list): declares the options of ladies.samplers[sampler], and returns them
-- as options.check takes them. An element of the list is the name of a shared option, an option, or
-- a shared one's name with the default that it has here.
function declared.spec(sampler, list)
  local spec, own = {}, {}
  for _, one in ipairs(list) do
    one = whole(one)
    own[one[1]] = one
    spec[one[1]] = one.default == nil and one[2] or {one[2], one.default}
  end
  of_sampler[sampler] = own
  return spec
end

--- declared.setting(sampler, name [, fields]): turns an option of a sampler, or a shared one where
-- `sampler` is nil, into a setting of an experiment, with these fields in place of its own.
function declared.setting(sampler, name, fields)
  local one = sampler and of_sampler[sampler][name] or SHARED[name]
  one = tables.merged(one, fields)
  one[2] = one[2]:gsub(" or nil$", "")
  return one
end

return declared

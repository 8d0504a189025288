--- Draws the first values of weight matrices (inputs x outputs) from an rng, and writes them in
-- place.

local options = require "ladies.base.options"

local initialize = {}

-- Returns the numbers of inputs (rows) and outputs (columns) of a weight matrix.
local function shape(w)
  options.value("ladies.nn.initialize", "the weights", w, "Tensor")
  return w.n_rows, w.n_cols
end

--- nn.initialize.glorot_uniform(w, rng) -> Tensor: uniform with variance 2 / (inputs + outputs)
-- (Glorot and Bengio, AISTATS 2010, eq. 16).
function initialize.glorot_uniform(w, rng)
  local inputs, outputs = shape(w)
  local bound = math.sqrt(6 / (inputs + outputs))
  return w:uniform_(-bound, bound, rng)
end

--- nn.initialize.glorot_normal(w, rng) -> Tensor: normal with variance 2 / (inputs + outputs)
-- (Glorot and Bengio, AISTATS 2010, eq. 12).
function initialize.glorot_normal(w, rng)
  local inputs, outputs = shape(w)
  return w:normal_(math.sqrt(2 / (inputs + outputs)), rng)
end

--- nn.initialize.kaiming_uniform(w, rng) -> Tensor: uniform with variance 2 / inputs, for ReLU (He
-- et al., ICCV 2015, eq. 10).
function initialize.kaiming_uniform(w, rng)
  local bound = math.sqrt(6 / shape(w))
  return w:uniform_(-bound, bound, rng)
end

--- nn.initialize.kaiming_normal(w, rng) -> Tensor: normal with variance 2 / inputs, for ReLU (He et
-- al., ICCV 2015, eq. 10).
function initialize.kaiming_normal(w, rng)
  local deviation = math.sqrt(2 / shape(w))
  return w:normal_(deviation, rng)
end

--- nn.initialize.zeros(w) -> Tensor: all zeros.
function initialize.zeros(w)
  options.value("ladies.nn.initialize", "the weights", w, "Tensor")
  return w:fill_(0)
end

--- The names of the functions, as a type of ladies.options.
initialize.names = "glorot_uniform|glorot_normal|kaiming_uniform|kaiming_normal|zeros"

--- nn.initialize.by_name(name) -> function: returns the function with this name, which fills w from
-- rng and returns it.
function initialize.by_name(name)
  return initialize[options.value("ladies.nn.initialize", "the name", name, initialize.names)]
end

return initialize

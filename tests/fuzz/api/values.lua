--- Arguments: mostly of the kind that a parameter's name suggests, sometimes anything at all.
local values = {}

local random = math.random

--- Returns a random element of a list.
function values.one_of(list)
  return list[random(#list)]
end

local one_of = values.one_of

-- Few, or more than there is memory for: as a count, what lies between only takes its time.
local NUMBERS = {0, 0, 1, 1, 2, 3, 3, 5, 6, 6, -1, -3, 0.5, 1.5, 1e-3, 1e38, 1 / 0, -1 / 0, 0 / 0,
  2^31, 2^31 - 1, 1 << 31, (1 << 31) - 1, (1 << 31) - 2, 1 << 32, 1 << 53,
  math.maxinteger, math.mininteger, 2^53, 1e300}

local WORDS = {"", "sym", "row", "wor", "wr", "poisson", "pre", "post", "tensor", "index", "id",
  "numbers", "relu", "none", "metis", "random", "auto", "a", "weight", "\0", "\n", "%s%d", "é",
  ("long"):rep(200)}

-- The kinds of value that parameters of these names want: a list, so that a seed gives the same
-- calls in every process.
local KIND_OF = {}
for _, entry in ipairs{
  {"index", "idx dst rows cols nodes pick order part_of columns offsets always first src a b " ..
    "labels predicted truth train val test"},
  {"tensor", "x y t u w v p c logits gradient values scores gain bias weights targets shares " ..
    "means pi tensor features class_weights p_cols mask"},
  {"matrix", "A P adjacency graph adj"},
  {"rng", "rng"},
  {"count", "n k n_rows n_cols size hidden inputs outputs batch_size seed row column " ..
    "classes per_class power entries every last n_ids eval_every patience clusters"},
  {"few", "layers epochs batches max_batches threads draws width height runs passes"},
  {"number", "low high bound deviation lr momentum weight_decay eps slope alpha exponent inside " ..
    "most number value scale share dropout clip min_gain floor factor"},
  {"seconds", "seconds max_seconds"},
  {"path", "path from to base out folder file log member cache"},
  {"call", "f forward backward make sampler progress validation loss on_validation schedule " ..
    "init count_memory after activation"},
  {"data", "data dataset"}, {"model", "model"}, {"parameters", "parameters"},
  {"numbers", "list table ids"}, {"counts", "samples"}, {"parts", "parts"}, {"batch", "batch"},
  {"word", "draw by kind name union way as what text word format norm label split"},
  {"title", "where"},
  {"flag", "replace debias count shared weighted mapped compress symmetric header flag record " ..
    "quiet self_loops resume workers"},
} do
  local kind, names = entry[1], entry[2]
  for name in names:gmatch "%S+" do
    assert(not KIND_OF[name], name)
    KIND_OF[name] = kind
  end
end

-- Tables that do not behave.
local function odd_table(world)
  return one_of{
    function() return {} end,
    function() return {1, 2, 3} end,
    function() return {{1, 2}, {3, 4}} end,
    function() return {{1, 2}, {3}} end,
    function() return {1, nil, 3, n = 3} end,
    function() return {rng = world.pick "Rng"} end,
    function() return {world.pick(), world.pick()} end,
    function() return {{name = "toy", tensor = world.pick "Tensor"}} end,
    function() return setmetatable({}, {__index = world.callback()}) end,
    function() return setmetatable({}, {__tostring = world.callback(), __name = "odd"}) end,
    function() return setmetatable({}, {__len = function() return 1 << 40 end}) end,
    function() return setmetatable({1}, {__call = world.callback()}) end,
    function() local t = {}; t[1], t.self = t, t; return t end,
  }()
end

--- Returns a value of any kind.
function values.any(world)
  local which = random(12)
  if which <= 2 then return nil end
  if which <= 4 then return one_of(NUMBERS) end
  if which == 5 then return one_of(WORDS) end
  if which == 6 then return random(2) == 1 end
  if which == 7 then return odd_table(world) end
  if which == 8 then return world.callback() end
  if which == 9 and random(4) == 1 then return coroutine.create(world.callback()) end
  return world.pick()
end

-- Options that are always given: without them a run goes on for as long as its model gets better,
-- and a round would be spent in one call of ladies.train.
local ALWAYS = {max_batches = true}

local function options(world, names)
  local given = {}
  for _, name in ipairs(names) do
    if ALWAYS[name] or random(3) > 1 then given[name] = values.named(world, name) end
    if ALWAYS[name] and given[name] == nil then given[name] = values.few() end
  end
  if random(40) == 1 then given[one_of(WORDS)] = values.any(world) end
  return random(30) == 1 and setmetatable(given, {__index = world.callback()}) or given
end

--- A small number of repetitions.
function values.few() return random(-1, 5) end

local CLASS_OF = {index = "Index", tensor = "Tensor", matrix = "Matrix", rng = "Rng"}

local MAKE = {
  count = function() return random(4) > 1 and random(0, 7) or one_of(NUMBERS) end,
  few = values.few,
  number = function() return random(3) > 1 and random() or one_of(NUMBERS) end,
  path = function(world) return world.path() end,
  call = function(world) return random(4) == 1 and world.pick "sampler" or world.callback() end,
  data = function(world) return world.pick "data" end,
  model = function(world) return world.pick "model" end,
  batch = function(world) return world.pick "batch" end,
  parameters = function(world)
    local list = {}
    for i = 1, random(0, 3) do list[i] = world.pick "Tensor" end
    return list
  end,
  parts = function(world) return {world.pick "Index", world.pick "Index"} end,
  numbers = function()
    local list = {}
    for i = 1, random(0, 4) do list[i] = random(6) > 1 and random(0, 5) or one_of(NUMBERS) end
    return list
  end,
  word = function() return one_of(WORDS) end,
  flag = function() return random(2) == 1 end,
}

-- One for all layers, or one for each.
function MAKE.counts() return MAKE[random(2) == 1 and "count" or "numbers"]() end

--- A value for a parameter of this name.
function values.named(world, name)
  local kind = KIND_OF[name]
  if kind == "title" then return "here" end
  if kind == "seconds" then return one_of{0, 0.01, -1, 0 / 0, "x"} end   -- or it would wait
  if kind ~= "path" and random(5) == 1 then
    local value = values.any(world)
    local many = kind == "few" and type(value) == "number" and value > 5
    return many and MAKE.few() or value
  end
  if CLASS_OF[kind] then return world.pick(CLASS_OF[kind]) end
  if not kind then return values.any(world) end
  return MAKE[kind](world)
end

--- Arguments for these parameters (see surface.parameters), packed.
function values.arguments(world, parameters)
  local n = #parameters
  if random(8) == 1 then n = random(0, n) elseif random(12) == 1 then n = n + random(3) end
  local list = {n = n}
  for i = 1, n do
    local parameter = parameters[i] or {name = "any"}
    if parameter.modest then
      list[i] = one_of{0, 1, 6, 100, -1, "x"}
    elseif parameter.options and random(10) > 1 then
      list[i] = options(world, parameter.options)
    else
      list[i] = values.named(world, parameter.name)
    end
  end
  return list
end

return values

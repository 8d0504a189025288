--- The objects that calls are made with, and the functions that they are given. Objects come and
-- go: what calls return is kept for a while, and some of it is closed, released or left to
-- finalizers.
local ladies = require "ladies"
local options = require "ladies.base.options"
local toy = require "reference.toy_data"

local one_of = require "fuzz.api.values".one_of
local random = math.random

local MOST_OBJECTS, MOST_ELEMENTS = 80, 1 << 16

-- Returns the class under which the pool keeps a value, or nil for a value that it does not keep.
local function kind_of(value)
  local class = options.class_of(value)
  if class == "Tensor" then
    local ok, size = pcall(function() return value.n_rows * value.n_cols end)
    return ok and size <= MOST_ELEMENTS and class or nil
  end
  return class
end

-- The objects that a round begins with, each with its kind.
local function first_objects(scratch)
  local list = {}
  local function add(value, kind)
    list[#list + 1] = {value = value, kind = kind or kind_of(value)}
  end
  local data = toy.new()
  local P = data.graph:normalize "sym"
  local small = ladies.matrix{n_rows = 6, n_cols = 6, rows = ladies.index{1, 2, 2, 3, 5, 6},
    cols = ladies.index{2, 1, 3, 2, 6, 5}}
  local model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 4, outputs = toy.CLASSES, layers = 2}
  local sampler = ladies.samplers.ladies(P, {samples = {8, 8}})
  local archive = scratch .. "/first.npz"
  ladies.npz.write(archive, {a = ladies.ones(2, 3), b = ladies.range(1, 5), c = {"x", "y"}})
  for _, t in ipairs{ladies.tensor{1, -2, 3}, ladies.ones(6), ladies.zeros(6, 3),
      ladies.ones(3, 6), ladies.full(6, 6, 0.5), ladies.zeros(0), ladies.zeros(0, 3),
      ladies.zeros(3, 0), ladies.ones(1), ladies.tensor{0 / 0, 1 / 0, -1}} do
    add(t)
    add(t:slice(1, t.n_rows))
  end
  for _, shape in ipairs{{6}, {6, 3}, {3, 3}, {1}} do
    add(ladies.full(shape[1], shape[2], 0.1):requires_grad_())
  end
  for _, x in ipairs{ladies.range(1, 6), ladies.index{3, 1, 2}, ladies.index{},
      ladies.index{1, 1, 6}, ladies.index{0, 1, 2, 3, 1, 2}, ladies.range(1, 3), data.train,
      data.labels} do
    add(x)
  end
  for _, a in ipairs{small, P, small:normalize "sym", (small:slice(ladies.range(1, 3))),
      data.graph.adjacency, ladies.sparse(ladies.zeros(0, 3)), ladies.sparse(ladies.ones(6, 6)),
      small:rows(ladies.index{1, 1})} do
    add(a)
  end
  for i = 1, 3 do add(ladies.rng(i)) end
  add(ladies.sampling.alias(ladies.ones(6)))
  add(ladies.text.names())
  add(ladies.npz.open(archive))
  add(ladies.optim.sgd{ladies.ones(3):requires_grad_()})
  add(data, "data")
  add(data.graph, "data")
  add(model, "model")
  add(sampler, "sampler")
  add(sampler(data.train:slice(1, 8), ladies.rng(1)), "batch")
  return list
end

local Error = {}   -- the class of error values that are no strings
Error.__index = Error

--- A world whose files are in the folder `scratch`. `act` does anything, for callbacks.
return function(scratch, act)
  local world = {list = first_objects(scratch), depth = 0, Error = Error}

  --- Keeps a value for later calls, where it is an object.
  function world.keep(value, kind)
    kind = kind or kind_of(value)
    if not kind then return end
    local place = #world.list < MOST_OBJECTS and #world.list + 1 or random(#world.list)
    world.list[place] = {value = value, kind = kind}
  end

  --- A value of this kind, or of any.
  function world.pick(kind)
    local entry
    for _ = 1, kind and 40 or 1 do
      entry = one_of(world.list)
      if entry.kind == kind then break end
    end
    return entry.value
  end

  --- A path in the scratch folder; of a file that is there, often.
  function world.path()
    local name = one_of{"first.npz", "a.npz", "b.csv", "c.mtx", "d.npy", "e.csv.gz", "none", "",
      "sub/f", "g.pkl"}
    return scratch .. "/" .. name
  end

  local function nested()
    if world.depth >= 2 then return end
    world.depth = world.depth + 1
    pcall(act)
    world.depth = world.depth - 1
  end

  local function raise(value) error(value, 0) end

  local DEEDS = {
    function(...) return ... end,
    function(...) return ... end,
    function() return world.pick "Tensor" end,
    function() return world.pick() end,
    function(_, v) return v end,
    function() return one_of{0, 1, -1, 0 / 0, 1 / 0, "x", true} end,
    function() return world.pick "batch" end,
    function() raise "odd: an error" end,
    function() raise(setmetatable({}, Error)) end,
    function() raise(nil) end,
    function(...) if coroutine.isyieldable() then return coroutine.yield(...) end end,
    function(...) return coroutine.yield(...) end,
    function() collectgarbage() end,
    function() if world.step then world.step:close() end end,
    function(x) pcall(function() x:release() end); return x end,
    function(...) nested(); return ... end,
    function() world.finalizer() end,
  }

  --- A function to be called back.
  function world.callback()
    local deed = one_of(DEEDS)
    return function(...)
      world.called = true
      return deed(...)
    end
  end

  --- Garbage whose finalizer uses objects, ends them, or brings them back.
  function world.finalizer()
    local object = world.pick()
    local deed = one_of{
      function() pcall(function() object:release() end) end,
      function() if world.step then world.step:close() end end,
      function() pcall(function() object:close() end) end,
      function() pcall(function() return #object, tostring(object) end) end,
      function() world.keep(object) end,
      nested,
    }
    setmetatable({object}, {__gc = deed})
  end

  return world
end

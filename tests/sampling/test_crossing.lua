--- Tests values that cross into a worker and back: which arrive, which are shared, which are
-- refused.
local lu = require "luaunit"
local core = require "ladies_core"
local every_allocation = require "tools.every_allocation"
local ladies = require "ladies"

local tests = {}

-- Returns what use(value) gives in a worker.
local function there(value, use)
  local make = function(crossed) return function() return use(crossed) end end
  local workers <close> = core.workers(make, value, {threads = 1, first = 1, last = 1, ahead = 1})
  return workers:next()
end

-- Returns the value after a journey into a worker and back.
local function back(value) return there(value, function(crossed) return crossed end) end

-- ---------------------------------------------------------------- plain values

function tests.test_plain_values()
  local values = {
    false, true, 0, -1, math.maxinteger, math.mininteger, 0.0, -0.0, 1.5, math.huge, -math.huge,
    2^53, "", "text", "zero \0 inside", ("long "):rep(10000),
  }
  for i, value in ipairs(values) do
    local found = back(value)
    lu.assertEquals(found, value, "value " .. i)
    lu.assertEquals(math.type(found), math.type(value))
  end
  lu.assertEquals(1 / back(-0.0), -math.huge)
  lu.assertNil(there("x", function() return nil end))
  local nan = back(0 / 0)
  lu.assertTrue(nan ~= nan)
end

function tests.test_tables_keep_their_shape()
  local inner = {1, 2, three = {4}}
  local t = {inner, inner, [1.5] = "x", [true] = inner.three, [inner] = "a table as key"}
  t.own = t
  local found = back(t)
  lu.assertTrue(rawequal(found.own, found))
  lu.assertTrue(rawequal(found[1], found[2]))
  lu.assertTrue(rawequal(found[true], found[1].three))
  lu.assertEquals(found[found[1]], "a table as key")
  lu.assertEquals(found[1.5], "x")
  lu.assertEquals(found[1], inner)
  lu.assertFalse(rawequal(found[1], inner))
end

function tests.test_metatables()
  local Class = {name = "mine"}
  Class.__index = Class
  function Class:twice() return self.n * 2, self.name end
  local found = back{setmetatable({n = 3}, Class), setmetatable({n = 4}, Class)}
  lu.assertEquals({found[1]:twice()}, {6, "mine"})
  lu.assertTrue(rawequal(getmetatable(found[1]), getmetatable(found[2])))
  -- One that is a loaded module is that module there.
  local options = require "ladies.base.options"
  lu.assertTrue(there(setmetatable({}, options), function(t)
    return getmetatable(t) == require "ladies.base.options"
  end))
end

-- ---------------------------------------------------------------- functions

local function counter()
  local n = 0
  return function() n = n + 1 return n end, function() return n end
end

function tests.test_functions_share_their_upvalues()
  local add, get = counter()
  add()
  local found = there({add, get}, function(f) return {f[1](), f[1](), f[2]()} end)
  lu.assertEquals(found, {2, 3, 3})
  lu.assertEquals(get(), 1)                                -- the original counts on its own
end

function tests.test_recursive_functions()
  local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
  lu.assertEquals(there(fib, function(f) return f(15) end), 610)
  local even, odd
  function even(n) return n == 0 or odd(n - 1) end
  function odd(n) return n ~= 0 and even(n - 1) end
  lu.assertTrue(there(even, function(f) return f(10) end))
end

--- Modules, the globals and C functions are those of the worker's state.
function tests.test_modules_cross_by_name()
  local options = require "ladies.base.options"
  local sqrt, choice, tensor = math.sqrt, ladies.sampling.choice, ladies.tensor
  lu.assertTrue(there(0, function()
    return options == require "ladies.base.options" and options ~= nil and _ENV == _G
      and sqrt == math.sqrt and tensor == require "ladies_core".tensor
      and choice == require "ladies_core".sampling.choice and ladies == require "ladies"
  end))
  lu.assertEquals(there(print, type), "function")
  lu.assertTrue(rawequal(back(ladies), ladies))
end

function tests.test_globals_stay_behind()
  rawset(_G, "left_behind", 1)
  lu.assertEquals(there(0, function() return type(_G.left_behind) end), "nil")
  rawset(_G, "left_behind", nil)
end

-- ---------------------------------------------------------------- our objects

function tests.test_objects()
  local A = ladies.matrix{n_rows = 2, n_cols = 3, rows = ladies.index{1, 2, 2},
    cols = ladies.index{3, 1, 2}, values = ladies.tensor{1, 2, 3}}
  local objects = {
    ladies.tensor{{1, 2}, {3, 4}}, ladies.tensor{5, 6}:slice(2, 2), ladies.index{3, 1, 2},
    ladies.tensor{}, ladies.index{}, A, A:scale_cols(ladies.tensor{2, 3, 4}):row_normalize(),
    A:transpose(),
  }
  local found = there(objects, function(list)
    local hashes = {}
    for i, object in ipairs(list) do hashes[i] = object:hash() end
    return {hashes = hashes, list = list}
  end)
  for i, object in ipairs(objects) do
    lu.assertEquals(found.hashes[i], object:hash(), tostring(object))
    lu.assertEquals(found.list[i]:hash(), object:hash(), tostring(object))
  end
end

--- Nothing is copied: the bytes in use hardly grow.
function tests.test_objects_are_shared()
  local t = ladies.zeros(1 << 20)
  collectgarbage()
  local before = core.memory().tensor
  local found = back{t, t}
  lu.assertTrue(rawequal(found[1], found[2]))
  lu.assertTrue(core.memory().tensor - before < 100000, core.memory().tensor - before)
end

function tests.test_generators_cross_by_value()
  local rng = ladies.rng(5)
  rng:uniform()
  lu.assertEquals(tostring(back(rng)), tostring(rng))
  local drawn = there(rng, function(r) return r:uniform() end)
  lu.assertEquals(drawn, rng:uniform())
end

function tests.test_alias_tables()
  local table = ladies.sampling.alias(ladies.tensor{1, 0, 3})
  local function draw(p)
    return (ladies.sampling.choice(p, 5, {draw = "wr", rng = ladies.rng(1)}))
  end
  lu.assertEquals(there(table, draw):to_table(), draw(table):to_table())
end

-- ---------------------------------------------------------------- frozen

function tests.test_frozen_tensors()
  local t = ladies.tensor{{1, 2}, {3, 4}}
  local row, column = t[1], ladies.tensor{1, 2, 3}
  back{t, column}
  local one, rng = ladies.index{1}, ladies.rng(1)
  for name, change in pairs{
    set_ = function() t:set_(1, 1, 0) end,
    element = function() column[1] = 0 end,
    view = function() row[1] = 0 end,
    fill_ = function() t:fill_(0) end,
    copy_ = function() t:copy_(ladies.zeros(2, 2)) end,
    normal_ = function() t:normal_(1, rng) end,
    uniform_ = function() t:uniform_(0, 1, rng) end,
    add_at_ = function() column:add_at_(one, 1) end,
    mul_at_ = function() column:mul_at_(one, 2) end,
    copy_rows_ = function() t:copy_rows_(one, ladies.zeros(1, 2)) end,
    requires_grad_ = function() t:requires_grad_() end,
    optimizer = function() ladies.optim.sgd{t} end,
  } do
    local ok, message = pcall(change)
    lu.assertFalse(ok, name)
    lu.assertStrContains(message, "frozen: others, such as workers or draw_cols, read it; change a "
      .. ":clone()", nil, nil, name)
  end
  lu.assertEquals(t:to_table(), {{1, 2}, {3, 4}})
  lu.assertEquals(t:clone():fill_(7):to_table(), {{7, 7}, {7, 7}})
  lu.assertEquals((t + 1):fill_(0):sum():item(), 0)
end

--- A tensor is frozen in the worker, too, and so is one that comes out of a worker.
function tests.test_frozen_in_the_worker()
  local message = there(ladies.zeros(2), function(t) return select(2, pcall(t.fill_, t, 1)) end)
  lu.assertStrContains(message, "frozen")
  local made = there(0, function() return ladies.zeros(2) end)
  lu.assertFalse((pcall(made.fill_, made, 1)))
end

--- A matrix that crosses freezes the tensor of its values, which must not change either.
function tests.test_frozen_values()
  local values = ladies.tensor{1, 2}
  local A = ladies.matrix{n_rows = 2, n_cols = 2, rows = ladies.index{1, 2},
    cols = ladies.index{1, 2}}:with_values(values)
  back(A)
  lu.assertErrorMsgContains("frozen", values.fill_, values, 0)
end

-- ---------------------------------------------------------------- refusals

local function refused(value)
  local ok, message = pcall(back, value)
  lu.assertFalse(ok)
  return message
end

function tests.test_refusals_name_the_way()
  local file <close> = io.tmpfile()
  local cache = {deep = {{file = file}}}
  lu.assertEquals(refused(function() return cache end),
    "upvalue 'cache.deep[1].file' is a file, which cannot cross into a worker")
  local function helper() return cache end
  lu.assertEquals(refused{draw = function() return helper end},
    "field 'draw', upvalue 'helper', upvalue 'cache.deep[1].file' is a file, "
      .. "which cannot cross into a worker")
  lu.assertEquals(refused(file), "it is a file, which cannot cross into a worker")
  lu.assertEquals(refused(setmetatable({}, {__index = {file}})),
    "field 'metatable.__index[1]' is a file, which cannot cross into a worker")
end

function tests.test_refusals()
  local w = ladies.ones(2):requires_grad_()
  local v = ladies.ones(2)
  local A = ladies.sparse(ladies.ones(1, 2))
  local adam = ladies.optim.adam{v}
  local step <close> = ladies.step()
  local gone = ladies.zeros(1)
  gone:release()
  local pattern = ("a b"):gmatch "%a"
  for wanted, value in pairs{
    ["a coroutine"] = coroutine.create(print),
    ["a table with a finalizer"] = setmetatable({}, {__gc = function() end}),
    ["a C function of no loaded module"] = pattern,
    ["class Tensor (the tensor 2 requires a gradient; use :detach():clone())"] = w,
    ["class Tensor (the tensor 2 shares the memory of an optimizer)"] = v:detach(),
    ["class Tensor (it has been released)"] = gone,
    ["class Tensor (the tensor 1 belongs to a step; use :detach():clone())"] = w:sum(),
    ["class Matrix (the matrix carries a gradient; use :detach())"] = A:with_values(w),
    ["class Optimizer"] = adam,
    ["class Step"] = step,
    ["class Names"] = core.text.names(),
  } do
    lu.assertStrContains(refused{x = value}, "field 'x' is ")
    lu.assertStrContains(refused{x = value}, wanted)
  end
  lu.assertStrContains(refused(v), "requires a gradient")
end

function tests.test_refusals_on_the_way_out()
  local ok, message = pcall(there, 0, function() return {stats = {f = io.stdout}} end)
  lu.assertFalse(ok)
  lu.assertEquals(message, "field 'stats.f' is a file, which cannot cross out of a worker")
end

function tests.test_depth()
  local chain = {}
  for _ = 1, 1000 do chain = {chain} end
  lu.assertEquals(#back(chain), 1)
  for _ = 1, 3000 do chain = {chain} end
  lu.assertStrContains(refused(chain), "nested deeper than 2000")
end

--- A module that the worker cannot load is an error.
function tests.test_modules_that_are_not_there()
  package.loaded["tests.nowhere"] = {x = 1}
  local message = refused(package.loaded["tests.nowhere"])
  package.loaded["tests.nowhere"] = nil
  lu.assertStrContains(message, "module 'tests.nowhere' not found")
end

--- Memory that runs out anywhere on the way is an error, and nothing leaks.
function tests.test_failing_allocations()
  local value = {ladies.zeros(3), ladies.index{1}, {1, 2, 3}, function() return ladies end}
  back(value)
  lu.assertTrue(every_allocation(function() back(value) end) > 6)
end

return tests

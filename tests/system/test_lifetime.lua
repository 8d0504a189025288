--- Objects after their end, finalizers in the middle of operations, and callbacks that go wrong.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local shell = require "tools.shell"
local fixture = require "reference.fixture"

local tests = {}

local function fails(text, f, ...)
  lu.assertErrorMsgContains(text, f, ...)
end

-- --- closed objects ----------------------------------------------------------------------------

local function one_of_each()
  local fixtures <close> = fixture.open "pickles"
  local path = os.tmpname()
  ladies.npz.write(path, {a = ladies.ones(2)})
  local all = {
    Tensor = ladies.ones(2),
    Index = ladies.range(1, 3),
    Matrix = ladies.sparse(ladies.ones(2, 2)),
    Alias = ladies.sampling.alias(ladies.ones(2)),
    Names = ladies.text.names(),
    Npz = ladies.npz.open(path),
    Zip = core.zip.open(path),
    PickledArray = ladies.pickle.decode(fixtures:text "arrays_2").vector,
    Optimizer = ladies.optim.adam{ladies.ones(2):requires_grad_()},
    Workers = core.workers(function() return function(n) return n end end, 0,
      {threads = 1, first = 1, last = 1, ahead = 1}),
  }
  os.remove(path)
  return all
end

-- Objects as a finalizer finds them that runs after their own: it was set first.
local function after_their_end(make)
  local found
  do
    local holder = setmetatable({}, {__gc = function(holder) found = holder end})
    for name, object in pairs(make()) do holder[name] = object end
  end
  collectgarbage()
  collectgarbage()
  return found
end

function tests.test_a_closed_object_says_so()
  local classes = 0
  for class, object in pairs(after_their_end(one_of_each)) do
    local text = class == "Tensor" and "released" or "closed"
    local meta = debug.getmetatable(object)
    lu.assertEquals(meta.__name, "ladies." .. class)
    for name, method in pairs(meta.__methods) do
      if name ~= "close" and name ~= "release" then fails(text, method, object) end
    end
    if meta.__len then fails(text, function() return #object end) end
    if meta.__tostring then lu.assertEquals(tostring(object), class .. ", " .. text) end
    if #meta.__fields > 0 then fails(text, function() return object[meta.__fields[1]] end) end
    classes = classes + 1
  end
  lu.assertEquals(classes, 10)
end

function tests.test_a_closed_object_as_an_argument()
  local closed, rng = after_their_end(one_of_each), ladies.rng(1)
  fails("the Index is closed", function() return closed.Index[1] end)
  fails("the Index is closed", function() return ladies.ones(3)[closed.Index] end)
  fails("the Index is closed", function() return ladies.range(1, 2) .. closed.Index end)
  fails("the Alias is closed", ladies.sampling.choice, closed.Alias, 1, {rng = rng})
  fails("the Index is closed", ladies.sampling.choice, ladies.ones(3), 1,
    {rng = rng, always = closed.Index})
  fails("the Names is closed", ladies.text.read, "none.csv", {columns = {closed.Names}})
end

-- --- finalizers in the middle of operations ----------------------------------------------------

local n = 1000
local values, backwards = {}, {}
for i = 1, n do values[i], backwards[i] = i, n + 1 - i end
local source, turn = ladies.tensor(values), ladies.index(backwards)

-- Gathers from t until the finalizer that ends it has run; element 700 of every result is 301.
local function gather_meanwhile(make, finalize)
  local ended = 0
  for _ = 1, 60 do
    local t, step = make()
    setmetatable({t, step}, {__gc = finalize})
    for _ = 1, 200 do
      local ok, turned = pcall(t.rows, t, turn)
      if not ok then
        ended = ended + 1
        break
      end
      local read, number = pcall(turned.get, turned, 700, 1)
      lu.assertTrue(not read or number == 301)
    end
    if step then step:close() end
  end
  return ended
end

local function with_an_eager_collector(f, ...)
  collectgarbage("incremental", 10, 1000, 1)
  local result = f(...)
  collectgarbage("incremental", 200, 100, 13)
  return result
end

function tests.test_a_finalizer_releases_a_tensor_in_use()
  local ended = with_an_eager_collector(gather_meanwhile, function() return source:clone() end,
    function(holder) holder[1]:release() end)
  lu.assertTrue(ended > 0)
end

--- The step ends when the next one opens.
function tests.test_a_finalizer_closes_a_step_in_use()
  with_an_eager_collector(gather_meanwhile, function()
    local step = ladies.step()
    return source * 1, step
  end, function(holder) holder[2]:close() end)
  local _ <close> = ladies.step()
end

--- An object that a finalizer made reachable again meets its own at any later moment.
function tests.test_a_finalizer_brings_a_tensor_back()
  local back = {}
  with_an_eager_collector(function()
    for _ = 1, 3000 do
      setmetatable({source:clone()}, {__gc = function(holder) back[#back + 1] = holder[1] end})
      local t = table.remove(back)
      local ok, turned = pcall(source.rows, t, turn)
      if ok then lu.assertEquals(turned:get(700, 1), 301) end
    end
  end)
end

function tests.test_a_finalizer_makes_objects()
  local made
  setmetatable({}, {__gc = function() made = ladies.ones(2) + 1 end})
  collectgarbage()
  lu.assertEquals(made:to_table(), {2, 2})
end

-- --- when garbage is collected -----------------------------------------------------------------

-- Steps that need 192 MiB each. It prints how often Lua's collector went through its heap in eight
-- of them that let go of everything, and the most MiB there were in eight that leave garbage.
local LARGE_STEPS = [[
local ladies = require "ladies"
local collections, most = 0, 0
local function watch()
  setmetatable({}, {__gc = function()
    collections = collections + 1
    watch()
  end})
end
local function step()
  local all = {}
  for i = 1, 12 do all[i] = ladies.zeros(1 << 12, 1 << 10) end
  most = math.max(most, ladies.memory().total >> 20)
  return all
end
local function steps()
  for _ = 1, 8 do
    for _, t in ipairs(step()) do t:release() end
  end
end
steps()
watch()
steps()
local seen = collections
for _ = 1, 8 do step() end
print(seen, most)]]

--- The memory of a step is not looked through for garbage each time where there was none. What is
-- garbage afterwards is still found before there is much more of it than a step needs.
function tests.test_growth_that_is_no_garbage()
  local seen, most = shell.run_ladies{"-e", LARGE_STEPS}:match "^(%d+)\t(%d+)\n$"
  lu.assertTrue(tonumber(seen) <= 1, seen)
  lu.assertTrue(tonumber(most) <= 3 * 192, most)
end

function tests.test_what_finalizers_let_go_of_is_freed_by_the_next_call()
  collectgarbage()
  local before = ladies.memory().total
  local t = ladies.ones(1000, 100)
  setmetatable({t}, {__gc = function(holder) holder[1]:release() end})
  collectgarbage()
  fails("released", t.sum, t)
  lu.assertEquals(ladies.memory().total, before)
end

-- --- callbacks ---------------------------------------------------------------------------------

local function doubled(backward, forward)
  return ladies.op{name = "double", forward = forward or function(x) return x * 2 end,
    backward = backward or function(gradient) return gradient * 2 end}
end

local w = ladies.ones(3):requires_grad_()

function tests.test_an_error_without_a_text_in_backward()
  local evil = setmetatable({}, {__tostring = function() error {} end})
  do
    local _ <close> = ladies.step()
    local loss = doubled(function() error(evil) end)(w):sum()
    fails("op double: an error without a text", loss.backward, loss)
  end
  local _ <close> = ladies.step()
  doubled()(w):sum():backward()
  lu.assertEquals(w.grad:to_table(), {2, 2, 2})
end

function tests.test_forward_ends_its_input()
  local t = ladies.ones(3)
  fails("the tensor has been released", doubled(nil, function(x)
    x:release()
    return ladies.ones(3)
  end), t)
  local step <close> = ladies.step()
  fails("closed step", doubled(nil, function()
    step:close()
    return ladies.ones(3)
  end), w * 1)
end

function tests.test_backward_closes_the_step()
  local step = ladies.step()
  local x = w * 1
  local loss = doubled(function(gradient)
    step:close()
    return gradient
  end)(x):sum()
  loss:backward()
  fails("closed step", x.sum, x)
  local _ <close> = ladies.step()
end

function tests.test_a_yield_in_a_callback()
  local run = coroutine.wrap(function()
    local _ <close> = ladies.step()
    local forward = doubled(nil, coroutine.yield)
    fails("attempt to yield across a C-call boundary", forward, w)
    local loss = doubled(coroutine.yield)(w):sum()
    fails("op double: attempt to yield across a C-call boundary", loss.backward, loss)
    return "done"
  end)
  lu.assertEquals(run(), "done")
end

function tests.test_a_coroutine_that_is_dropped_with_an_open_step()
  local run = coroutine.wrap(function()
    local _ <close> = ladies.step()
    coroutine.yield(w * 2)
  end)
  local x = run()
  fails("another step is open", ladies.step)
  run = nil -- luacheck: ignore
  do local _ <close> = ladies.step() end
  fails("closed step", x.sum, x)
end

--- Code in backward runs in the coroutine that called it, where Ctrl-C finds it.
function tests.test_an_interruption_of_backward_in_a_coroutine()
  local script <close> = shell.file [[
    local ladies = require "ladies"
    local w = ladies.ones(3):requires_grad_()
    local op = ladies.op{name = "spin", forward = function(x) return x * 2 end,
      backward = function()
        io.popen("kill -INT $PPID"):close()
        while true do end
      end}
    coroutine.wrap(function()
      local _ <close> = ladies.step()
      local loss = op(w):sum()
      local ok, e = pcall(loss.backward, loss)
      print(ok, e, require "ladies_core".is_interruption(e))
    end)()
  ]]
  local out = shell.run{"timeout", "20", shell.ladies, script.path}
  lu.assertStrMatches(out, "false\t.*:%d+: interrupted!\ttrue\n")
end

return tests

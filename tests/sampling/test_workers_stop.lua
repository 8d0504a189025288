--- Tests how workers end: no thread and no memory stays behind, whatever ends the loop.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local no_memory = require "tools.no_memory"
local shell = require "tools.shell"
local toy = require "reference.toy_data"

local tests = {}

local data = toy.new()
local sampler = ladies.samplers.ladies(data.graph:normalize "sym", {samples = {16, 16}})
local ids = data.train

local function threads() return #core.files "/proc/self/task" end

-- Starts the pool's threads, which stay.
ladies.zeros(1 << 18):normal_(1, ladies.rng(1))

-- An iterator with workers, after its first two batches.
local function begun(own)
  local opts = {batch_size = 7, sampler = sampler, epochs = 1000, workers = 2}
  for key, value in pairs(own or {}) do opts[key] = value end
  local iterator = ladies.batches(ids, opts)
  iterator()
  iterator()
  return iterator
end

-- Asserts that there are n threads. The system lists one for a moment after it has been joined.
local function assert_threads(n)
  local began = core.clock()
  while threads() ~= n and core.clock() - began < 10 do end
  lu.assertEquals(threads(), n)
end

--- Asserts that f leaves as many threads as there were.
local function leaves_no_thread(f)
  collectgarbage()
  local before = threads()
  f(before)
  assert_threads(before)
end

function tests.test_end_of_the_loop()
  leaves_no_thread(function()
    for _ in ladies.batches(ids, {batch_size = 7, sampler = sampler, workers = 3}) do end
  end)
end

-- Ways out of the loop of README, and then a local where its own were.
local ways_out = {
  ["break"] = function(opts)
    for batch in ladies.batches(ids, opts) do
      local _ <close> = core.step()
      if batch.index == 3 then break end
    end
    local _ <close> = core.step()
  end,
  ["return"] = function(opts)
    for batch in ladies.batches(ids, opts) do
      local _ <close> = core.step()
      if batch.index == 3 then return end
    end
  end,
  ["goto"] = function(opts)
    for batch in ladies.batches(ids, opts) do
      local _ <close> = core.step()
      if batch.index < 3 then goto continue end
      if batch.index == 3 then goto out end
      error "too far"
      ::continue::
    end
    ::out::
    local _ <close> = core.step()
  end,
  ["error"] = function(opts)
    lu.assertFalse(pcall(function()
      for batch in ladies.batches(ids, opts) do
        local _ <close> = core.step()
        if batch.index == 3 then error "no luck" end
      end
    end))
  end,
  ["a coroutine that is dropped"] = function(opts)
    local loop = coroutine.wrap(function()
      for batch in ladies.batches(ids, opts) do coroutine.yield(batch) end
    end)
    loop()
    loop()
  end,
  ["an inner break"] = function(opts)
    for outer in ladies.batches(ids, opts) do
      for batch in ladies.batches(ids, opts) do
        local _ <close> = core.step()
        if batch.index == 2 then break end
      end
      if outer.index == 3 then break end
    end
    local _ <close> = core.step()
  end,
}

--- However the loop is left, its step is closed at once, nothing later fails, and the threads end
-- with the next collection, or with the next loop that has some.
function tests.test_ways_out_of_the_loop()
  for workers = 0, 3, 3 do
    local opts = {batch_size = 7, sampler = sampler, workers = workers, epochs = 1000}
    for name, leave in pairs(ways_out) do
      leaves_no_thread(function(before)
        leave(opts)
        core.step():close()
        lu.assertTrue(threads() <= before + 2 * workers, name)
        collectgarbage()
      end)
    end
    leaves_no_thread(function(before)
      for _ = 1, 5 do ways_out["break"](opts) end
      assert_threads(before + workers)
      collectgarbage()
    end)
  end
end

function tests.test_close_and_collection()
  leaves_no_thread(function(before)
    local iterator = begun()
    assert_threads(before + 2)
    iterator:close()
    assert_threads(before)
    iterator:close()
  end)
  leaves_no_thread(function()
    local iterator <close> = begun()
    lu.assertNotNil(iterator())
  end)
  leaves_no_thread(function()
    begun()
    collectgarbage()
  end)
end

--- An iterator that was closed goes on where it was.
function tests.test_going_on_after_close()
  local opts = {batch_size = 7, sampler = sampler, epochs = 2, workers = 2}
  local seen = {}
  local iterator <close> = ladies.batches(ids, opts)
  for batch in iterator do
    seen[#seen + 1] = batch.epoch * 100 + batch.index
    if #seen % 5 == 0 then iterator:close() end
  end
  local want = {}
  for batch in ladies.batches(ids, opts) do want[#want + 1] = batch.epoch * 100 + batch.index end
  lu.assertEquals(seen, want)
end

--- Loaders that are opened and dropped half-way, one after the other (LADIES_LOADERS of them).
function tests.test_dropped_loaders()
  local n = math.tointeger(os.getenv "LADIES_LOADERS") or 40
  local function held()
    core.memory_trim()
    return core.memory().total
  end
  leaves_no_thread(function(before)
    begun():close()
    local bytes, most = held(), 0
    for _ = 1, n do
      begun()
      most = math.max(most, threads() - before)
    end
    lu.assertTrue(most <= 2, most)                        -- forgotten ones do not pile up
    lu.assertEquals(held(), bytes)
  end)
end

--- The end of the program does not wait for a loop to be closed.
function tests.test_os_exit()
  local script <close> = shell.file([[
    package.path = "]] .. here .. [[/?.lua;" .. package.path
    local ladies, toy = require "ladies", require "reference.toy_data"
    local data = toy.new()
    local sampler = toy.neighbourhoods(data.graph:normalize "sym", 2)
    local iterator = ladies.batches(data.train, {batch_size = 7, sampler = sampler, workers = 3,
      epochs = 1000})
    for _ = 1, 3 do iterator() end
    if arg[1] == "error" then error "broken" end
    if arg[1] then os.exit(3, arg[1] == "close") end
  ]])
  for how, want in pairs{close = 3, exit = 3, error = 1} do
    local _, message, status = shell.run_ladies{script.path, how}
    lu.assertEquals(status, want, message)
    lu.assertEquals(message:find "broken" ~= nil, how == "error")
  end
  shell.silent(shell.run_ladies{script.path})
end

-- ---------------------------------------------------------------- errors

--- An error arrives as it does without workers, with the sampler's name, its batch and its line,
-- and not before.
function tests.test_errors()
  local function deep(rng) if rng:fork(1):below(40) == 1 then error "no luck" end end
  local function failing(seeds, rng)
    deep(rng)
    return sampler(seeds, rng)
  end
  local function first_error(workers)
    local seen, message = 0, nil
    local opts = {batch_size = 3, sampler = failing, epochs = 20, workers = workers}
    leaves_no_thread(function()
      local ok
      ok, message = pcall(function()
        for _ in ladies.batches(ids, opts) do seen = seen + 1 end
      end)
      lu.assertFalse(ok)
    end)
    return seen, message
  end
  local seen, message = first_error(0)
  lu.assertTrue(seen > 1)
  for _, workers in ipairs{1, 3} do
    local found, text = first_error(workers)
    lu.assertEquals(found, seen)
    lu.assertEquals(text, message)
    lu.assertStrMatches(text, "[^ ]*test_workers_stop%.lua:%d+: sampler of .*, epoch %d+, "
      .. "batch %d+: no luck")
  end
end

--- Errors that are no text come out of workers as they are, where they can, and results that are no
-- mini-batch are refused.
function tests.test_errors_of_other_kinds()
  local function message_of(wrong)
    local first = true
    local _, message = pcall(function()
      for _ in ladies.batches(ids, {batch_size = 7, workers = 1, sampler = function(seeds, rng)
        if #seeds < 7 then return wrong() end
        return sampler(seeds, rng)
      end}) do first = false end
    end)
    lu.assertFalse(first)
    return message
  end
  lu.assertEquals(message_of(function() error{code = 7} end), {code = 7})
  lu.assertStrContains(message_of(function() error(io.stdout) end), "file (0x")
  lu.assertStrContains(message_of(function() error{f = io.stdout} end),
    "field 'error.f' is a file, which cannot cross out of a worker")
  lu.assertStrContains(message_of(function() return 7 end),
    "it must return a mini-batch, got a number")
  lu.assertStrContains(message_of(function() return {f = io.stdout} end),
    "field 'f' is a file, which cannot cross out of a worker")
end

--- After an error the next call tries the same batch again, as without workers.
function tests.test_going_on_after_an_error()
  local n = 0
  local path = os.tmpname()
  local function failing(seeds, rng)
    if #seeds < 7 and io.open(path) then error "not now" end
    return sampler(seeds, rng)
  end
  local iterator <close> = ladies.batches(ids, {batch_size = 7, sampler = failing, workers = 2})
  for _ = 1, 8 do
    lu.assertNotNil(iterator())
    n = n + 1
  end
  lu.assertErrorMsgContains("not now", iterator)
  lu.assertErrorMsgContains("not now", iterator)
  os.remove(path)
  lu.assertEquals(iterator().index, 9)
  lu.assertNil(iterator())
end

-- ---------------------------------------------------------------- stopping what runs

--- A sampler that never ends is stopped wherever it is: in Lua, in C, in code that catches errors.
function tests.test_endless_samplers()
  local function endless(how)
    return function(seeds, rng)
      while #seeds < 7 do
        if how == "pcall" then pcall(error, "x") end
        if how == "c" then ladies.zeros(1 << 16):normal_(1, rng) end
        if how == "coroutine" then coroutine.wrap(function() while true do end end)() end
        if how == "protected" then pcall(function() while true do end end) end
      end
      return sampler(seeds, rng)
    end
  end
  for _, how in ipairs{"lua", "pcall", "c", "coroutine", "protected"} do
    leaves_no_thread(function()
      local iterator = ladies.batches(ids, {batch_size = 7, sampler = endless(how), workers = 2})
      for _ = 1, 8 do iterator() end
      local began = core.clock()
      iterator:close()
      lu.assertTrue(core.clock() - began < 20, how)
    end)
  end
end

local function script(body)
  return shell.file([[
    package.path = "]] .. here .. [[/?.lua;" .. package.path
    local ladies, toy = require "ladies", require "reference.toy_data"
    local data = toy.new()
    local sampler = toy.neighbourhoods(data.graph:normalize "sym", 2)
    local function threads() return #require "ladies_core".files "/proc/self/task" end
    ladies.zeros(1 << 18):normal_(1, ladies.rng(1))       -- starts the pool's threads
    local before
  ]] .. body)
end

--- Ctrl-C while the loop waits for a worker whose sampler never ends.
function tests.test_ctrl_c()
  local file <close> = script[[
    before = threads()
    local ok, message = pcall(function()
      for batch in ladies.batches(data.train, {batch_size = 7, workers = 2,
        sampler = function(seeds)
        while #seeds < 7 do end
        return sampler(seeds)
      end}) do
        if batch.index == 8 then print "waiting" io.stdout:flush() end
      end
    end)
    local core = require "ladies_core"
    local began = core.clock()
    while threads() > before and core.clock() - began < 10 do end
    print(ok, message, threads() - before)
  ]]
  lu.assertNil(shell.talk([[
    expect waiting
    pause 30
    send \x03
    expect interrupted!
    expect \t0\r\n
    exit 0
  ]], {file.path}))
end

--- Memory may end at any moment of a worker's life, also while it opens its libraries, and while
-- the error of its job is made a text.
function tests.test_no_memory()
  no_memory([[
    local workers <close> = core.workers(function()
      return function() error(function() end) end
    end, nil, {threads = 1, first = 1, last = 2, ahead = 1})
    for _ = 1, 2 do
      local ok, message = pcall(workers.next, workers)
      assert(not ok)
      if not message:find "function: " then error(message, 0) end
    end
  ]], 3)
end

--- A worker needs no address space for threads of OpenBLAS, which was loaded before it.
function tests.test_limited_address_space()
  local build_type = os.getenv "LADIES_BUILD_TYPE"
  if build_type == "asan" or build_type == "tsan" then return end
  local file <close> = shell.file[[
    local workers <close> = require "ladies_core".workers(function()
      local check = require "ladies.base.address_space"
      return function() return type(check) end
    end, nil, {threads = 1, first = 1, last = 1, ahead = 1})
    print(workers:next())
  ]]
  lu.assertEquals(shell.silent(shell.run({"sh", "-c",
    'ulimit -v 200000; exec "$@"', "sh", shell.ladies, file.path})), "function\n")
end

--- The last results have their place also where no number is larger.
function tests.test_largest_number()
  local workers <close> = core.workers(function() return function(n) return n end end, nil,
    {threads = 2, first = math.maxinteger - 2, last = math.maxinteger, ahead = 3})
  for back = 2, 0, -1 do lu.assertEquals(workers:next(), math.maxinteger - back) end
  lu.assertNil(workers:next())
end

--- Prints of workers and of the loop come out in whole lines, and so do their lines on stderr.
function tests.test_printing()
  local file <close> = script[[
    for _ in ladies.batches(data.train, {batch_size = 1, workers = 3, sampler = function(seeds)
      print("seed", #seeds, nil, ("x"):rep(100))
      io.write(("y"):rep(100) .. "\n")
      io.stderr:write "error\n"
      return sampler(seeds)
    end}) do end
  ]]
  local out, err = shell.run_ladies{file.path}
  local lines = {}
  for line in out:gmatch "[^\n]*\n" do lines[line] = (lines[line] or 0) + 1 end
  -- 60 batches, of which the 1st, 2nd, 3rd, 5th, 9th, 17th and 33rd are drawn twice.
  lu.assertEquals(lines, {["seed\t1\tnil\t" .. ("x"):rep(100) .. "\n"] = 67,
    [("y"):rep(100) .. "\n"] = 67})
  lu.assertEquals(err, ("error\n"):rep(67))
end

return tests

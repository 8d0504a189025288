--- Tests arrays that stay in their file and are used where they lie there (mapped): they have the
-- numbers of arrays that were read, and are safe from changes and damage.
local lu = require "luaunit"
local every_allocation = require "tools.every_allocation"
local ladies = require "ladies"
local core = require "ladies_core"
local fake = require "tools.fake_sources"
local malformed = require "tools.malformed"
local shell = require "tools.shell"

local npz = core.npz
local tests = {}
local folder = shell.folder_of_each(tests)

local ROWS, COLS = 3000, 100                      -- 1.2 MB: from 1 MiB on arrays are mapped

local function arrays()
  local rng = ladies.rng(1)
  return {x = ladies.zeros(ROWS, COLS):normal_(1, rng),
    i = ladies.sampling.permutation(300000, rng), small = ladies.tensor{1, 2, 3}}
end

-- Returns the bytes that core has taken for arrays since `before`.
local function taken(before)
  local now = core.memory()
  return now.tensor + now.index + now.matrix - before.tensor - before.index - before.matrix
end

local function read_both(path)
  local mapped, read = npz.open(path, {mapped = true}), npz.open(path)
  collectgarbage()
  local before = core.memory()
  local x, i, small = mapped:tensor "x", mapped:index "i", mapped:tensor "small"
  local cost = taken(before)
  lu.assertEquals({x:hash(), i:hash(), small:hash()},
    {read:tensor "x":hash(), read:index "i":hash(), read:tensor "small":hash()})
  mapped:close()
  read:close()
  return x, i, cost
end

function tests.test_equal_to_what_is_read()
  local path, made = folder.path .. "/x.npz", arrays()
  npz.write(path, made, {compress = false})
  local x, i, cost = read_both(path)
  lu.assertTrue(cost < 10000, cost)
  lu.assertEquals({x:hash(), i:hash()}, {made.x:hash(), made.i:hash()})
  npz.write(path, made)                           -- deflated: nothing to map
  lu.assertTrue(select(3, read_both(path)) > 2000000)
end

function tests.test_changes_stay_here_and_the_file_may_go()
  local path, made = folder.path .. "/x.npz", arrays()
  npz.write(path, made, {compress = false})
  local bytes = fake.read(path)
  local x, i = read_both(path)
  x:fill_(7)
  lu.assertTrue(fake.read(path) == bytes)
  npz.write(path, {y = ladies.ones(1)})           -- another file in its place
  os.remove(path)
  collectgarbage()
  lu.assertEquals({x:max(), i:hash(), x:slice(2, 3):sum():item()}, {7, made.i:hash(), 1400})
  local row = x:slice(1, 1)
  x, i = nil, nil
  collectgarbage()
  collectgarbage()
  lu.assertEquals({row:sum():item(), x, i}, {700})
end

--- A program that shortens the file in place ends those that use it, with a word.
function tests.test_a_file_that_is_shortened()
  local path = folder.path .. "/x.npz"
  npz.write(path, arrays(), {compress = false})
  local code = ([[
    local core = require "ladies_core"
    local x = core.npz.open(%q, {mapped = true}):tensor "x"
    core.truncate(%q, 0)
    print(x:sum():item())]]):format(path, path)
  local out, err, status = shell.run_ladies{"-e", code}
  lu.assertEquals({out, err:match "[^\n]*", status},        -- the shell has a word as well
    {"", "ladies: a file in use was shortened, or its disk failed (npz: " .. path .. ")", 128 + 7})
end

function tests.test_damage_is_found()
  local path = folder.path .. "/x.npz"
  npz.write(path, arrays(), {compress = false})
  local bytes = fake.read(path)
  for name, place in pairs{i = 600000, x = 1500000} do
    fake.write(path, bytes:sub(1, place) .. "?!" .. bytes:sub(place + 3))
    local file <close> = npz.open(path, {mapped = true})
    lu.assertErrorMsgContains(('member "%s.npy": CRC is '):format(name),
      name == "i" and file.index or file.tensor, file, name)
  end
end

function tests.test_ids_are_checked()
  local path = folder.path .. "/x.npz"
  for _, value in ipairs{-2, 0x7fffffff} do
    local list = {}
    for i = 1, 300000 do list[i] = 0 end
    list[270000] = value
    npz.write(path, {i = npz.int32(list)}, {compress = false})
    local file <close> = npz.open(path, {mapped = true})
    lu.assertErrorMsgContains("element 270000 is " .. value, file.index, file, "i")
  end
end

--- Arrays in files of other programs are used where they lie or read: elements at any position,
-- columns first, other types.
function tests.test_what_cannot_be_mapped_is_read()
  local path = folder.path .. "/x.npz"
  local data = ("<f"):rep(4):pack(1, 2, 3, 4):rep(70000)
  local plain = malformed.npy(malformed.header("<f4", "(280000,)"), data)
  local crc = malformed.crc32(plain)
  for shift = 0, 9 do
    fake.write(path, malformed.zip{{name = ("s"):rep(shift + 1), data = ""},
      {name = "x.npy", data = plain, crc = crc}})
    local file <close> = npz.open(path, {mapped = true})
    lu.assertEquals(file:tensor "x":sum():item(), 700000)
  end
  local columns = malformed.header("<f4", "(4, 70000)"):gsub("False", "True")
  fake.write(path, malformed.zip{{name = "x.npy", data = malformed.npy(columns, data)}})
  local file <close> = npz.open(path, {mapped = true})
  lu.assertEquals(file:tensor "x":get(3, 9), 3)
  npz.write(path, {d = npz.float64(ladies.full(200000, 5))}, {compress = false})
  local other <close> = npz.open(path, {mapped = true})
  lu.assertEquals(other:tensor "d":min(), 5)
end

--- A data set shares its columns with the file; what is not sorted is copied and sorted.
function tests.test_data_sets()
  local path = folder.path .. "/graph.npz"
  local data = ladies.generate.power_law{nodes = 40000, entries = 400000, features = 16}
  ladies.data.save(data, path, {compress = false})
  collectgarbage()
  collectgarbage()
  local before = core.memory()
  local loaded = ladies.data.load(path)
  collectgarbage()
  collectgarbage()
  lu.assertTrue(taken(before) < 1500000, taken(before))
  lu.assertEquals({loaded.graph.adjacency:hash(), loaded.features:hash()},
    {data.graph.adjacency:hash(), data.features:hash()})
  lu.assertEquals(loaded.graph.adjacency:transpose():hash(),
    data.graph.adjacency:transpose():hash())

  local n = 300000
  local columns, offsets = {}, {}
  for i = 1, n do columns[i] = n - i end
  for i = 1, n + 1 do offsets[i] = i <= n and 1 or n + 1 end
  npz.write(path, {c = npz.int32(columns)}, {compress = false})
  local file <close> = npz.open(path, {mapped = true})
  local matrix = ladies.csr{n_rows = n, n_cols = n, columns = file:index "c",
    offsets = ladies.index(offsets)}
  lu.assertEquals(matrix:col_of(), ladies.range(1, n))
end

-- The bytes of files that are in this process's memory; nil where the system does not say.
local function of_files()
  local status = io.open "/proc/self/status"
  local size = status and status:read "a":match "RssFile:%s*(%d+) kB"
  if status then status:close() end
  return size and 1024 * tonumber(size)
end

--- A graph in a file is not in memory beside the P that was made of it, and comes back when it is
-- read.
function tests.test_the_graph_that_was_normalised()
  if not of_files() then lu.skip "the system does not say what is in memory" end
  local path = folder.path .. "/x.npz"
  local made = ladies.generate.power_law{nodes = 40000, entries = 3000000, features = 1}
  ladies.data.save(made, path, {compress = false})
  local graph = ladies.data.load(path).graph
  local before, want = of_files(), made.graph:normalize("sym"):hash()
  lu.assertEquals(graph:normalize("sym"):hash(), want)
  local kept = of_files()
  lu.assertTrue(kept < before - 11e6, ("%d bytes, then %d"):format(before, kept))  -- of 12e6
  lu.assertEquals(graph.adjacency:hash(), made.graph.adjacency:hash())
  lu.assertEquals(graph:normalize("none"):hash(), made.graph:normalize("none"):hash())
end

--- A file of which nothing is left in use may be changed: that is reported only as long as it is
-- used.
function tests.test_a_file_is_given_back()
  local data = ladies.generate.power_law{nodes = 200000, entries = 800000, features = 4}
  for name, opts in pairs{["graph.npz"] = {compress = false}, ["graph.safetensors"] = {}} do
    local path = folder.path .. "/" .. name
    ladies.data.save(data, path, opts)
    local used = ladies.data.load(path)
    local file <close> = assert(io.open(path, "ab"))
    file:write "more"
    file:flush()
    lu.assertEquals({core.file.changed():match "[^/ ]*$", used ~= nil}, {name, true})
    used = nil
    collectgarbage()
    collectgarbage()
    lu.assertEquals({core.file.changed(), used}, {})
  end
end

function tests.test_every_allocation_may_fail()
  local path = folder.path .. "/x.npz"
  npz.write(path, arrays(), {compress = false})
  lu.assertTrue(every_allocation(function()
    local file <close> = npz.open(path, {mapped = true})
    return file:tensor "x", file:index "i"
  end) > 10)
end

return tests

--- Limits of size and of memory: what passes one is one clear error.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local files = require "tools.files"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"

local index = ladies.index

local tests = {}

-- ---------------------------------------------------------------- entries of a matrix

local FEW = 9                                             -- stands for 2^31 - 1

-- Runs f while the positions of more than FEW entries count as too large.
local function beyond(f, ...)
  core.limit_entries(FEW)
  local results = table.pack(pcall(f, ...))
  core.limit_entries(0)
  return table.unpack(results, 1, results.n)
end

-- Twelve entries, 1 -> 2 -> ... -> 13.
local function path(values)
  return ladies.matrix{n_rows = 13, n_cols = 13, rows = ladies.range(1, 12),
    cols = ladies.range(2, 13), values = values}
end

-- Asserts that call(...) makes a matrix of more than FEW entries, beyond the limit the same.
local function unlimited(call, ...)
  local made = call(...)
  lu.assertTrue(made.nnz > FEW)
  local ok, again = beyond(call, ...)
  lu.assertTrue(ok, again)
  lu.assertEquals({again:hash(), again.nnz}, {made:hash(), made.nnz})
end

function tests.test_made_from_arrays()
  unlimited(path)
  unlimited(path, ladies.ones(12))
  unlimited(ladies.sparse, ladies.ones(4, 4))
  unlimited(ladies.csr, {n_rows = 1, n_cols = 12, offsets = index{1, 13},
    columns = ladies.range(1, 12)})
end

function tests.test_made_from_matrices()
  local A = path()
  local few = ladies.matrix{n_rows = 13, n_cols = 13, rows = ladies.range(1, 6),
    cols = ladies.range(2, 7)}
  unlimited(few.symmetrize, few)
  unlimited(few.add_diag, few, 1)
  unlimited(few.rows, few, ladies.range(1, 6) .. ladies.range(1, 6))
  unlimited(A.slice, A, ladies.range(1, 12))
  unlimited(A.slice, A, ladies.range(1, 12), ladies.range(1, 13))
  unlimited(A.pick_cols, A, ladies.range(1, 13))
  unlimited(function() return (A:sample_rows(ladies.range(1, 12), 1, {rng = ladies.rng(1)})) end)
  unlimited(function()
    return (A:sample_rows(ladies.range(1, 12), 2, {rng = ladies.rng(1), replace = true}))
  end)
  -- Directed: where no transpose can be followed the columns are found in the rows.
  unlimited(function() return (A:draw_cols(ladies.range(1, 12), 12, {rng = ladies.rng(1)})) end)
  unlimited(function()
    return (A:draw_cols(ladies.range(1, 12), 10, {rng = ladies.rng(1), way = "two stages",
      draw = "wr", always = ladies.range(2, 13)}))
  end)
end

function tests.test_generated()
  local labels = ladies.range(1, 6)
  unlimited(function()
    return ladies.generate.chung_lu(ladies.ones(6), labels, 12, 0.5, ladies.rng(1))
  end)
  unlimited(function() return ladies.generate.blocks(labels, ladies.ones(6, 6), ladies.rng(1)) end)
end

--- Text tells nobody how many entries it has.
function tests.test_read_from_files()
  local folder <close> = shell.folder()
  local function written(name, text)
    return files.write(folder.path .. "/" .. name, text)
  end
  local edges, weighted, entries = {}, {}, {}
  for i = 1, 12 do
    edges[i] = ("%d %d\n"):format(i, i + 1)
    weighted[i] = ("%d %d 0.5\n"):format(i, i + 1)
    entries[i] = ("%d %d\n"):format(i + 1, i)
  end
  unlimited(ladies.text.read_edges, written("edges.txt", table.concat(edges)),
    {columns = {"id", "id"}})
  unlimited(ladies.text.read_edges, written("weighted.txt", table.concat(weighted)),
    {columns = {"id", "id", "number"}})
  for _, symmetry in ipairs{"general", "symmetric"} do
    unlimited(ladies.mtx.read, written("graph.mtx", "%%MatrixMarket matrix coordinate pattern "
      .. symmetry .. "\n13 13 12\n" .. table.concat(entries)))
  end
end

--- Functions that give or follow positions refuse a matrix with too many, before they do anything.
function tests.test_positions()
  local function refused(where, call, ...)
    lu.assertTrue(pcall(call, ...))
    local ok, message = beyond(call, ...)
    lu.assertFalse(ok)
    lu.assertStrContains(message, where .. ": the matrix has ")
    lu.assertStrContains(message, " entries; positions of more than 9 do not fit an Index")
  end
  refused("offsets", path().offsets, path())
  refused("edge", function() return path().edge end)
  refused("edge", function() return path():rows(index{3}).edge end)
  refused("transpose", function() return path():transpose() end)     -- kept once it is made
  refused("transpose", function() return path():matmul_t(ladies.ones(13, 1)) end)
  refused("row_max", path().row_max, path())
  refused("dropout", function() return path():dropout(0.5, ladies.rng(1)) end)
end

-- ---------------------------------------------------------------- address space

local sanitized = os.getenv "LADIES_BUILD_TYPE" == "asan" or os.getenv "LADIES_BUILD_TYPE" == "tsan"

-- Runs words with a limit on address space, in kB; 20 seconds are for ever.
local function limited(kilobytes, words, env)
  local script = ("ulimit -v %d; exec timeout 20 \"$@\""):format(kilobytes)
  return shell.run({"sh", "-c", script, "sh", table.unpack(words)}, {env = env})
end

local PRODUCT = [[
  ladies.threads(2)
  local x = ladies.ones(300, 300)
  print(x:matmul(x):sum():item())
]]

--- OpenBLAS waits for ever where it finds no room, at the start and at the first product.
function tests.test_address_space()
  if sanitized then return end                            -- they map terabytes
  local worked, failed = 0, 0
  for _, kilobytes in ipairs{70000, 100000, 200000, 280000, 2000000} do
    lu.assertEquals(limited(kilobytes, {shell.ladies, "-e", "print(1)"}), "1\n")
    lu.assertEquals(limited(kilobytes, {"env", "-i", shell.ladies, "-e", "print(1)"}), "1\n")
    local out, err, status = limited(kilobytes, {shell.ladies, "-e", PRODUCT})
    if status == 0 then
      worked = worked + 1
      lu.assertEquals(out, "27000000.0\n")
    else
      failed = failed + 1
      lu.assertEquals({out, status}, {"", 1})
      lu.assertStrMatches(err, "ladies: .*matmul: OpenBLAS wants 128 MiB of address space for each "
        .. "of 2 threads, and there is room for [01]: .*")
    end
  end
  lu.assertTrue(worked > 0 and failed > 0)
end

--- Nor does it wait at a later product, when memory has filled up since the first one, which the
-- main thread computed alone.
function tests.test_address_space_that_fills_up()
  if sanitized then return end
  lu.assertEquals({limited(500000, {shell.ladies, "-e", [[
    ladies.threads(2)
    local a, b = ladies.ones(3000, 300), ladies.ones(300, 300)
    print(b:slice(1, 2):matmul(b):sum():item())
    local kept, ok, more = {}, true, nil
    while ok do
      kept[#kept + 1] = more
      ok, more = pcall(ladies.zeros, 1000, 1000)
    end
    for _ = 1, 8 do table.remove(kept):release() end
    for _ = 1, 50 do a:matmul(b):release() end
    print(#kept > 8)
  ]]})}, {"180000.0\ntrue\n", "", 0})
end

--- OpenBLAS starts no threads; scripts and programs see the environment as it is, although that is
-- how it is told so.
function tests.test_openblas_starts_no_threads()
  if sanitized then return end
  local variables = {"FIRST=1", "LADIES_ISA=avx2", "OPENBLAS_NUM_THREADS=7", "OTHER=2"}
  for n = 2, #variables do
    local words = {"env", "-i", table.unpack(variables, 1, n)}
    tables.append(words, {shell.ladies, "-e", [[
      os.execute "env | grep -E '^(FIRST|LADIES_ISA|OPENBLAS|OTHER)' | sort"
      for line in io.lines "/proc/self/status" do
        if line:match "^Threads" then print(line) end
      end
    ]]})
    lu.assertEquals(shell.run(words), table.concat(variables, "\n", 1, n) .. "\nThreads:\t1\n")
  end
end

--- A free block becomes what is wanted; those that are of no use go back to the system first.
function tests.test_free_blocks_make_room()
  if sanitized then return end
  lu.assertEquals({limited(400000, {shell.ladies, "-e", [[
    ladies.zeros(50, 1000000):release()
    print(ladies.memory().cached > 2e8, ladies.zeros(65, 1000000).n_rows)
    print(ladies.memory().cached < 1e6)
  ]]})}, {"true\t65\ntrue\n", "", 0})
  lu.assertEquals({limited(400000, {shell.ladies, "-e", [[
    local blocks = {}
    for i = 1, 6 do blocks[i] = ladies.zeros(10, 1000000) end
    for i = 1, 6 do blocks[i]:release() end
    print(ladies.memory().cached > 2e8, ladies.zeros(65, 1000000).n_rows)
    print(ladies.memory().cached < 5e7)
  ]]})}, {"true\t65\ntrue\n", "", 0})
end

function tests.test_address_space_of_a_stock_lua()
  if sanitized or not os.execute "command -v lua5.4 >/dev/null" then return end
  local build = shell.ladies:match "^(.*)/bin/[^/]*$"
  local env = {("LUA_PATH=%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua;;"):format(build,
    build), ("LUA_CPATH=%s/lib/lua/5.4/?.so;;"):format(build), "OPENBLAS_NUM_THREADS=1"}
  local words = {"lua5.4", "-e", "local ladies = require 'ladies'; print(1)"}
  lu.assertEquals({limited(150000, words, env)}, {"1\n", "", 0})
  env[3] = "OPENBLAS_NUM_THREADS=64"                      -- as many as there are processors
  local out, err, status = limited(150000, words, env)
  if status ~= 0 then
    lu.assertEquals({out, status}, {"", 1})
    lu.assertStrMatches(err, "lua5.4: ladies: OpenBLAS wants %d+ MiB of address space for %d+ "
      .. "threads, and ulimit %-v leaves %d+; set OPENBLAS_NUM_THREADS=1\n.*")
  end
end

--- The files of /proc tell whether there is room for OpenBLAS's threads.
function tests.test_room_for_threads()
  local check = require "ladies.base.address_space"
  local function with(kilobytes, processors, wanted)
    return pcall(check, "Limit  Soft Limit\nMax address space         " .. (kilobytes
      and kilobytes * 1024 or "unlimited") .. "            unlimited            bytes\n",
      "Name: x\nVmSize:\t   10000 kB\nCpus_allowed:\t" .. processors .. "\n", wanted)
  end
  lu.assertTrue(with(nil, "ffffffff,ffffffff"))
  lu.assertTrue(with(100000, "1"))
  lu.assertTrue(with(100000, "ff", "1"))
  lu.assertFalse(with(60000, "1"))
  lu.assertFalse(with(100000, "3"))
  lu.assertTrue(with(2000000, "ff"))
  lu.assertFalse(with(2000000, "ffffffff"))
  lu.assertTrue(with(2000000, "ffffffff", "4"))
  lu.assertEquals(select(2, with(1000000, "00000000,ffffffff")), "ladies: OpenBLAS wants 4280 MiB "
    .. "of address space for 32 threads, and ulimit -v leaves 966; set OPENBLAS_NUM_THREADS=1")
end

return tests

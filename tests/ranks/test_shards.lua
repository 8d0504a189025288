--- Features in shards: what one process alone reads of them is what was written, and what is
-- missing, of another data set or damaged is reported in one line.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local files = require "tools.files"
local message_of = require "tools.message_of"
local shell = require "tools.shell"
local stderr_of = require "tools.stderr_of"

local tests = {}
local folder = shell.folder_of_each(tests)

local NODES, COLUMNS = 1000, 6               -- of tiles of 192 rows: 5, 6 and a part

local made = {}

-- A data set by its seed.
local function dataset(seed)
  made[seed] = made[seed] or ladies.generate.power_law{nodes = NODES, entries = 6000,
    features = COLUMNS, classes = 3, train = 0.3, val = 0.2, seed = seed}
  return made[seed]
end

local function written(n, opts)
  local path = ("%s/in %d"):format(folder.path, n)
  opts = opts or {}
  opts.shards = n
  ladies.data.to_shards(dataset(1), path, opts)
  return path
end

local function hashes(data)
  local list = {edges = data.graph.adjacency:hash(), labels = data.labels:hash()}
  for _, part in ipairs{"train", "val", "test"} do list[part] = data[part] and data[part]:hash() end
  return list
end

--- A data set is read again whole from any number of shards.
function tests.test_there_and_back()
  local data, rows = dataset(1), ladies.index{1000, 1, 192, 193, 576, 577, 1, 384}
  local whole = data.features
  for _, n in ipairs{1, 2, 4, 6} do
    local path = written(n)
    local read = ladies.data.load(path)
    local x = read.features
    lu.assertEquals(hashes(read), hashes(data))
    lu.assertEquals({tostring(x), read.name}, {"Rows 1000 x 6, float32 in parts", "in " .. n})
    lu.assertEquals({x:to_tensor():hash(), x:rows(rows):hash(), x:slice(190, 390):hash()},
      {whole:hash(), whole:rows(rows):hash(), whole:slice(190, 390):hash()})
    lu.assertEquals({x:is_finite()}, {true})
    x:prefetch(rows)
    local again = folder.path .. "/again.safetensors"
    ladies.data.save(read, again)
    lu.assertEquals(ladies.data.load(again, {features_in = "memory"}).features:hash(), whole:hash())
    local memory = ladies.data.load(path, {features_in = "memory"})
    lu.assertEquals(memory.features:hash(), whole:hash())
  end
end

--- The rows are in the files as they are stored, and each shard has whole tiles.
function tests.test_stored_as_halves()
  local path, sizes = written(4, {dtype = "float16"}), {}
  for k = 1, 4 do
    local file <close> = ladies.safetensors.open(("%s/shard-%d-of-4.safetensors"):format(path, k))
    lu.assertEquals(file:dtype "attr_matrix", "float16")
    sizes[k] = file:shape "attr_matrix"[1]
  end
  lu.assertEquals(sizes, {384, 192, 384, 40})
  local half = folder.path .. "/half.safetensors"
  ladies.data.save(dataset(1), half, {dtype = "float16"})
  lu.assertEquals(ladies.data.load(path).features:to_tensor():hash(),
    ladies.data.load(half, {features_in = "file"}).features:to_tensor():hash())
end

--- A folder is written again by the same command, and left alone when it is somebody else's.
function tests.test_written_again()
  local path = written(4)
  lu.assertEquals(stderr_of(function() ladies.data.to_shards(dataset(2), path, {shards = 2}) end),
    ("ladies.data.to_shards: %s had a data set in 4 shards, which is replaced\n"):format(path))
  lu.assertEquals(#core.files(path), 4, table.concat(core.files(path), " "))
  lu.assertEquals(ladies.data.load(path).features:to_tensor():hash(),
    dataset(2).features:hash())
  files.write(folder.path .. "/notes.txt", "mine")
  lu.assertStrContains(message_of(ladies.data.to_shards, dataset(1), folder.path, {shards = 2}),
    "they are left as they are")
end

--- A file of a folder of shards is no data set of its own: the folder is.
function tests.test_part_of_a_folder()
  local path = written(2)
  for _, name in ipairs{"shard-1-of-2.safetensors", "common.safetensors"} do
    lu.assertStrContains(message_of(ladies.data.load, path .. "/" .. name),
      ("%s/%s is a part of the data set in shards in the folder %s, whose path is the data set's")
        :format(path, name, path))
  end
end

--- Shards are not written over the data set that they are read from, by whatever name.
function tests.test_not_into_itself()
  local path = written(4)
  local before = ladies.data.load(path).features:to_tensor():hash()
  for _, source in ipairs{path, ladies.data.load(path)} do
    lu.assertStrContains(message_of(ladies.data.to_shards, source, path .. "/.", {shards = 2}),
      "is the folder that the data set is read from; choose another")
  end
  lu.assertEquals(ladies.data.load(path).features:to_tensor():hash(), before)
end

--- A product of rows is that of their Tensor by rows, to the bit, in one panel and in several.
function tests.test_product()
  local rng = ladies.rng(5)
  for _, columns in ipairs{6, 12000} do         -- of the latter a panel is one tile
    local path, x = folder.path .. "/x.safetensors", ladies.zeros(400, columns):normal_(1, rng)
    ladies.safetensors.write(path, {x = x})
    local file <close> = ladies.safetensors.open(path, {mapped = true})
    local W = ladies.zeros(columns, 7):normal_(1, rng)
    lu.assertEquals(file:rows "x":matmul(W):hash(),
      core.by_rows(function() return x:matmul(W) end):hash())
  end
end

-- ---------------------------------------------------------------- refusals

function tests.test_what_is_refused()
  local function refused(data, n)
    return message_of(ladies.data.to_shards, data, folder.path .. "/x", {shards = n})
  end
  lu.assertStrContains(refused(dataset(1), 7),
    "7 shards: power_law has 1000 nodes, and a shard at least 192, so 6 are the most")
end

--- Sparse features are dense in shards.
function tests.test_sparse_features()
  local toy = require "reference.toy_data"
  local path = folder.path .. "/toy.npz"
  ladies.data.save(toy.new(true), path)
  local _, err, status = shell.run_ladies({"import", path, "--shards", "1", "--out",
    folder.path .. "/in shards", "--dtype", "float16"})
  lu.assertEquals({err, status},
    {"ladies.data.to_shards: the features are sparse, and dense in shards: 4.32e-06 GB\n", 0})
  lu.assertEquals(ladies.data.load(folder.path .. "/in shards").features:to_tensor():hash(),
    toy.new().features:hash())
end

function tests.test_missing_and_foreign()
  local path, other = written(2), folder.path .. "/other"
  ladies.data.to_shards(dataset(2), other, {shards = 2})
  local shard = "/shard-2-of-2.safetensors"
  local function refusal()
    local text = message_of(ladies.data.load, path)
    lu.assertNotStrContains(text, "\n")
    return text
  end
  local bytes = files.read(path .. shard)
  os.remove(path .. shard)
  lu.assertStrContains(refusal(), path .. shard .. " is missing; one process alone needs all 2")
  files.write(path .. shard, files.read(other .. shard))
  lu.assertStrContains(refusal(), "is a shard of another data set than common.safetensors: its")
  files.write(path .. shard, bytes:sub(1, -2) .. "\1")
  lu.assertStrContains(refusal(), "is a shard of another data set")
  files.write(path .. shard, bytes:sub(1, -5) .. "\0\0\192\127")
  lu.assertStrContains(refusal(), "attr_matrix must be finite numbers, got nan")
  files.write(path .. shard, files.read(path .. "/common.safetensors"))
  lu.assertStrContains(refusal(), "is no shard: it has no attr_matrix")
  files.write(path .. shard, bytes)
  ladies.data.load(path)
  os.remove(path .. "/common.safetensors")
  lu.assertStrContains(refusal(), path .. " has shard-1-of-2.safetensors, and not the "
    .. "common.safetensors that goes with it")
end

function tests.test_damaged_list()
  local path = written(2)
  local common = path .. "/common.safetensors"
  local bytes = files.read(common)
  for from, to in pairs{['"rows":1000'] = '"rows":1001', ['"shards":%['] = '"shards": ',
      ['"float32"'] = '"float99"', ['"columns":6'] = '"columns":7'} do
    local changed, n = bytes:gsub(from, to)
    lu.assertEquals(n, 1, from)
    files.write(common, changed)
    lu.assertErrorMsgContains(path, ladies.data.load, path)
  end
end

--- Rows in parts check what they are made of, and tell what is not there.
function tests.test_rows_in_parts()
  local path = written(1)
  local file <close> = ladies.safetensors.open(path .. "/shard-1-of-1.safetensors")
  local all = file:rows "attr_matrix"
  local function join(parts, bounds, n_rows)
    return core.rows_in_parts{dtype = "float32", n_rows = n_rows or 2000, n_cols = COLUMNS,
      parts = parts, bounds = bounds}
  end
  local x = join({{first = 1001, rows = all}}, {0, 600, 1000, 2000})
  lu.assertEquals(x:rows(ladies.index{1001, 2000}):hash(), all:rows(ladies.index{1, 1000}):hash())
  lu.assertStrContains(message_of(x.rows, x, ladies.index{1001, 700}),
    "rows: row 700 is at rank 1, and this one has its own part alone")
  lu.assertStrContains(message_of(x.slice, x, 1, 3), "is at rank 0")
  x:prefetch(ladies.index{1, 1001})
  lu.assertEquals({x:is_finite()}, {true})
  local ids = ladies.range(1, 1000) * 2
  local even = join({{first = 1, rows = join({{ids = ids, rows = all}})}})
  lu.assertEquals(even:rows(ladies.index{2, 2000, 512}):hash(),
    all:rows(ladies.index{1, 1000, 256}):hash())
  lu.assertStrContains(message_of(even.rows, even, ladies.index{2, 3}), "row 3 is in none of the")
  lu.assertStrContains(message_of(join, {{first = 1002, rows = all}}), "rows 1002..2001 of 2000")
  lu.assertStrContains(message_of(join, {{ids = ladies.index{3, 2}, rows = all}}), "2 ids")
  lu.assertStrContains(message_of(join, {{ids = ladies.range(1, 1000) // 2 + 1, rows = all}}),
    "the ids of a part must ascend")
  lu.assertStrContains(message_of(join, {}, {0, 1000}), "bounds must go from 0 to 2000")
  lu.assertStrContains(message_of(join, {}, {0, 1500, 1000, 2000}), "bounds must not descend")
  lu.assertStrContains(message_of(core.rows_in_parts, {dtype = "float16", n_rows = 2000,
    n_cols = COLUMNS, parts = {{first = 1, rows = all}}}),
    "a part has 6 columns of float32, the whole 6 of float16")
end

--- Rows in parts keep the ids of their parts no longer than themselves.
function tests.test_parts_are_given_back()
  local file <close> = ladies.safetensors.open(written(1) .. "/shard-1-of-1.safetensors")
  local all = file:rows "attr_matrix"
  local function read()
    local x = core.rows_in_parts{dtype = "float32", n_rows = 2000, n_cols = COLUMNS,
      parts = {{ids = ladies.range(1, 1000) * 2, rows = all}}}
    return x:rows(ladies.index{2}):hash()
  end
  local function memory_after(f)
    f()
    collectgarbage()
    collectgarbage()
    return core.memory().total
  end
  lu.assertEquals(memory_after(read), memory_after(read))
end

return tests

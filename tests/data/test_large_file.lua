--- Tests data sets in .safetensors files: their graph and features stay there, whatever their size,
-- and a file is checked once, and not again as long as it is the same.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local files = require "tools.files"
local hashes_of = require("ladies.data.hashes").of
local message_of = require "tools.message_of"
local shell = require "tools.shell"

local index, npz, safetensors = ladies.index, ladies.npz, ladies.safetensors
local tests = {}
local folder = shell.folder_of_each(tests)

local NODES = 140000                       -- offsets and columns are more than a MiB each
local made

-- The data set of these tests, made once.
local function dataset()
  made = made or ladies.generate.power_law{nodes = NODES, entries = 600000, features = 8,
    classes = 4, train = 0.01, val = 0.001}
  return made
end

-- ---------------------------------------------------------------- numbers of 16 bits

-- Writes a file with the bits of all numbers in float16, or bfloat16, and opens it.
local function all_halves(path, dtype)
  local bits = {}
  for i = 0, 65535 do bits[i + 1] = ("<I2"):pack(i) end
  local name = dtype == "float16" and "F16" or "BF16"
  local header = ('{"x":{"dtype":"%s","shape":[256,256],"data_offsets":[0,131072]}}'):format(name)
  files.write(path, ("<s8"):pack(header) .. table.concat(bits))
  return safetensors.open(path)
end

--- Rows have the numbers that `numbers` decodes in another way, and writing them gives their bits.
function tests.test_halves_there_and_back()
  for _, dtype in ipairs{"float16", "bfloat16"} do
    local path = folder.path .. "/x.safetensors"
    local f <close> = all_halves(path, dtype)
    local x, wanted = f:rows "x", f:numbers "x"
    lu.assertEquals({x.dtype, x.n_rows, x.n_cols}, {dtype, 256, 256})
    local got = x:to_tensor()
    for r = 1, 256 do
      local row = got[r]:to_table()
      for c = 1, 256 do
        local a, b = row[c], wanted[r][c]
        lu.assertTrue(a == b and 1 / a == 1 / b or a ~= a and b ~= b, ("%d %d"):format(r, c))
      end
    end
    lu.assertEquals({x:rows(index{3, 250, 3}):hash(), x:slice(2, 9):hash()},
      {got:rows(index{3, 250, 3}):hash(), got:slice(2, 9):hash()})
    local convert = dtype == "float16" and npz.float16 or safetensors.bfloat16
    local finite = {}
    for r = 1, 256 do if (got[r] * 0):is_finite() then finite[#finite + 1] = r end end
    lu.assertTrue(#finite > 240)
    local again = folder.path .. "/again.safetensors"
    safetensors.write(again, {x = convert(got:rows(index(finite)))})
    local g <close> = safetensors.open(again)
    local bytes, first = files.read(again), #files.read(again) - 512 * #finite
    local source = files.read(path)
    for i, r in ipairs(finite) do
      local at = #source - 131072 + 512 * (r - 1)
      lu.assertTrue(bytes:sub(first + 512 * (i - 1) + 1, first + 512 * i)
        == source:sub(at + 1, at + 512), r)
    end
    lu.assertEquals(g:dtype "x", dtype)
  end
end

--- A Tensor is rounded by vectors, to the same bits as numbers one by one: around each float16 and
-- half way to the next.
function tests.test_vectors_of_halves()
  local path = folder.path .. "/x.safetensors"
  local halves <close> = all_halves(path, "float16")
  local values = {0 / 0}
  for _, row in ipairs(halves:numbers "x") do
    for _, x in ipairs(row) do
      local ulp = math.max(2.0^-24, math.abs(x) * 2.0^-11)
      for _, step in ipairs{0, 0.25, 0.5, 0.5 + 2.0^-12, 0.5 - 2.0^-12, 1, 2} do
        if math.abs(x) < 65472 or step == 0 then values[#values + 1] = x + step * ulp end
      end
    end
  end
  local numbers = ladies.tensor(values)
  local function bytes(x)
    safetensors.write(path, {x = npz.float16(x)})
    return files.read(path)
  end
  lu.assertTrue(#values > 400000)
  lu.assertTrue(bytes(numbers) == bytes(numbers:to_table()))
  for _, large in ipairs{65520, -65520, 1e30} do
    lu.assertStrContains(message_of(npz.float16, ladies.tensor{1, 65519, large}),
      ("element 3 is %g, which float16"):format(large))
  end
end

--- Rounding takes the even number half way between two; a number that is too large for all is an
-- error.
function tests.test_rounding_to_halves()
  local path = folder.path .. "/x.safetensors"
  local function rounded(convert, values)
    safetensors.write(path, {x = convert{values}})
    local f <close> = safetensors.open(path)
    return f:numbers("x")[1]
  end
  lu.assertEquals(rounded(npz.float16, {1 + 2.0^-11, 1 + 3 * 2.0^-11, 1 + 2.0^-11 + 2.0^-20,
    2.0^-25, 3 * 2.0^-25, 65519, -65519, 2.0^-14 - 2.0^-25}),
    {1, 1 + 2.0^-9, 1 + 2.0^-10, 0, 2.0^-23, 65504, -65504, 2.0^-14})
  lu.assertEquals(rounded(safetensors.bfloat16, {1 + 2.0^-8, 1 + 3 * 2.0^-8, 1 + 2.0^-8 + 2.0^-20}),
    {1, 1 + 2.0^-6, 1 + 2.0^-7})
  lu.assertStrContains(message_of(npz.float16, {65520.0}), "element 1 is 65520, which float16 can")
  lu.assertStrContains(message_of(safetensors.bfloat16, {3.4e38}), "which bfloat16 cannot hold")
  lu.assertStrContains(message_of(npz.write, folder.path .. "/x.npz",
    {x = safetensors.bfloat16{1.0}}), "the format has no bfloat16")
  lu.assertStrContains(message_of(ladies.npy.write, folder.path .. "/x.npy",
    safetensors.bfloat16{1.0}), "the format has no bfloat16")
end

function tests.test_rows_refuse()
  local path = folder.path .. "/x.safetensors"
  safetensors.write(path, {x = npz.float16{{1, 2}, {3, 4}}, v = npz.float16{1.0},
    d = npz.float64{{1.0}}, n = npz.float32{{1.0, 0 / 0}}})
  local f <close> = safetensors.open(path)
  local x = f:rows "x"
  lu.assertEquals(tostring(x), "Rows 2 x 2, float16")
  lu.assertStrContains(message_of(x.rows, x, index{3}), "rows: row 3 at position 1 is out of range")
  lu.assertStrContains(message_of(x.prefetch, x, index{1, 0}), "row 0 at position 2 is out of")
  lu.assertStrContains(message_of(x.slice, x, 2, 3), "slice: rows 2..3 of 2")
  lu.assertStrContains(message_of(f.rows, f, "v"), "its shape is 1, two dimensions expected")
  lu.assertStrContains(message_of(f.rows, f, "d"), "float16, bfloat16 or float32")
  lu.assertEquals({x:is_finite(), select("#", x:is_finite())}, {true, 1})
  local finite, value, row, column = f:rows "n":is_finite()
  lu.assertEquals({finite, value ~= value, row, column}, {false, true, 1, 2})
end

--- Features with several numbers that are not finite are refused with the place of the first,
-- wherever it stands in its row. That holds for a Tensor and for Rows, which are read a piece at a
-- time.
function tests.test_not_finite()
  local path, columns = folder.path .. "/x.safetensors", 600
  local cases = {{{3, 600}}, {{2, 1}, {1, 257}}, {{3, 1}, {2, 600}}, {{3, 256}, {3, 255}}}
  for _, places in ipairs(cases) do
    local x, first = {}, {9, 9}
    for r = 1, 3 do
      x[r] = {}
      for c = 1, columns do x[r][c] = c end
    end
    for i, at in ipairs(places) do
      x[at[1]][at[2]] = i == 1 and 1 / 0 or 0 / 0
      if at[1] < first[1] or at[1] == first[1] and at[2] < first[2] then first = at end
    end
    safetensors.write(path, {x = npz.float32(x)})
    local f <close> = safetensors.open(path)
    local seen = {select(3, f:rows "x":is_finite())}
    lu.assertEquals(seen, first)
    lu.assertEquals({select(3, ladies.tensor(x):is_finite())}, first)
  end
end

-- ---------------------------------------------------------------- data sets

-- Bytes that core has taken for arrays since `before`.
local function taken(before)
  local now = core.memory()
  return now.tensor + now.index + now.matrix - before.tensor - before.index - before.matrix
end

function tests.test_nothing_is_read()
  local path, data = folder.path .. "/graph.safetensors", dataset()
  ladies.data.save(data, path)
  collectgarbage()
  collectgarbage()
  local before = core.memory()
  local loaded = ladies.data.load(path, {features_in = "file"})
  collectgarbage()
  collectgarbage()
  lu.assertTrue(taken(before) < 8 * NODES + 1e5, taken(before))      -- the labels and the split
  local A, B = data.graph.adjacency, loaded.graph.adjacency
  lu.assertEquals({B:hash(), B:is_symmetric()}, {A:hash(), true})
  lu.assertEquals(loaded.features:to_tensor():hash(), data.features:hash())
  lu.assertEquals({loaded.labels:hash(), loaded.train:hash(), loaded.source},
    {data.labels:hash(), data.train:hash(), data.source})
  local nodes = ladies.sampling.permutation(NODES, ladies.rng(1)):slice(1, 1000)
  for _, with in ipairs{A, B} do
    local P = with:normalize "sym"
    local U = P:slice(nodes)
    lu.assertEquals(U.edge:hash(), A:normalize("sym"):slice(nodes).edge:hash())
  end
end

--- Training gives the same model from float32 features in the file as in memory, in step and with
-- workers.
function tests.test_the_same_model()
  local path = folder.path .. "/graph.safetensors"
  ladies.data.save(dataset(), path)
  local hashes = {}
  for i, case in ipairs{{"memory", 0}, {"file", 0}, {"file", 2}} do
    local data = ladies.data.load(path, {features_in = case[1]})
    local model = ladies.nn.gcn{inputs = 8, outputs = 4, layers = 2, hidden = 8}
    data.val, data.test = nil, nil
    ladies.train{data = data, model = model, workers = case[2], batch_size = 64, max_batches = 4,
      sampler = ladies.samplers.ladies(data.graph:normalize "sym", {samples = {32, 32}}),
      quiet = true}
    local words = {}
    for _, parameter in ipairs(model:parameters()) do words[#words + 1] = parameter:hash() end
    hashes[i] = table.concat(words, " ")
  end
  lu.assertEquals({hashes[2], hashes[3]}, {hashes[1], hashes[1]})
end

--- Exact inference on features in a file has the bits of that on features in memory, and a run
-- knows its data set again where a machine of less memory leaves them in the file.
function tests.test_inference()
  local path = folder.path .. "/graph.safetensors"
  local data = ladies.generate.power_law{nodes = 2000, entries = 10000, features = 7, classes = 4}
  for _, dtype in ipairs{"none", "float16", "bfloat16"} do
    ladies.data.save(data, path, {dtype = dtype ~= "none" and dtype or nil})
    local whole = ladies.data.load(path, {features_in = "memory"})
    local inside = ladies.data.load(path, {features_in = "file"})
    lu.assertEquals(hashes_of(inside), hashes_of(whole))
    for _, name in ipairs{"gcn", "gcnii", "mlp"} do
      local model = ladies.nn[name]{inputs = 7, outputs = 4, layers = 3, hidden = 8}
      for _, nodes in ipairs{whole.val, ladies.range(1, 2000)} do
        lu.assertEquals(ladies.inference.exact(model, inside, {nodes = nodes}):hash(),
          ladies.inference.exact(model, whole)[nodes]:hash(), name)
      end
    end
  end
end

function tests.test_halves_in_the_file()
  local path, data = folder.path .. "/graph.safetensors", dataset()
  for _, dtype in ipairs{"float16", "bfloat16"} do
    ladies.data.save(data, path, {dtype = dtype})
    local inside = ladies.data.load(path, {features_in = "file"})
    local read = ladies.data.load(path)
    lu.assertEquals(inside.features.dtype, dtype)
    lu.assertEquals(inside.features:to_tensor():hash(), read.features:hash())
    local most = dtype == "float16" and 2.0^-11 or 2.0^-8
    lu.assertTrue((read.features - data.features):abs():max() <= most * data.features:abs():max())
    local text = inside:describe()
    lu.assertStrContains(text, dtype .. " in the file")
    ladies.data.save(inside, folder.path .. "/again.safetensors")
    lu.assertTrue(files.read(folder.path .. "/again.safetensors") == files.read(path))
  end
  lu.assertStrContains(message_of(ladies.data.save, data, folder.path .. "/x.npz",
    {dtype = "float16"}), "dtype is for .safetensors files")
end

--- Exports, which read all features, have them in memory meanwhile and write the same files.
function tests.test_other_forms()
  local path = folder.path .. "/graph.safetensors"
  ladies.data.save(ladies.generate.power_law{nodes = 300, entries = 1000, features = 3}, path)
  local whole, inside = ladies.data.load(path), ladies.data.load(path, {features_in = "file"})
  for i, data in ipairs{whole, inside} do
    ladies.data.export(data, folder.path .. i, {format = "edge list"})
    ladies.data.export(data, ("%s/%d.npz"):format(folder.path, i), {format = "pyg"})
  end
  for _, names in ipairs{{"1/features.csv", "2/features.csv"}, {"/1.npz", "/2.npz"}} do
    lu.assertTrue(files.read(folder.path .. names[1]) == files.read(folder.path .. names[2]))
  end
  os.execute("rm -r " .. folder.path .. "1 " .. folder.path .. "2")
  lu.assertEquals(ladies.data.row_normalized(inside).features:hash(),
    ladies.data.row_normalized(whole).features:hash())
end

--- Features that cannot stay in their file are refused with features_in = "file".
function tests.test_features_that_cannot_stay()
  local sparse = ladies.data.from_arrays{graph = ladies.matrix{n_rows = 2, n_cols = 2,
    rows = index{1, 2}, cols = index{2, 1}}, features = ladies.sparse(ladies.ones(2, 2)),
    labels = index{1, 2}}
  ladies.data.save(sparse, folder.path .. "/x.safetensors")
  lu.assertStrContains(message_of(ladies.data.load, folder.path .. "/x.safetensors",
    {features_in = "file"}), "features_in: only those of an .npz or a .safetensors file can stay")
  lu.assertEquals(ladies.data.load(folder.path .. "/x.safetensors").features.nnz, 4)
  npz.write(folder.path .. "/x.npz", {adj_indptr = {0, 1, 2}, adj_indices = {1, 0},
    adj_shape = {2, 2}, attr_matrix = npz.float64{{1, 2}, {3, 4}}, labels = {0, 1}})
  lu.assertStrContains(message_of(ladies.data.load, folder.path .. "/x.npz",
    {features_in = "file"}), "/x.npz: attr_matrix is float64 of 2 dimensions; float16, bfloat16 or "
    .. "float32 of two can stay in the file")
end

-- ---------------------------------------------------------------- pieces

function tests.test_written_in_pieces()
  local path = folder.path .. "/x.safetensors"
  local A = ladies.matrix{n_rows = 4, n_cols = 5, rows = index{1, 1, 3, 4},
    cols = index{2, 5, 1, 3}}
  local t = ladies.tensor{{1, 2}, {3, 4}, {5, 6}}
  do
    local w <close> = safetensors.writer(path)
    w:csr("a", 4, 5)
    w:add_csr(A:rows(index{1, 2, 3}))
    w:add_csr(A:rows(index{4}))
    w:put("i", index{1, 2, 3})
    w:rows("t", "float32", 3, 2)
    w:add_rows(t:slice(1, 2))
    w:add_rows(t:slice(3, 3))
    w:put("text", "abc")
    lu.assertFalse(core.exists(path))
    w:commit()
    lu.assertStrContains(message_of(w.put, w, "x", "x"), "closed")
  end
  local f <close> = safetensors.open(path)
  lu.assertEquals(f:names(), {"a_indices", "a_indptr", "a_shape", "i", "t", "text"})
  lu.assertEquals({f:index "a_indptr":to_table(), f:index "a_indices":to_table(),
    f:numbers "a_shape"}, {A:offsets():to_table(), A:col_of():to_table(), {4, 5}})
  lu.assertEquals({f:tensor "t", f:index "i", f:text "text"}, {t, index{1, 2, 3}, "abc"})
end

function tests.test_pieces_that_do_not_fit()
  local path = folder.path .. "/x.safetensors"
  local A, t = ladies.sparse(ladies.ones(2, 2)), ladies.ones(2, 2)
  for text, use in pairs{
    ['"t" lacks 1 rows'] = function(w) w:rows("t", "float32", 3, 2) w:add_rows(t) w:commit() end,
    ['"a_indices" lacks 3 rows'] = function(w) w:csr("a", 3, 2) w:put("x", "x") end,
    ["2 x 2 are not the next rows of what was begun"] = function(w) w:add_rows(t) end,
    ["2 x 2 are not the next rows"] = function(w) w:csr("a", 2, 2) w:add_rows(t) end,
    ["2 x 2 are not"] = function(w) w:rows("t", "float32", 2, 2) w:add_csr(A) end,
    ["2 x 2 are"] = function(w) w:rows("t", "float32", 2, 3) w:add_rows(t) end,
    ["2 x 2"] = function(w) w:csr("a", 1, 2) w:add_csr(A) end,
    ["1 x 2 are not"] = function(w) w:csr("a", 2, 3) w:add_csr(A:rows(index{1})) end,
    ["0 x 2 are not"] = function(w)              -- a complete matrix is followed by another tensor
      w:csr("a", 2, 2)
      w:add_csr(A)
      w:put("x", index{1, 2, 3})
      w:add_csr(A:rows(index{}))
    end,
    ['"i" must come before tensors of smaller'] = function(w)
      w:put("s", "x")
      w:put("i", index{1})
    end,
    ['there is a tensor "s" already'] = function(w)
      w:put("s", "x")
      w:put("s", "x")
    end,
    ['the name "a b" of a tensor must be 1 to 63 of a-z A-Z 0-9 _ . -'] = function(w)
      w:put("a b", "x")
    end,
    ["a file that is written by pieces has at most 64 tensors"] = function(w)
      for i = 1, 65 do w:put("n" .. i, "x") end
    end,
    ['x.safetensors: tensor "t": element 2 is 1e+06, which float16'] = function(w)
      w:rows("t", "float16", 2, 1)
      w:add_rows(ladies.tensor{{1}})
      w:add_rows(ladies.tensor{{1e6}})
    end,
    ['tensor "u": the format has no'] = function(w) w:put("u", npz.bytes{"ab"}) end,
  } do
    local w <close> = safetensors.writer(path)
    lu.assertStrContains(message_of(use, w), text)
  end
  lu.assertEquals(core.files(folder.path), {})
  do                                 -- the room of 16 GB of offsets is not written before they come
    local w <close> = safetensors.writer(path)
    w:csr("a", (1 << 31) - 2, 2)
    local used = shell.run{"du", "-sk", folder.path}
    lu.assertTrue(tonumber(used:match "^%d+") < 1000, used)
  end
  lu.assertStrContains(message_of(safetensors.writer, folder.path .. "/no/x"), "cannot be created")
end

function tests.test_arrays_read_in_pieces()
  local path = folder.path .. "/x.npz"
  npz.write(path, {i = npz.int64{{0, 1, 2}, {3, 4, -1}}, t = ladies.tensor{{1, 2}, {3, 4}, {5, 6}}})
  local i, t = npz.reader(path, "i"), npz.reader(path, "t")
  lu.assertEquals({i:ids(2):to_table(), i:ids(0):to_table(), i:ids(4):to_table()},
    {{1, 2}, {}, {3, 4, 5, 0}})
  lu.assertEquals({t:rows(1):to_table(), t:rows(2):to_table()}, {{{1, 2}}, {{3, 4}, {5, 6}}})
  lu.assertStrContains(message_of(i.ids, i, 1), "1 elements wanted, 0 are left")
  lu.assertStrContains(message_of(t.rows, t, 1), "2 elements wanted, 0 are left")
  lu.assertStrContains(message_of(npz.reader, path, "none"), "has no array")
  local again = npz.reader(path, "t")
  lu.assertStrContains(message_of(again.ids, again, 1), "integers expected")
  i:close()
  lu.assertStrContains(message_of(i.ids, i, 1), "closed")
  npz.write(path, {i = npz.int64{0, 1, -7, 3}, t = npz.float64{{1, 2}, {3, 1e300}}})
  i, t = npz.reader(path, "i"), npz.reader(path, "t")
  i:ids(2)
  t:rows(1)
  lu.assertStrContains(message_of(i.ids, i, 1), "element 3 is -7, ids must lie in")
  lu.assertStrContains(message_of(i.ids, i, 1), "reading it failed before")
  lu.assertStrContains(message_of(t.rows, t, 1), "element 4 is 1e+300, too large")
  lu.assertStrContains(message_of(t.rows, t, 0), "reading it failed before")
end

-- ---------------------------------------------------------------- what is wrong in a file

-- The header of a file with the offsets of n rows and the columns of so many entries.
local function header_of(n, entries)
  local text = ('{"adj_indptr":{"dtype":"I64","shape":[%d],"data_offsets":[0,%d]},'
    .. '"adj_indices":{"dtype":"I32","shape":[%d],"data_offsets":[%d,%d]}}'):format(n + 1,
    8 * (n + 1), entries, 8 * (n + 1), 8 * (n + 1) + 4 * entries)
  return ("<s8"):pack(text .. (" "):rep(-#text % 8))
end

-- The arrays of a matrix of NODES rows, two entries in each, but for the offsets and columns that
-- are given, by positions from 0.
local function write_graph(path, offsets, columns)
  local o, c = {}, {}
  for i = 0, NODES do o[i + 1] = ("<i8"):pack(offsets[i] or 2 * i) end
  for i = 0, 2 * NODES - 1 do c[i + 1] = ("<i4"):pack(columns[i] or i % 2) end
  files.write(path, header_of(NODES, 2 * NODES) .. table.concat(o) .. table.concat(c))
end

local function open_graph(path, n_cols, opts)
  local f <close> = safetensors.open(path, {mapped = true})
  local given = {offsets = "adj_indptr", columns = "adj_indices", n_rows = NODES, n_cols = n_cols}
  for key, value in pairs(opts or {}) do given[key] = value end
  return f:csr(given)
end

function tests.test_every_wrong_array_is_found()
  local path = folder.path .. "/x.safetensors"
  local function refused(text, offsets, columns)
    write_graph(path, offsets, columns)
    lu.assertStrContains(message_of(open_graph, path, NODES), text)
  end
  refused("the offsets run from 1 to 280000; from 0 to 280000", {[0] = 1}, {})
  refused("the offsets run from 0 to 280001; from 0 to 280000", {[NODES] = 280001}, {})
  refused("the offsets run from 0 to -1", {[NODES] = -1}, {})
  refused("offset 71 is 139, less than the 1099511627776 before it",
    {[70] = 1 << 40, [71] = 139}, {})
  refused("offset 70 is -5, less than the 138 before it", {[70] = -5}, {})
  refused("offset 70 is 6, less than the 138 before it", {[70] = 6}, {})
  refused("column 140000 at position 139999, in row 69999, must be in 0..139999", {},
    {[139999] = NODES, [200001] = -1})
  refused("column -1 at position 200000, in row 100000, must be in 0..139999", {}, {[200000] = -1})
  refused("column 0 at position 5, in row 2, follows 0; ascending ones, each once, expected", {},
    {[5] = 0})
  refused("column 3 at position 9, in row 4, follows 7; ascending ones", {}, {[8] = 7, [9] = 3})
  write_graph(path, {}, {})
  lu.assertEquals(open_graph(path, NODES).nnz, 2 * NODES)
  lu.assertStrContains(message_of(open_graph, path, 1), "column 1 at position 1, in row 0, must be")
  lu.assertStrContains(message_of(open_graph, path, NODES, {n_rows = 5}),
    '"adj_indptr" has 140001 elements for 5 rows; one more than rows expected')
  lu.assertStrContains(message_of(open_graph, path, NODES, {offsets = "none"}), "has no tensor")
  lu.assertNil(open_graph(path, NODES, {offsets = "adj_indices", columns = "adj_indptr"}))
  local f <close> = safetensors.open(path)
  lu.assertNil(f:csr{offsets = "adj_indptr", columns = "adj_indices", n_rows = NODES,
    n_cols = NODES})
end

--- A graph in a file knows when all its nodes have self-loops, and P then shares its columns.
function tests.test_loops_that_are_there()
  local path, columns = folder.path .. "/x.safetensors", {}
  for r = 2, NODES - 1 do columns[2 * r], columns[2 * r + 1] = r - 1, r end
  write_graph(path, {}, columns)
  local A = open_graph(path, NODES)
  lu.assertEquals({A.looped, A:loops()}, {true, NODES})
  collectgarbage()
  collectgarbage()
  local before = core.memory()
  local P = A:normalize "sym"
  lu.assertTrue(taken(before) < 9 * NODES, taken(before))
  lu.assertEquals(P:hash(), A:without_loops():normalize("sym"):hash())
  columns[2 * NODES - 1] = NODES - 2
  columns[2 * NODES - 2] = NODES - 3
  write_graph(path, {}, columns)
  lu.assertFalse(open_graph(path, NODES).looped)
end

--- A program that shortens the file in place ends those that use it, with a word.
function tests.test_a_file_that_is_shortened()
  local path = folder.path .. "/x.safetensors"
  safetensors.write(path, {x = npz.float16(ladies.ones(3000, 400))})
  for _, use in ipairs{"x:to_tensor()", "x:prefetch(core.range(2000, 2999))"} do
    local code = ([[
      local core = require "ladies_core"
      local x = core.safetensors.open(%q, {mapped = true}):rows "x"
      core.truncate(%q, 5000)
      print(%s)]]):format(path, path, use)
    safetensors.write(path, {x = npz.float16(ladies.ones(3000, 400))})
    local out, err, status = shell.run_ladies{"-e", code}
    lu.assertEquals({out, err:match "[^\n]*", status},
      {"", "ladies: a file in use was shortened, or its disk failed (safetensors: " .. path .. ")",
        128 + 7})
  end
end

-- ---------------------------------------------------------------- what is remembered

-- Loads `path` in a process of its own with a cache, and has it print what it knows of the file
-- before and after.
local function load_with(cache, path)
  local code = ([[
    local checked = require "ladies.data.formats.large.checked"
    local identity = require("ladies_core").safetensors.open(%q):identity()
    local before = checked.read(identity).checked
    local data = ladies.data.load %q
    print(before, checked.read(identity).checked, require("ladies.data.hashes").of(data).edges)]])
    :format(path, path)
  return shell.run({shell.ladies, "-e", code}, {env = {"LADIES_CACHE=" .. cache}})
end

function tests.test_checked_once()
  local path, cache = folder.path .. "/x.safetensors", folder.path .. "/cache"
  ladies.data.save(dataset(), path)
  local edges = dataset().graph.adjacency:hash() .. "\n"
  lu.assertEquals({load_with(cache, path)}, {"nil\ttrue\t" .. edges, "", 0})
  lu.assertEquals({load_with(cache, path)}, {"true\ttrue\t" .. edges, "", 0})
  -- A file of equal size at this path, with a column that is out of range, is another file.
  local bytes = files.read(path)
  local at = bytes:find(("<i4"):pack(dataset().graph.adjacency:col_of()[1] - 1)
    .. ("<i4"):pack(dataset().graph.adjacency:col_of()[2] - 1), 1, true)
  local file = io.open(path, "r+b")
  file:seek("set", at - 1)
  file:write(("<i4"):pack(NODES))
  file:close()
  shell.refuses("adj_indices[0] is 140000, must be in 0..139999", load_with(cache, path))
end

--- Records are in the folder that data sets are fetched to, whichever comes first.
function tests.test_one_cache()
  local path, cache = folder.path .. "/x.safetensors", folder.path .. "/cache"
  ladies.data.save(dataset(), path)
  load_with(cache, path)
  local code = "io.write(require('ladies.data.store.cache').make_folder())"
  local out, err = shell.run({shell.ladies, "-e", code}, {env = {"LADIES_CACHE=" .. cache}})
  lu.assertEquals({out, err}, {cache, ""})
  lu.assertStrContains(load_with(cache, path), "true\ttrue")
end

--- The file is checked once more, and nothing else happens, where the record of its check is
-- damaged, no cache can be made, or the cache is somebody else's folder.
function tests.test_records_that_are_none()
  local path, cache = folder.path .. "/x.safetensors", folder.path .. "/cache"
  ladies.data.save(dataset(), path)
  load_with(cache, path)
  local record = cache .. "/checked/" .. core.files(cache .. "/checked")[1]
  local whole = files.read(record)
  for _, text in ipairs{"", "{", "[]", '{"form":1}', (whole:gsub('"form":1', '"form":2')),
    (whole:gsub('"identity":"', '"identity":"1'))} do
    files.write(record, text)
    lu.assertEquals(load_with(cache, path):match "^%S+", "nil")
  end
  local foreign = folder.path .. "/foreign"
  core.folder.make(foreign)
  files.write(foreign .. "/a", "")
  lu.assertEquals(load_with(foreign, path):match "^%S+%s+%S+", "nil\tnil")
  lu.assertEquals(core.files(foreign), {"a"})
  files.write(folder.path .. "/occupied", "")
  local out, err, status = load_with(folder.path .. "/occupied", path)
  lu.assertEquals({out:match "^%S+%s+%S+", err, status}, {"nil\tnil", "", 0})
end

-- ---------------------------------------------------------------- beyond 2^31 entries

--- A graph whose first row has 2^31 + 1000 entries that nobody reads, in a file that is a hole up
-- to the other rows' entries.
function tests.test_beyond_2_31_entries()
  local path, n, first = folder.path .. "/x.safetensors", NODES, (1 << 31) + 1000
  local nnz = first + 2 * (n - 1)
  local offsets, columns = {("<i8"):pack(0)}, {}
  for i = 1, n do offsets[i + 1] = ("<i8"):pack(first + 2 * (i - 1)) end
  for i = 1, n - 1 do columns[i] = ("<i4i4"):pack(i - 1, i) end
  local file = io.open(path, "wb")
  file:write(header_of(n, nnz), table.concat(offsets))
  file:seek("cur", 4 * first)
  file:write(table.concat(columns))
  file:close()

  local A = open_graph(path, n, {checked = true})
  lu.assertEquals({A.nnz, A:degrees()[2], A:degrees()[n]}, {nnz, 2, 2})
  -- The other rows, as a matrix of their own.
  local ends = ladies.range(2, n)
  local small = ladies.matrix{n_rows = n, n_cols = n, rows = ends .. ends,
    cols = ladies.range(1, n - 1) .. ends}
  local nodes = ladies.sampling.permutation(n - 1, ladies.rng(1)):slice(1, 500) + 1
  local U, src = A:slice(nodes)
  local V, same = small:slice(nodes)
  lu.assertTrue(src == same and U == V)
  lu.assertTrue(A:induced(nodes) == small:induced(nodes))
  lu.assertTrue(U:pick_cols(ladies.range(1, 100)) == V:pick_cols(ladies.range(1, 100)))
  lu.assertTrue(A:rows(nodes):row_normalize() == small:rows(nodes):row_normalize())
  for _, opts in ipairs{{}, {replace = true}} do
    local draws = {}
    for i, with in ipairs{A, small} do
      opts.rng = ladies.rng(3)
      local S, near, w = with:sample_rows(nodes, 1, opts)
      draws[i] = {S:hash(), near:hash(), w:hash()}
    end
    lu.assertEquals(draws[1], draws[2])
  end
  lu.assertEquals(A:random_walk(nodes, 3, {rng = ladies.rng(2)}):hash(),
    small:random_walk(nodes, 3, {rng = ladies.rng(2)}):hash())
  lu.assertStrContains(message_of(A.offsets, A), "offsets: the matrix has 2147764646 entries; "
    .. "positions of more than 2147483647 do not fit an Index")
  lu.assertStrContains(message_of(function() return U.edge end), "edge: the matrix has 2147764646")
end

return tests

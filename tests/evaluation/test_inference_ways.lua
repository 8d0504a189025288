--- Exact inference in memory, in files, and for some nodes alone: the same logits, in the bound
-- that is given, and nothing is left behind.
local lu = require "luaunit"
local every_allocation = require "tools.every_allocation"
local ladies = require "ladies"
local core = require "ladies_core"
local alike = require "reference.alike_rows"
local compare = require "reference.compare"
local files = require "tools.files"
local message_of = require "tools.message_of"
local shell = require "tools.shell"

local tests = {}
local folder = shell.folder_of_each(tests)

local NODES, FEATURES, WIDTH, CLASSES = 3000, 33, 64, 7

local data = ladies.generate.power_law{nodes = NODES, entries = 20000, features = FEATURES,
  classes = CLASSES}

-- One model of each kind that has layers, with the settings that change what these pass on.
local function models()
  local list = {}
  local function add(kind, own)
    local opts = {inputs = FEATURES, outputs = CLASSES, layers = 3}
    if kind ~= "sgc" then opts.hidden, opts.activation = WIDTH, "elu" end
    for key, value in pairs(own or {}) do opts[key] = value end
    list[#list + 1] = ladies.nn[kind](opts)
  end
  add "gcn"
  add("gcn", {head = "concat", norm = true})
  add("gcn", {head = "max", residual = true, order = "propagate_first"})
  add "gcnii"
  add("gcnii", {alpha = 0.1})
  add("sage", {aggregate = "mean"})
  add("sage", {aggregate = "max"})
  add "gat"
  add("gin", {eps = 0.5})
  add "sgc"
  add "appnp"
  return list
end

local function some_nodes(n)
  return ladies.sampling.permutation(NODES, ladies.rng(3)):slice(1, n)
end

-- Asserts equal bits where a product of BLAS has the same bits for the same row, and else equality
-- up to rounding.
local function assert_same(got, expected, what)
  if alike then return lu.assertEquals(got:hash(), expected:hash(), what) end
  compare.assert_close(got, expected, 1e-5, what)
end

local function names_in_folder()
  local pipe <close> = assert(io.popen(("ls -A %s"):format(shell.quote(folder.path))))
  return pipe:read "a"
end

function tests.test_all_ways_give_the_same_logits()
  local repeated = ladies.sampling.permutation(NODES, ladies.rng(2)):slice(1, 20):to_table()
  repeated[#repeated + 1] = repeated[1]
  for _, model in ipairs(models()) do
    local what = tostring(model)
    local whole = ladies.inference.exact(model, data)
    lu.assertTrue(whole:abs():max() > 0, what)
    lu.assertEquals(ladies.inference.exact(model, data, {memory = 1, folder = folder.path}):hash(),
      whole:hash(), what)
    for _, nodes in ipairs{some_nodes(10), some_nodes(1000), ladies.index(repeated)} do
      for _, memory in ipairs{1, "1G"} do
        assert_same(ladies.inference.exact(model, data,
          {nodes = nodes, memory = memory, folder = folder.path}), whole[nodes], what)
      end
    end
  end
  lu.assertEquals(names_in_folder(), "")
end

--- Inference of a model that reads no graph uses files, too, where it may have little memory.
function tests.test_without_a_graph()
  local model = ladies.nn.mlp{inputs = FEATURES, hidden = WIDTH, outputs = CLASSES}
  local whole = ladies.inference.exact(model, data)
  for _, nodes in ipairs{ladies.range(1, NODES), some_nodes(10)} do
    local way = ladies.inference.way{nodes = nodes, memory = 1, folder = folder.path}
    lu.assertEquals(ladies.inference.exact(model, data, {way = way}):hash(), whole[nodes]:hash())
    lu.assertStrMatches(tostring(way), "exact; more than the 1 B of memory that it may have: "
      .. "up to [%d.]+ MB in files in " .. folder.path)
  end
  lu.assertEquals(names_in_folder(), "")
end

--- Products whose factor is in a file go by windows of it: the same bits for matrices of all kinds,
-- with columns that fill the vectors and others, and for rows that are not sorted.
function tests.test_products_in_files()
  local room = core.room(1, folder.path)
  local A = data.graph.adjacency
  local rng = ladies.rng(5)
  local matrices = {A, data.graph:normalize "sym", data.graph:normalize "row",
    A:with_values(ladies.zeros(A.nnz):normal_(1, rng)), A:rows(some_nodes(1200)),
    (A:slice(some_nodes(900), {first = some_nodes(900)}))}
  for i, P in ipairs(matrices) do
    for _, width in ipairs{1, 23, 64, 200} do
      local x = ladies.zeros(P.n_cols, width):normal_(1, rng)
      local inside = core.in_room(room, x.clone, x)
      lu.assertEquals(core.in_room(room, P.matmul, P, inside):hash(), P:matmul(x):hash(),
        ("matrix %d, %d columns"):format(i, width))
    end
  end
end

--- Inference in files takes sparse features, and half-precision ones in a file.
function tests.test_other_features()
  local path = folder.path .. "/graph.safetensors"
  ladies.data.save(data, path, {dtype = "float16"})
  local rounded = ladies.data.load(path, {features_in = "memory"})
  local P, model = data.graph:normalize "sym", models()[1]
  for _, case in ipairs{{rounded.features, ladies.sparse(rounded.features)},
    {ladies.data.load(path, {features_in = "file"}).features, rounded.features}} do
    local features, same = table.unpack(case)
    local given = {features = features}
    local logits = ladies.inference.exact(model, P, given)
    compare.assert_close(logits, ladies.inference.exact(model, P, {features = same}), 1e-5, "all")
    for _, nodes in ipairs{some_nodes(10), some_nodes(1500)} do
      given.nodes, given.memory = nodes, 1
      assert_same(ladies.inference.exact(model, P, given), logits[nodes], "features")
    end
  end
end

--- On a ring a node has two neighbours and itself, so the entries can be counted by hand.
function tests.test_the_field_of_a_ring()
  local n, ids = 40, ladies.range(1, 40)
  local ring = ladies.graph.new(ladies.matrix{n_rows = n, n_cols = n,
    rows = ids, cols = ids % n + 1}:symmetrize())
  local model = ladies.nn.gcn{inputs = 3, outputs = 2, hidden = 4, layers = 3}
  local features = ladies.zeros(n, 3):normal_(1, ladies.rng(1))
  local function text(nodes)
    local way = ladies.inference.way{nodes = nodes}
    ladies.inference.exact(model, ring, {features = features, way = way})
    return (tostring(way):match "^exact; (.-) of the entries")
  end
  -- 3 entries in the last layer, 9 and 15 before: 27 of 3 x 120
  lu.assertEquals(text(ladies.index{1}), "layers 1 to 3 of 1 node and its neighbours alone, 8 %")
  -- 10 nodes side by side: 30, 36 and 42 entries
  lu.assertEquals(text(ladies.range(5, 14)),
    "layers 1 to 3 of 10 nodes and their neighbours alone, 30 %")
  -- 20 nodes: 60 entries, half of them; all of the layers before
  lu.assertEquals(text(ladies.range(1, 20)),
    "layer 3 of 20 nodes alone, 83 %")
  lu.assertNil(text(ladies.range(1, 21)))
end

--- Layers that look at all rows at once have them all, also where few nodes are wanted.
function tests.test_layers_that_read_all_rows()
  local opts = {inputs = FEATURES, hidden = 8, outputs = CLASSES, layers = 2}
  local model, nodes = ladies.nn.gcn(opts), ladies.index{5, 1, 40}
  local layer = model.layer
  rawset(model, "layer", function(self, i, h, block, rng)
    h = layer(self, i, h, block, rng)
    return h - ladies.ones(h.n_rows, 1):matmul(h:sum(1):reshape(1, h.n_cols) / h.n_rows)
  end)
  local all = ladies.inference.exact(model, data)
  assert_same(ladies.inference.exact(model, data, {nodes = nodes}), all[nodes], "some nodes")
  local P, way = data.graph:normalize "sym", ladies.inference.way{nodes = nodes}
  ladies.inference.exact(ladies.nn.gcn(opts), data, {P = P, way = way})
  assert_same(ladies.inference.exact(model, data, {P = P, way = way}), all[nodes], "a used way")
end

--- Memory stays below every bound that is given, and the rest of the rows lies in files.
function tests.test_the_bound_holds()
  local model = models()[4]
  local layer = NODES * WIDTH * 4
  for _, bound in ipairs{1, layer, 2 * layer, 100 * layer} do
    local way = ladies.inference.way{memory = bound, folder = folder.path}
    core.memory_trim()
    local before = core.memory().tensor
    local listed
    local h = way.room:call(function()
      model.layer = function(self, i, ...)
        listed = names_in_folder()
        return getmetatable(self).layer(self, i, ...)
      end
      return way:logits(model, data.graph:normalize "sym", data.features)
    end)
    model.layer = nil
    lu.assertEquals({listed, names_in_folder()}, {"", ""})
    lu.assertTrue(way.room:use() <= bound)
    lu.assertEquals(select(2, way.room:use()) > 0, bound < 100 * layer)
    lu.assertEquals(tostring(way):find("files in " .. folder.path, 1, true) ~= nil,
      bound < 100 * layer)
    lu.assertTrue(core.memory().tensor - before <= bound + (1 << 20))
    h:release()
  end
end

--- The memory of all files and of all that is counted is given back after an error, too, and the
-- thread is out of the room.
function tests.test_errors_leave_nothing()
  local odd = {n_layers = 2, normalize = "sym", layer = function(_, i, h)
    if i == 2 then error("no layer 2", 0) end
    return h * 2
  end}
  local function total()
    collectgarbage()
    collectgarbage()
    return core.memory().total
  end
  local given = {memory = 1, folder = folder.path}
  lu.assertStrContains(message_of(ladies.inference.exact, odd, data, given), "layer 2: no layer 2")
  local before = total()
  lu.assertStrContains(message_of(ladies.inference.exact, odd, data, given), "layer 2: no layer 2")
  lu.assertEquals(total(), before)
  local x <const> = ladies.zeros(1 << 16)
  lu.assertTrue(total() - before >= 4 * #x)                  -- in memory, not in a file

  local wrong = {n_layers = 1, normalize = "sym", layer = function() return ladies.ones(3, 1) end}
  lu.assertEquals(message_of(ladies.inference.exact, wrong, data), "ladies.inference: the last "
    .. "layer returned Tensor 3 x 1, not a row for each of the 3000 nodes")
  lu.assertStrContains(message_of(ladies.inference.exact, models()[1], data,
    {memory = 1, folder = folder.path .. "/none"}), "can be made in " .. folder.path
    .. "/none: No such file or directory; more memory (--memory, in Lua memory), another disk")
  local function layer() error("a temporary file", 0) end
  local other = {n_layers = 1, normalize = "sym", layer = layer}
  lu.assertEquals(message_of(ladies.inference.exact, other, data), "layer 1: a temporary file")
  local way = ladies.inference.way{}
  lu.assertEquals(message_of(ladies.inference.exact, models()[1], data, {way = way, memory = 1}),
    "ladies.inference.exact: give memory to ladies.inference.way, not beside the way that it made")
  lu.assertStrContains(message_of(ladies.inference.exact, models()[1], data.graph),
    "ladies.inference.exact: features must be a Tensor")
  lu.assertStrContains(message_of(way.logits, way, models()[1], data.graph:normalize "sym",
    data.features, ladies.ones(1)), "ladies.inference: edges must be an EdgeData, got a Tensor")
  lu.assertStrContains(message_of(ladies.inference.exact, models()[1], data, {memory = "much"}),
    'memory must be a size, as "4G" or "500M", got "much"')
end

function tests.test_interrupted()
  local model, n = models()[4], 0
  repeat
    n = n + 7
    core.cancel_at(n)
    local ok, message = pcall(ladies.inference.exact, model, data,
      {memory = 1, folder = folder.path})
    core.cancel_at(0)
    if not ok then lu.assertTrue(ladies.errors.is_interrupt(message), tostring(message)) end
    lu.assertEquals(names_in_folder(), "")
  until ok
  lu.assertTrue(n > 14)
end

function tests.test_every_allocation_may_fail()
  local model, P = models()[1], data.graph:normalize "sym"
  local given = {features = data.features, nodes = some_nodes(300), memory = 1,
    folder = folder.path}
  ladies.inference.exact(model, P, given)
  lu.assertTrue(every_allocation(function() ladies.inference.exact(model, P, given) end) > 30)
end

-- ---------------------------------------------------------------- a full disk, and commands

-- Runs our program where no file may be larger than so many KiB.
local function run_with_limit(kib, arguments)
  local words = {shell.quote(shell.ladies)}
  for _, word in ipairs(arguments) do words[#words + 1] = shell.quote(word) end
  return shell.run{"bash", "-c", ("ulimit -f %d; exec %s"):format(kib, table.concat(words, " "))}
end

local function saved()
  local path = folder.path .. "/graph.npz"
  ladies.data.save(data, path)
  return path, folder.path .. "/run"
end

local TRAIN = {"--layers", "2", "--hidden", "64", "--samples", "32", "--max-batches", "20",
  "--model", "gcn", "--self-nodes", "previous", "--quiet"}

local function train(path, out, ...)
  local arguments = {"train", path, "--out", out, table.unpack(TRAIN)}
  for _, word in ipairs{...} do arguments[#arguments + 1] = word end
  return arguments
end

--- Exact inference without room ends training or evaluation with one line, and a finished run's
-- model stays; with more memory it works.
function tests.test_a_full_disk()
  local path, run = saved()
  local out, err, status = run_with_limit(500, train(path, run, "--memory", "1"))
  lu.assertEquals(status, 1, out)
  lu.assertEquals(err:gsub("no room[^;]*", "FULL"), "ladies train: layer 1: FULL; more memory "
    .. "(--memory, in Lua memory), another disk (by TMPDIR, in Lua folder) or, of nodes, sampled "
    .. "inference helps\n")
  lu.assertStrContains(err, "File too large")
  os.execute("rm -r " .. run)
  lu.assertEquals({select(2, shell.run_ladies(train(path, run)))}, {"", 0})

  local model = files.read(run .. "/model.npz")
  err, status = select(2, run_with_limit(500, {"evaluate", run, "--memory", "1"}))
  lu.assertEquals(status, 1)
  lu.assertStrMatches(err, "ladies evaluate: layer 1: no room for a temporary file of %S+ GB in "
    .. "[^\n]+ helps\n")
  lu.assertEquals({select(2, run_with_limit(500, {"evaluate", run}))}, {"", 0})
  lu.assertTrue(files.read(run .. "/model.npz") == model)
end

--- Where there is room for the validation and none for the test, of all nodes, the model is kept.
function tests.test_no_room_for_the_test()
  local path, run = saved()
  local out, err = shell.succeeded(run_with_limit(200, train(path, run, "--memory", "500K",
    "--validation", "sampled")))
  for _, what in ipairs{"predictions of all nodes", "test and predictions"} do
    lu.assertStrMatches(err, (".*ladies: the model is kept, without %s: layer 1: no room for a "
      .. "temporary file[^\n]+ helps\n.*"):format(what))
  end
  lu.assertStrContains(out, "ended by     max_batches")
  lu.assertEquals({core.exists(run .. "/model.npz"), core.exists(run .. "/predictions.npz")},
    {"file", false})
end

--- Where there is room for the nodes of the test and none for all, the test is the one that it is
-- with room for all, and predictions are left out.
function tests.test_room_for_the_test_alone()
  local path, run = saved()
  local parts = {}
  for i, part in ipairs{{1, 300}, {301, 320}, {321, 340}} do
    parts[i] = ("%s/%d.txt"):format(folder.path, i)
    files.write(parts[i], table.concat(core.range(part[1], part[2]):to_table(), "\n"))
  end
  local split = {"--split", table.concat(parts, ",")}
  local words = train(path, run .. 1, "--memory", "200K", table.unpack(split))
  local out, err = shell.succeeded(run_with_limit(200, words))
  lu.assertStrMatches(err, "[^\n]+\nladies: the model is kept, without predictions of all nodes: "
    .. "layer 1: no room for a temporary file[^\n]+ helps\n")
  lu.assertEquals({core.exists(run .. 1 .. "/model.npz"),
    core.exists(run .. 1 .. "/predictions.npz")}, {"file", false})
  local whole = shell.run_ladies(train(path, run .. 2, table.unpack(split)))
  local f1 = whole:match "\ntest micro%-F1 %S+"
  lu.assertEquals({f1 ~= nil, out:match "\ntest micro%-F1 %S+"}, {true, f1})
end

--- The model does not depend on the memory, and the way is reported where it was asked for.
function tests.test_commands()
  local path, run = saved()
  local texts = {}
  for i, more in ipairs{{}, {"--memory", "1"}} do
    local out = shell.silent(shell.run_ladies(train(path, run .. i, table.unpack(more)),
      {env = {"TMPDIR=" .. folder.path}}))
    texts[i] = out:match "\n  inference    (exact; [^\n]+)"
  end
  lu.assertStrMatches(texts[1], "exact; layer 2 of 300 nodes alone, .* in memory")
  lu.assertStrContains(texts[2], "more than the 1 B of memory that it may have: up to ")
  for _, name in ipairs{"/model.npz", "/predictions.npz"} do
    lu.assertTrue(files.read(run .. 1 .. name) == files.read(run .. 2 .. name), name)
  end
  local plain = shell.run_ladies{"predict", run .. 1}
  local out, err = shell.run_ladies{"predict", run .. 1, "--memory", "1", "--verbose"}
  lu.assertTrue(#plain > 0 and out == plain)
  lu.assertStrMatches(err, "ladies: exact; more than the 1 B [^\n]+\n")
  lu.assertStrContains(select(2, shell.run_ladies{"evaluate", run .. 1, "--memory", "1",
    "--inference", "sampled"}), "--memory is of exact inference; leave --inference sampled out")
end

return tests

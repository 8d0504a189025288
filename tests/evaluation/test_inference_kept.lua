--- Exact inference that lies in files: how much disk it takes is known before it begins, and one
-- that is killed goes on with the layer that it had come to.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local files = require "tools.files"
local message_of = require "tools.message_of"
local own_folder = require "ladies.base.own_folder"
local shell = require "tools.shell"

local tests = {}

local NODES, FEATURES, CLASSES, LAYERS = 33000, 33, 7, 3

local data = ladies.generate.power_law{nodes = NODES, entries = 130000, features = FEATURES,
  classes = CLASSES, train = 0.01, val = 0.4}

-- A model of one kind whose layers call before(i) on the whole graph, and not in a rehearsal.
local function watched(kind, own, before)
  local opts = {inputs = FEATURES, outputs = CLASSES, layers = LAYERS}
  if kind ~= "sgc" then opts.hidden, opts.activation = 32, "elu" end
  for key, value in pairs(own) do opts[key] = value end
  local model = ladies.nn[kind](opts)
  function model:layer(i, h, block, ...)
    if block.adj.n_cols == NODES then before(i) end
    return getmetatable(self).layer(self, i, h, block, ...)
  end
  return model
end

-- Models whose layers pass on a tensor, two of them, the same one twice, and nodes.
local KINDS = {
  {"gcn", {}}, {"gcn", {order = "propagate_first"}}, {"gcn", {head = "concat", norm = true}},
  {"gcn", {head = "max", residual = true}}, {"gcnii", {alpha = 0.1}}, {"gat", {}}, {"appnp", {}},
}

-- The folder of temporary files: in memory where there is such, since much is brought to the disk.
local folder

function tests.setUp()
  local in_memory = core.exists "/dev/shm" and core.folder.free "/dev/shm" > 1 << 28
  folder = shell.folder(in_memory and "/dev/shm" or nil)
end

function tests.tearDown()
  local _ <close> = folder
end

-- The result of a call, and the lines that it has printed.
local function told(f, ...)
  local lines, stderr <const> = {}, io.stderr
  rawset(io, "stderr", {write = function(_, ...) lines[#lines + 1] = table.concat{...} end})
  local results = table.pack(pcall(f, ...))
  rawset(io, "stderr", stderr)
  return results[2], table.concat(lines), results[1]
end

local function nothing() end

-- A function for `watched` that notes the layers in a list and fails in layer 2 while the flag is
-- set.
local function failing()
  local state = {fails = true, list = {}}
  return state, function(i)
    table.insert(state.list, i)
    if state.fails and i == 2 then error("stopped", 0) end
  end
end

-- ---------------------------------------------------------------- the disk

--- A rehearsal foretells the bytes in files, or up to a tenth more: it rounds entries a row up.
function tests.test_bytes_are_foretold()
  for _, kind in ipairs(KINDS) do
    for _, memory in ipairs{1, 10000000, "1G"} do
      local way = ladies.inference.way{memory = memory, folder = folder.path}
      ladies.inference.exact(watched(kind[1], kind[2], nothing), data, {way = way})
      local found = select(2, way.room:use())
      local what = ("%s, %s: %d foretold, %d found"):format(kind[1], memory, way.bytes, found)
      if memory ~= 10000000 then lu.assertEquals(found > 0, memory == 1, what) end
      lu.assertTrue(found <= way.bytes and way.bytes <= 1.1 * found, what)
    end
  end
  lu.assertEquals(core.files(folder.path), {})
end

--- Of some nodes it counts what these need in each layer, where that is less than all: large graphs
-- are evaluated on few nodes.
function tests.test_bytes_of_some_nodes_are_foretold()
  for _, kind in ipairs(KINDS) do
    for _, n in ipairs{60, 6000} do
      local function bytes_of(nodes)
        local way = ladies.inference.way{memory = 1, folder = folder.path, nodes = nodes}
        ladies.inference.exact(watched(kind[1], kind[2], nothing), data, {way = way})
        return way.bytes, (select(2, way.room:use()))
      end
      local foretold, found = bytes_of(core.range(NODES - n + 1, NODES))
      local what = ("%s, %d nodes: %d foretold, %d found"):format(kind[1], n, foretold, found)
      lu.assertTrue(math.abs(foretold / found - 1) < 0.1, what)
      lu.assertTrue(foretold < bytes_of() or n > 60, what)
    end
  end
end

--- Nothing is tried on a small graph where there is memory for all layers without doubt: then no
-- bytes lie in files, whatever the model.
function tests.test_no_rehearsal_where_memory_is_enough()
  local pna = {"pna", {delta = 1}}
  local kinds = table.move(KINDS, 1, #KINDS, 2, {pna})
  for _, kind in ipairs(kinds) do
    local least                                -- the memory from which nothing is tried
    for _, memory in ipairs{20000000, 40000000, 320000000} do
      local way = ladies.inference.way{memory = memory, folder = folder.path}
      local model, rehearsed = watched(kind[1], kind[2], nothing), false
      local layer = model.layer
      function model:layer(i, h, block, ...)
        rehearsed = rehearsed or block.adj.n_cols ~= NODES
        return layer(self, i, h, block, ...)
      end
      ladies.inference.exact(model, data, {way = way})
      if not rehearsed then
        least = least or memory
        lu.assertEquals({way.bytes, (select(2, way.room:use()))}, {0, 0}, kind[1])
      end
    end
    lu.assertTrue(least and least > 20000000, kind[1])
  end
end

--- Features in a file are counted where the first layer needs all of them as float32.
function tests.test_features_in_a_file()
  local path = folder.path .. "/graph.safetensors"
  ladies.data.save(data, path, {dtype = "float16"})
  local from_file = ladies.data.load(path, {features_in = "file"})
  local bytes = {}
  for _, order in ipairs{"transform_first", "propagate_first"} do
    local way = ladies.inference.way{memory = 1, folder = folder.path}
    ladies.inference.exact(watched("gcn", {order = order}, nothing), from_file, {way = way})
    lu.assertEquals(way.bytes, (select(2, way.room:use())))
    bytes[order] = way.bytes
  end
  lu.assertEquals(bytes.transform_first, 3 * NODES * 32 * 4)
  lu.assertEquals(bytes.propagate_first, NODES * (2 * FEATURES + 32) * 4)
end

function tests.test_free_bytes()
  local line = shell.run{"df", "-B1", "--output=avail", folder.path}
  local free = tonumber(line:match "(%d+)%s*$")
  lu.assertTrue(math.abs(core.folder.free(folder.path) - free) < 0.1 * free + (1 << 28))
  lu.assertStrContains(message_of(core.folder.free, folder.path .. "/none"), "/none: No such file")
end

--- Where the disk has too little, no layer begins, and a line says what is needed, what is free and
-- where, and what helps.
function tests.test_too_little_disk()
  local began = false
  local model = watched("gcn", {}, function() began = true end)
  local way = ladies.inference.way{memory = 1, folder = folder.path}
  local free <const> = core.folder.free
  core.folder.free = function() return 12000000 end
  local message = message_of(ladies.inference.exact, model, data, {way = way})
  core.folder.free = function() return 3 * NODES * 32 * 4 end
  local enough = pcall(ladies.inference.exact, model, data, {way = way})
  core.folder.free = free
  lu.assertEquals(message, ("exact inference needs 12.1 MB of disk for what it computes, and %s "
    .. "has 11.4 MB free; more memory (--memory, in Lua memory), another disk (by TMPDIR, in Lua "
    .. "folder) or, of nodes, sampled inference helps"):format(folder.path))
  lu.assertEquals({enough, began}, {true, true})
  lu.assertFalse(way.room:was_short())
  lu.assertEquals(core.files(folder.path), {})
end

-- ---------------------------------------------------------------- what is kept

--- An inference that has failed in layer 2 goes on there: layer 1 is not computed again, the bits
-- are those of memory, and nothing is left behind.
function tests.test_all_models_go_on()
  for _, kind in ipairs(KINDS) do
    local whole = ladies.inference.exact(watched(kind[1], kind[2], nothing), data)
    local state, before = failing()
    local given = {memory = 1, folder = folder.path}
    local model = watched(kind[1], kind[2], before)
    lu.assertStrContains(message_of(ladies.inference.exact, model, data, given), "layer 2: stopped")
    lu.assertEquals(#core.files(folder.path), 1, kind[1])
    state.fails = false
    local logits, line = told(ladies.inference.exact, model, data, given)
    lu.assertEquals(logits:hash(), whole:hash(), kind[1])
    lu.assertEquals(state.list, {1, 2, 2, 3}, kind[1])
    lu.assertStrMatches(line, "ladies: exact inference goes on with layer 2 of 3, which an earlier "
      .. "one had come to %([^\n]*/ladies%-inference%-%x+%)\n")
    lu.assertEquals(core.files(folder.path), {}, kind[1])
  end
end

--- Another model, another P, other features and other nodes do not go on from there; what is left
-- of others is removed, but not where a process is at work.
function tests.test_others_do_not_go_on()
  local function left_by(given)
    local state, before = failing()
    local model = watched("gcn", {}, before)
    pcall(ladies.inference.exact, model, data, given)
    state.list, state.fails = {}, false
    return model, state.list, core.files(folder.path)[1]
  end
  local given = {memory = 1, folder = folder.path}
  for what, change in pairs{
    model = function(model) model.layers[1].conv.bias:add_at_(ladies.index{1}, 1) end,
    config = function(model) model.config.dropout = 0.25 end,
    P = function(_, opts) opts.P = data.graph:normalize "row" end,
    features = function(_, opts) opts.features = data.features * 2 end,
    nodes = function(_, opts) opts.nodes = ladies.range(1, NODES - 1) end,
  } do
    local model, list = left_by(given)
    local opts = {memory = 1, folder = folder.path}
    change(model, opts)
    local _, line, ok = told(ladies.inference.exact, model, data, opts)
    lu.assertEquals({ok, line, list[1]}, {true, "", 1}, what)
    lu.assertEquals(core.files(folder.path), {}, what)
  end

  local model, list, name = left_by(given)
  do
    local at_work <close> = own_folder.at(folder.path .. "/" .. name):take "exact inference"
    lu.assertEquals({(told(ladies.inference.exact, model, data, given)):hash(), list[1]},
      {ladies.inference.exact(model, data):hash(), 1})
    given.nodes = ladies.range(1, NODES - 1)
    ladies.inference.exact(model, data, given)
    lu.assertEquals(core.files(folder.path), {name})
    lu.assertNotNil(at_work)
  end
  ladies.inference.exact(model, data, given)
  lu.assertEquals(core.files(folder.path), {})
end

--- Nor does a layer that calls another function than before, or has captured another value.
function tests.test_other_helpers()
  local function once(h) return h * 1 end
  local function twice(h) return h + h end
  local function model_of(helper, factor, added, fails)
    local model = ladies.nn.gcn{inputs = FEATURES, hidden = 8, outputs = CLASSES, layers = LAYERS}
    function model:layer(i, h, block, ...)
      if fails.now and i == 2 and block.adj.n_cols == NODES then error("stopped", 0) end
      return helper(getmetatable(self).layer(self, i, h, block, ...)) * factor + (added and 1 or 0)
    end
    return model
  end
  local given, one = {memory = 1, folder = folder.path}, ladies.ones(1)
  local others = {{once, one, false}, {twice, one, false}, {once, ladies.full(1, 2), false},
    {once, one, true}}
  for i, other in ipairs(others) do
    local stopped = model_of(once, one, false, {now = true})
    lu.assertFalse((pcall(ladies.inference.exact, stopped, data, given)))
    local model = model_of(other[1], other[2], other[3], {})
    local logits, line = told(ladies.inference.exact, model, data, given)
    lu.assertEquals(logits:hash(), ladies.inference.exact(model, data):hash())
    lu.assertEquals(line ~= "", i == 1, i)
  end
end

--- Where a layer passes on a tensor of the model, nothing is kept, and the tensor stays as it is.
function tests.test_tensors_of_the_model()
  local model = {n_layers = 2, normalize = "sym", scale = ladies.full(2, NODES, 1)}
  function model:layer(i, h, block)
    if i == 1 then return {h = block.adj:matmul(h), scale = self.scale} end
    if self.fails and block.adj.n_cols == NODES then error("stopped", 0) end
    return block.adj:matmul(h.h) + h.scale[1][1]
  end
  local given, whole = {memory = 1, folder = folder.path}, ladies.inference.exact(model, data)
  model.fails = true
  lu.assertStrContains(message_of(ladies.inference.exact, model, data, given), "layer 2: stopped")
  lu.assertEquals(core.files(folder.path), {})
  model.fails = nil
  lu.assertEquals(ladies.inference.exact(model, data, given):hash(), whole:hash())
  model.scale:fill_(1)                                 -- it is not frozen
end

--- Files that are damaged count for nothing.
function tests.test_damaged()
  local given = {memory = 1, folder = folder.path}
  for _, damage in ipairs{"truncate -s -4 %s/1-1", "rm %s/1-1", "echo {} >%s/layer.json"} do
    local state, before = failing()
    local model = watched("gcn", {}, before)
    pcall(ladies.inference.exact, model, data, given)
    os.execute(damage:format(folder.path .. "/" .. core.files(folder.path)[1]))
    state.fails = false
    local logits, line = told(ladies.inference.exact, model, data, given)
    lu.assertEquals({line, state.list}, {"", {1, 2, 1, 2, 3}}, damage)
    lu.assertEquals(logits:hash(), ladies.inference.exact(model, data):hash())
    lu.assertEquals(core.files(folder.path), {})
  end
end

--- Ctrl-C says from where it goes on.
function tests.test_interrupted()
  local strikes = true
  local model = watched("gcn", {}, function(i) if i == 3 and strikes then core.cancel_at(1) end end)
  local given = {memory = 1, folder = folder.path}
  local ok, e = pcall(ladies.inference.exact, model, data, given)
  core.cancel_at(0)
  lu.assertFalse(ok)
  lu.assertTrue(ladies.errors.is_interrupt(e))
  lu.assertStrMatches(tostring(e), ".*; layer 2 of 3 is kept in [^\n]*/ladies%-inference%-%x+, and "
    .. "the same inference goes on after it")
  strikes = false
  lu.assertEquals(told(ladies.inference.exact, model, data, given):hash(),
    ladies.inference.exact(model, data):hash())
  lu.assertEquals(core.files(folder.path), {})
end

--- A tensor is kept once it is in a file, under a name that is free, and then does not change.
function tests.test_kept_tensors()
  local room, path = core.room(10^7 // 1, folder.path), folder.path .. "/x"
  local x = core.in_room(room, function() return ladies.ones(300, 100) * 2 end)
  local shape = x:slice(1, 2)
  lu.assertStrContains(message_of(core.room_keep, room, x, path), "shares its memory with others")
  shape:release()
  core.room_keep(room, x)
  lu.assertEquals({core.files(folder.path), (select(2, core.room_use(room)))}, {{}, 120000})
  core.room_keep(room, x, path)
  lu.assertStrContains(message_of(x.fill_, x, 1), "frozen")
  lu.assertStrContains(message_of(core.room_keep, room, x, path), "cannot be kept: File exists")
  local y = core.room_kept(room, path, 300, 100)
  lu.assertEquals(y:hash(), x:hash())
  lu.assertEquals(core.room_kept(room, path, 30000):hash(), x:reshape(30000):hash())
  lu.assertStrContains(message_of(core.room_kept, room, path, 30, 100), "has not the 12000 bytes")
  lu.assertStrContains(message_of(core.room_kept, room, path .. "y", 30), "No such file")
  for _, tensor in ipairs{x, y} do tensor:release() end
  lu.assertEquals(files.read(path), ("<f"):pack(2):rep(30000))
end

-- ---------------------------------------------------------------- commands that are killed

-- A model of a user's own whose process is killed in layer 2 of exact inference.
local MODEL = ([[
  return function(settings, data)
    local model = require("ladies").nn.gcn{inputs = %d, hidden = 32, outputs = %d, layers = %d}
    function model:layer(i, h, block, ...)
      if block.adj.n_cols == %d then
        io.stdout:write("layer ", i, "\n")
        io.stdout:flush()
        if i == 2 and os.getenv "STRIKE" then os.execute "kill -9 $PPID" end
      end
      return getmetatable(self).layer(self, i, h, block, ...)
    end
    return model
  end]]):format(FEATURES, CLASSES, LAYERS, NODES)

--- `evaluate`, `predict` and the validation of training that are killed go on by the same command.
function tests.test_killed()
  local path, model = folder.path .. "/graph.npz", folder.path .. "/mine.lua"
  ladies.data.save(data, path)
  files.write(model, MODEL)
  local TMP = "TMPDIR=" .. folder.path .. "/tmp"
  core.folder.make(folder.path .. "/tmp")
  local function run(words, strikes)
    return shell.run_ladies(words, {env = {TMP, strikes and "STRIKE=1" or "CALM=1"}})
  end
  -- Runs a command that is killed once and one that never is, and compares what both print.
  local function both(words, again)
    local calm = run(words)
    local out, err, status = run(again and again.first or words, true)
    lu.assertEquals({out:match "layer %d.*", status}, {"layer 1\nlayer 2\n", 128 + 9}, err)
    lu.assertEquals(#core.files(folder.path .. "/tmp"), 1)
    out, err = shell.succeeded(run(again and again.second or words))
    lu.assertStrMatches(err, "ladies: exact inference goes on with layer 2 of 3[^\n]+\n")
    lu.assertStrMatches(out:match "layer %d.*", "layer 2\nlayer 3\n.*")
    lu.assertEquals(core.files(folder.path .. "/tmp"), {})
    return calm, out
  end
  local function train(out, ...)
    return {"train", path, "--model", model, "--out", folder.path .. out, "--memory", "1",
      "--samples", "32", "--layers", tostring(LAYERS), "--self-nodes", "previous", "--batch-size",
      "64", "--max-batches", "6", "--eval-every", "3", "--checkpoint-every", "1", "--quiet", ...}
  end
  local run1, run2 = folder.path .. "/run1", folder.path .. "/run2"
  both(train "/run1", {first = train "/run2",
    second = {"train", "--resume", run2, "--model", model, "--memory", "1", "--quiet"}})
  for _, name in ipairs{"/model.npz", "/predictions.npz"} do
    lu.assertTrue(files.read(run1 .. name) == files.read(run2 .. name), name)
  end
  local function plain(text) return (text:gsub("layer %d\n", ""):gsub("in [%d.]+ s\n", "")) end
  local words = {"evaluate", run1, "--model", model, "--memory", "1"}
  local calm, out = both(words)
  lu.assertEquals(plain(out), plain(calm))
  words[1] = "predict"
  calm, out = both(words)
  lu.assertEquals(plain(out), plain(calm))
  lu.assertEquals(plain(out), plain(run{"predict", run1, "--model", model}))
end

return tests

--- Tests `ladies bench peers`: its files for other programs, and its turns with them. The peer here
-- is a shell script that answers as scripts/bench/peers/common.py does.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local cases = require "experiments.bench.peers.cases"
local compare = require "experiments.bench.peers.compare"
local json = require "ladies.base.json"
local ours = require "experiments.bench.peers.ours"
local report = require "experiments.bench.peers.report"
local Resident = require "experiments.bench.peers.resident"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local tests = {}

local data = toy.new()

local ANSWERS = [[
while read word n; do
  case $word in
    check) echo '%s';;
    run) for i in $(seq "$n"); do echo "2.0 0.5 0.25"; done; echo ok;;
    quit) exit;;
  esac
done
]]

local folders = 0

local function new_folder()
  folders = folders + 1
  local path = temporary.path("case" .. folders)
  core.mkdir(path)
  return path
end

-- A program in the folder, in the place of Python.
local function program(folder, text)
  local path = folder .. "/fake"
  core.file.write(path, "#!/bin/sh\n" .. text)
  local process <close> = core.process.start{"chmod", "+x", path}
  lu.assertEquals(process:wait(), 0)
  return path
end

local function case_of(settings, more)
  local case = {name = "a case", work = "training", dataset = "toy", settings = settings,
    peers = {{"torch_scipy", "word"}}}
  for key, value in pairs(more or {}) do case[key] = value end
  case.settings.layers, case.settings.hidden = case.settings.layers or 2, 8
  return case
end

-- ---------------------------------------------------------------- what is written

-- The matrix that stands in arrays under a name.
local function matrix(arrays, name)
  local offsets = arrays[name .. "_indptr"]
  return core.csr{n_rows = #offsets - 1, n_cols = math.tointeger(arrays[name .. "_cols"][1]),
    offsets = offsets, columns = arrays[name .. "_indices"], values = arrays[name .. "_data"]}
end

--- The logits follow from the other arrays, by the formula.
function tests.test_arrays()
  for _, case in ipairs{
    case_of{method = "ladies", samples = 8},
    case_of{method = "ladies", samples = 8, preset = "code"},
    case_of({method = "graphsage", samples = 2}, {variant = "no self-loops"}),
    case_of({method = "labor", samples = 2}, {variant = "no self-loops"}),
    case_of({method = "full"}, {variant = "all rows"}),
    case_of{method = "clustergcn", parts = 4, clusters = 2, normalize = "sym"},
  } do
    local prepared = ours.prepare(case, data, 1)
    local arrays, settings = prepared.arrays, prepared.settings
    local check, weights = arrays.check, arrays.weights
    local h = data.features:rows(check.input)
    for i = 1, 2 do
      h = matrix(check, "block" .. i):matmul(h:matmul(weights[("layers.%d.conv.weight"):format(i)]))
        + weights[("layers.%d.conv.bias"):format(i)]
      if i == 1 or weights["head.linear.weight"] then h = h[settings.activation](h) end
    end
    if weights["head.linear.weight"] then
      h = h:matmul(weights["head.linear.weight"]) + weights["head.linear.bias"]
    end
    h = h:rows(check.places)
    lu.assertTrue((h - check.logits):norm() < 1e-4 * check.logits:norm(), settings.method)
    local loss = ladies.loss.cross_entropy(check.logits, data.labels[check.output]):item()
    lu.assertAlmostEquals(loss, check.loss[1], 1e-4)
    local whole, sampling, gathering = prepared.run()
    lu.assertTrue(whole > 0 and sampling >= 0 and gathering >= 0)
    lu.assertTrue(sampling + gathering <= whole)
  end
end

function tests.test_other_work()
  for work, settings in pairs{sampling = {method = "fastgcn", samples = 5},
                              inference = {method = "full"}, product = {method = "full"}} do
    local prepared = ours.prepare(case_of(settings, {work = work, columns = 3}), data, 1)
    lu.assertEquals(prepared.settings.work, work)
    local whole, sampling, gathering = prepared.run()
    lu.assertTrue(whole > 0 and sampling + gathering <= whole, work)
    local check = prepared.arrays.check
    if work == "product" then
      local P = matrix(prepared.arrays.data, "P")
      lu.assertTrue((P:matmul(check.h) - check.product):norm() < 1e-5)
    elseif work == "sampling" then
      for i = 1, 2 do
        lu.assertEquals({matrix(check, "block" .. i).n_rows, matrix(check, "block" .. i).n_cols},
          {#check["dst" .. i], #check["src" .. i]})
      end
      lu.assertEquals(check.src2:to_table(), check.dst1:to_table())
      lu.assertNil(prepared.arrays.data.x)
    end
  end
end

--- Layers of other kinds: what peers are told of them, and the loops that their P has.
function tests.test_other_layers()
  local entries, nodes = data.graph.adjacency.nnz, data.graph.n_nodes
  for _, one in ipairs{
    {{model = "gat", method = "full"}, "all rows", loops = nodes, heads = 8, activation = "elu"},
    {{model = "gat", method = "graphsage", samples = 2}, "no self-loops", loops = 0, heads = 8},
    {{model = "sage", method = "graphsage", samples = 2}, "no self-loops", loops = 0},
    {{model = "gcnii", method = "full", alpha = 0.1, normalize = "sym"}, "all rows", loops = nodes,
      alpha = 0.1, theta = 0.5},
  } do
    local prepared = ours.prepare(case_of(one[1], {variant = one[2]}), data, 1)
    local arrays, settings = prepared.arrays, prepared.settings
    lu.assertEquals(#arrays.data.P_indices, entries + one.loops, settings.model)
    for _, name in ipairs{"heads", "activation", "alpha", "theta"} do
      if one[name] then lu.assertEquals(settings[name], one[name]) end
    end
    lu.assertNil(arrays.data.edge_types)
    lu.assertNotNil(arrays.weights[settings.model == "gcnii" and "first.linear.weight"
      or settings.model == "gat" and "layers.1.conv.from" or "layers.1.conv.own.weight"])
    lu.assertTrue(prepared.run() > 0)
  end
end

--- Every case can be made on some data set.
function tests.test_cases()
  for _, case in ipairs(cases) do
    lu.assertStrMatches(case.work, "%a+")
    lu.assertTrue(#case.peers > 0)
    ladies.experiment.configure(case.settings)
    local last = case.peers[#case.peers][1]
    lu.assertTrue(last:find "^expert" == 1 or last == "edges_dgl", last)
    for _, peer in ipairs(case.peers) do
      lu.assertEquals(core.exists(("%s/scripts/bench/peers/%s.py"):format(ladies.home(), peer[1])),
        "file")
    end
  end
end

-- ---------------------------------------------------------------- turns

local function compared(answer)
  local folder = new_folder()
  local python = program(folder, "echo a line; echo ready Fake $4\n" .. ANSWERS:format(answer))
  local case = case_of{method = "ladies", samples = 8}
  local results = compare.case(case, data, {python = python, folder = folder, seconds = 0,
    threads = 1})
  lu.assertEquals(#results, 1)
  local settings = json.decode(core.file.read(folder .. "/case.json"))
  lu.assertEquals(settings.samples, 8)
  local file <close> = ladies.npz.open(folder .. "/check.npz")
  lu.assertEquals(#file:index "output", #data.train)
  return results[1]
end

function tests.test_turns()
  local result = compared '{"logits": 1e-6, "loss": 2e-6}'
  lu.assertEquals(result.name, "a case")
  lu.assertEquals(result.given.samples, 8)
  lu.assertEquals(result.settings.train, #data.train)
  lu.assertEquals(result.peer, "Fake word")
  lu.assertEquals(result.difference, 2e-6)
  lu.assertEquals(result.rounds, 3)
  lu.assertAlmostEquals(result.theirs.whole, 2, 1e-9)
  lu.assertAlmostEquals(result.theirs.computing, 1.25, 1e-9)
  lu.assertTrue(result.ratio.low <= result.ratio.median and result.ratio.low > 0)
end

--- The process of either side reads uncompressed arrays.
function tests.test_starts()
  local folder = new_folder()
  local python = program(folder, 'echo "$@" >> "${0%/*}/peer"\n')
  local mine = new_folder()
  local program_of_ours = program(mine, 'echo "$@" >> "${0%/*}/ours"\n')
  local result = compare.case(case_of({method = "ladies", samples = 8}, {work = "start"}), data,
    {python = python, program = program_of_ours, folder = folder, seconds = 0, threads = 1})[1]
  lu.assertEquals({result.failed, result.rounds}, {nil, 3})
  local script, path = core.file.read(mine .. "/ours"):match "^(%S+) (%S+)\n"
  lu.assertStrContains(script, "/scripts/bench/peers/start.lua")
  lu.assertEquals(ladies.data.load(path).features:hash(), data.features:hash())
  lu.assertStrContains(core.file.read(folder .. "/peer"), "torch_scipy.py " .. folder .. " once\n")
  for _, name in ipairs{path, folder .. "/data.npz"} do
    local archive <close> = core.zip.open(name)
    local total = 0
    for _, member in ipairs(archive:members()) do total = total + member.size end
    lu.assertTrue(core.folder.bytes(name) >= total, name)
  end
end

function tests.test_differences()
  lu.assertEquals(compared('{"logits": 0.5}').failed,
    "Fake word: a relative difference of 0.5 in its logits")
  lu.assertEquals(compared('{"logits": 1e-6, "loss": 1e9}').failed,
    "Fake word: a relative difference of 1e+09 in its loss")
end

function tests.test_missing_peers()
  local folder = new_folder()
  local python = program(folder, "echo No module of this name >&2; exit 1\n")
  local resident, reason = Resident.start(python, {"dgl_peer", "classic"}, folder)
  lu.assertNil(resident)
  lu.assertEquals(reason, "dgl_peer classic: No module of this name")
end

function tests.test_peers_that_end()
  local folder = new_folder()
  local python = program(folder, "echo ready Fake; read a; echo 2 0 0\n")
  local resident <close> = Resident.start(python, {"dgl_peer"}, folder)
  lu.assertErrorMsgContains("Fake: it ended in the middle of its work (it ended without a word)",
    resident.run, resident, 2)
end

--- A peer that fails takes no other one with it, and its last words are reported.
function tests.test_peers_that_fail_alone()
  local folder = new_folder()
  local python = program(folder, "echo ready Fake $4\n"
    .. "[ $4 = bad ] && { read a; echo ouch >&2; exit; }\n" .. ANSWERS:format '{"logits": 1e-6}')
  local case = case_of({method = "ladies", samples = 8},
    {peers = {{"one", "bad"}, {"one", "good"}}})
  local results = compare.case(case, data, {python = python, folder = folder, seconds = 0,
    threads = 1})
  lu.assertEquals(results[1].failed, "Fake bad: it ended in the middle of its check (ouch)")
  lu.assertEquals({results[2].failed, results[2].peer}, {nil, "Fake good"})
end

-- ---------------------------------------------------------------- the environment

-- A Python that writes down what it is asked for, and has no DGL.
local PYTHON = [[
echo "$* CFLAGS=$CFLAGS" >> "${0%/*}/asked"
case "$*" in *dgl*) exit 1;; esac
]]

--- Peers that are installed are not installed again, and those that failed are tried again.
function tests.test_install()
  local folder <close> = shell.folder()
  local function printed(script)
    local text, complaint, code = shell.run_ladies({"-e",
      'install = require "experiments.bench.peers.install" ' .. script},
      {env = {"LADIES_CACHE=" .. folder.path}})
    lu.assertEquals(code, 0, complaint)
    return text
  end
  local function installed() return printed 'print("python", install.python(print, true))' end
  lu.assertEquals(printed 'require "ladies.data.store.cache".make_folder() print(install.found())',
    "nil\n")
  local bin = folder.path .. "/peers/bin"
  core.folder.make(bin)
  assert(os.rename(program(bin, PYTHON), bin .. "/python"))
  local first = installed()
  lu.assertEquals(printed "print(install.found())", bin .. "/python\n")
  lu.assertStrContains(first, "python\t" .. bin .. "/python\n")
  lu.assertEquals(select(2, first:gsub("installing ", "")), 6)
  lu.assertStrContains(first, "dgl==2.1.0 torchdata==0.7.1 pandas pyyaml pydantic could not be")
  lu.assertStrContains(core.file.read(bin .. "/asked"),
    "install --no-build-isolation numpy<2 torch_scatter torch_sparse CFLAGS=-g0\n")
  local again = installed()
  lu.assertEquals(select(2, again:gsub("installing ", "")), 1)
  lu.assertStrContains(again, "installing numpy<2 dgl==2.1.0")
end

-- ---------------------------------------------------------------- what is printed

--- Reasons keep what was wrong, and nothing of this machine.
function tests.test_reasons()
  for given, wanted in pairs{
    ["pyg_peer saint: ImportError: 'SparseTensor' requires 'torch-sparse'"] =
      "pyg_peer saint: ImportError: 'SparseTensor' requires 'torch-sparse'",
    ["ladies fetch: cora: https://a.example/b/ind.cora.x did not come (curl: (6) no host: a); it "
      .. "needs a network and room in /root/.cache/ladies"] =
      "ladies fetch: cora: ind.cora.x did not come",
    ["ImportError: /root/x-1/_rw.so: undefined symbol: _ZN2at"] =
      "ImportError: _rw.so: undefined symbol: _ZN2at",
    ["No such file: '/tmp/ladies-peers-7/case.json'"] = "No such file: 'case.json'",
    ["there is no named pipe at ~/a/lines"] = "there is no named pipe at lines",
    ["PyTorch / SciPy and/or DGL: a relative difference of 1e+09 in its loss"] =
      "PyTorch / SciPy and/or DGL: a relative difference of 1e+09 in its loss",
  } do
    lu.assertEquals(report.reason(given), wanted)
  end
end

-- A result of a case: its ratio is the times.
local function result(name, peer, ratio, work)
  local side = {whole = 2, sampling = 0.5, gathering = 0.25, computing = 1.25}
  return {name = name, work = work or "training", peer = peer, ours = side, theirs = side,
    rounds = 7, difference = 1e-6, given = {method = "ladies", batch_size = 3},
    ratio = {median = ratio, low = ratio - 0.1, high = ratio + 0.1},
    settings = {nodes = 9, entries = 30, features = 4, train = 5, losses = 3, layers = 2,
      hidden = 8, activation = "relu", dropout = 0.5, columns = 64}}
end

function tests.test_page()
  local text = report.page{measured = "a machine", threads = 1, seconds = 10, results = {
    result("first", "DGL", 1.5), result("first", "PyG", 2), result("second", "SciPy", 3, "product"),
    {name = "third", failed = "at /root/a: none; so"}}}
  local function has(line) lu.assertStrContains((text:gsub(" +", " ")), line) end
  has "| first | DGL | 2.00 (0.50, 0.25, 1.25) | 2.00 (0.50, 0.25, 1.25) | 1.50 (1.40 to 1.60) | *"
  has "| first | PyG | 2.00 (0.50, 0.25, 1.25) | 2.00 (0.50, 0.25, 1.25) | 2.00 (1.90 to 2.10) | |"
  has "| second | SciPy | 2.00 | 2.00 | 3.00 (2.90 to 3.10) | * | 7 | 1e-06 |"
  has "| first | 9 | 30 | 4 | 5 | a step, with 3 nodes in the loss: 2 layers of width 8, relu,"
  has "| `--batch-size 3 --method ladies` |"
  has "| second | 9 | 30 | 4 | 5 | P times 64 columns |"
  has "\n* third: at a: none\n\nMeasured on a machine; 1 thread on either side, 10 s for each peer."
  lu.assertEquals(select(2, text:gsub("\n| first", "")), 3)
end

--- Works that are measured anew take the place of theirs; the others stay, and say where they are
-- from.
function tests.test_renewed()
  local first, second = cases[1].name, cases[2].name
  local earlier = {measured = "a machine", threads = 1, seconds = 10, results = {
    result(first, "DGL", 1.5), result(second, "PyG", 2), {name = second, failed = "gone"}}}
  local function renewed(measured, name)
    return report.renewed({measured = measured, threads = 1, seconds = 10,
      results = {result(name, "expert", 1.2)}}, earlier)
  end
  local record = renewed("another", second)
  lu.assertEquals(#record.results, 2)
  lu.assertEquals({record.results[1].peer, record.results[1].measured}, {"DGL", "a machine"})
  lu.assertEquals({record.results[2].peer, record.results[2].measured}, {"expert", nil})
  lu.assertStrContains(report.page(record), ("Measured on another; 1 thread on either side, 10 s "
    .. "for each peer.\n\nMeasured elsewhere or earlier:\n\n* %s: on a machine."):format(first))
  lu.assertNotStrContains(report.page(renewed("a machine", first)), "elsewhere")
  lu.assertErrorMsgContains("peers.json was measured with seconds = 10, so 4 cannot join it",
    report.renewed, {measured = "another", threads = 1, seconds = 4, results = {}}, earlier)
end

function tests.test_brief()
  local shown = {}
  for _, case in ipairs(cases) do
    if case.brief then shown[#shown + 1] = case end
  end
  lu.assertEquals(#shown, 4)
  local text = report.brief{measured = "a machine", threads = 2, results = {
    result(shown[1].name, "slow", 5), result(shown[1].name, "fast", 4), result("other", "DGL", 0.5),
    {name = shown[2].name, failed = "gone"}}}
  text = text:gsub(" +", " ")
  lu.assertStrContains(text, ("| %s | 2.0 ms | fast | 2.0 ms | 4.00 (3.90 to 4.10) |"):format(
    shown[1].brief))
  lu.assertNotStrContains(text, "slow")
  lu.assertNotStrContains(text, shown[2].brief)
  lu.assertStrContains(text, "Measured on a machine; 2 threads on either side. The least of all 3 "
    .. "ratios is 0.50: other, beside DGL.")
end

return tests

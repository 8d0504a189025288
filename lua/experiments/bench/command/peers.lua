-- ladies bench peers: the same work in PyTorch with SciPy, in DGL, in PyTorch Geometric, and as an
-- expert would write it in NumPy and PyTorch.

local core = require "ladies_core"
local ladies = require "ladies"
local cases = require "experiments.bench.peers.cases"
local cli = require "ladies.command.cli"
local compare = require "experiments.bench.peers.compare"
local errors = require "ladies.base.errors"
local install = require "experiments.bench.peers.install"
local json = require "ladies.base.json"
local machine = require "ladies.base.machine"
local relations = require "experiments.bench.peers.relations"
local report = require "experiments.bench.peers.report"

local QUICK = 1
local DENSE = 64      -- columns of the features where the peers are given all nodes
local REDDIT_SIZED = {nodes = 232965, entries = 114615892, classes = 41, features = 602,
  train = 0.66, val = 0.1}

local spec = {
  name = "ladies bench peers",
  about = [[Measures ladies in turn with PyTorch and SciPy, DGL, PyG and our own best in NumPy and
    PyTorch on the same work: the same graph, P, batch, sizes, network, optimizer and threads, in
    float32. First it checks that logits, loss and gradients of one mini-batch agree, and blocks of
    the same nodes. Without --python it makes a virtual environment with
    them in the cache.]],
  {"python", "PROGRAM", "string", help = "a Python that has some of them"},
  {"sources", help = "compile what has to be compiled for PyG's GraphSAINT, a quarter of an hour"},
  {"quick", help = "a second for each peer"},
  {"seconds", "S", "positive number", default = 10, help = "for each peer"},
  {"threads", "N", "integer in [1, 256]", default = 2, help = "of either side"},
  {"only", "TEXT", "string", help = "the cases whose names contain this; with --out the others "
    .. "stay as DIR/peers.json has them"},
  {"reddit", help = "the cases of Reddit's size too: 12 GB of memory, 4 GB of files"},
  {"folder", "PATH", "string", default = "/tmp", help = "where files for the peers may lie"},
  {"out", "DIR", "string", help = "a folder for peers.json and peers.md"},
  {"brief", "DIR", "string", help = "measure nothing; print README's rows of its peers.json"},
}

-- The data set that was loaded last, {name =, data =}: cases with the same one follow each other.
local last = {}

-- Returns the data set of this name, or nil and the reason why it cannot be loaded.
local function data_of(name)
  if last.name ~= name then
    last = {}
    collectgarbage()
    local ok, data = errors.try(function()
      if name == "reddit-sized" then return ladies.generate.power_law(REDDIT_SIZED) end
      if name == "relations" then return relations() end
      if name == "relations, dense" then return relations(DENSE) end
      return ladies.data.load(name)
    end)
    if not ok then return nil, errors.message(data) end
    last = {name = name, data = data}
  end
  return last.data
end

-- Returns the results of a case, whatever goes wrong.
local function measure(case, opts)
  local data, reason = data_of(case.dataset)
  if not data then return {{name = case.name, failed = reason}} end
  local folder = ("%s/ladies-peers-%d"):format(opts.folder, math.random(1 << 40))
  core.mkdir(folder)
  local _ <close> = setmetatable({}, {__close = function() core.folder.remove(folder) end})
  local ok, results = errors.try(compare.case, case, data, {python = opts.python, folder = folder,
    program = arg[-1] or "ladies", seconds = opts.seconds, threads = opts.threads})
  return ok and results or {{name = case.name, failed = errors.message(results)}}
end

-- Says on the way to the results what is done.
local function tell(line) io.stderr:write(line, "\n") end

cli.main(spec, arg, function(opts)
  if opts.brief then
    return print(report.brief(json.decode(core.file.read(opts.brief .. "/peers.json"))))
  end
  if opts.quick then opts.seconds = QUICK end
  ladies.threads(opts.threads)
  opts.python = opts.python or install.python(tell, opts.sources)
  if not opts.python then error("there is no Python with PyTorch; see --python", 0) end
  local results = {}
  for _, case in ipairs(cases) do
    if (opts.reddit or case.dataset ~= "reddit-sized")
      and (not opts.only or case.name:find(opts.only, 1, true)) then
      for _, result in ipairs(measure(case, opts)) do
        results[#results + 1] = result
        tell(("%s, %s: %s"):format(result.name, result.peer or "-",
          result.failed or ("%.2f"):format(result.ratio.median)))
        result.failed = result.failed and report.reason(result.failed)
      end
    end
  end
  local record = {measured = machine.measured(), threads = opts.threads, seconds = opts.seconds,
    results = results}
  local path = opts.out and opts.out .. "/peers.json"
  if opts.only and path and core.exists(path) then
    record = report.renewed(record, json.decode(core.file.read(path)))
  end
  local text = report.page(record)
  print(text)
  if not opts.out then return end
  core.mkdir(opts.out)
  core.file.write(path, json.encode(record) .. "\n")
  core.file.write(opts.out .. "/peers.md", text .. "\n")
end)

-- ladies bench papers: training on a graph that does not fit in memory, beside one that does
--
--   ladies bench papers [--nodes 1000000,10000000] [--epoch] [--memory 4G] [--folder PATH]
--     [--out FILE.json]
--
-- For every number of nodes, by default that of ogbn-papers100M, a graph is made that is like that
-- one: 16 edges a node, 128 float16 features, 172 classes, 1.1 % of the nodes for training. It is
-- made in bounded memory, opened for the first time (and checked) and again, and trained on by
-- LADIES and GraphSAGE, each in a process of its own, first with nothing of the file in memory
-- (cold) and then on the same mini-batches again (warm), or, with --epoch, on all mini-batches of
-- an epoch, cold. Validation is exact where memory and disk have room for it. Then the graph is
-- removed. The seconds to prepare are those of the sampler and of the first batch. The times of
-- batches are compared with those on a smaller graph whose features are in memory (fits).

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local json = require "ladies.base.json"
local of_machine = require "ladies.base.machine"
local own_process = require "experiments.bench.own_process"
local papers = require "experiments.bench.papers"
local tables = require "ladies.base.tables"
local units = require "ladies.base.units"

local spec = {
  name = "ladies bench papers",
  about = "Makes graphs larger than memory, and measures what training on them costs.",
  {"nodes", "LIST", "array of integers", help = "of the graphs (default 111059956)"},
  {"edges", "N", "positive integer", default = 16, help = "for each node"},
  {"batches", "N", "positive integer", default = 200, help = "of 512 nodes, that are timed"},
  {"epoch", help = "times all mini-batches of an epoch, once, in place of so many twice"},
  {"workers", "N", "non-negative integer", default = 1, help = "threads that sample ahead, "
      .. "and wait for the disk"},
  {"layers", "N", "positive integer", default = 3, help = "of the networks"},
  {"fits", "N", "positive integer", default = 1000000, help = "nodes of the graph that fits"},
  {"memory", "SIZE", "string", help = "for making, and for the activations of validation (default: "
      .. "a quarter of the machine's)"},
  {"threads", "N", "integer in [1, 256]", help = "of the parallel loops"},
  {"folder", "PATH", "string", default = "/tmp", help = "where the graphs may lie, 450 bytes a "
      .. "node, and what validation has beyond --memory"},
  {"out", "FILE", "string", help = "a .json file for the results"},
  {"stage", "NAME", "make|open|train", help = "one part alone; its options are --given"},
  {"given", "JSON", "string", help = "of a stage"},
}

-- ---------------------------------------------------------------- processes

-- Returns the result of papers[stage](given) in a process of its own.
local function in_process(stage, given)
  local printed = own_process{"bench", "papers", "--threads", tostring(ladies.threads()),
    "--stage", stage, "--given", json.encode(given)}
  if core.isatty(2) then io.stderr:write(("%s of %s\n"):format(stage, given.file)) end
  return json.decode(printed:match "([^\n]*)\n$")
end

-- ---------------------------------------------------------------- measurements

-- Removes a file and, if the process that wrote it was killed, its unfinished parts.
local function remove(folder, name)
  for _, file in ipairs(core.exists(folder) and core.files(folder) or {}) do
    if file:sub(1, #name) == name then os.remove(folder .. "/" .. file) end
  end
end

-- Makes a graph of n nodes, calls f(path, made) and removes it.
local function with_graph(opts, n, f)
  local name = ("ladies-papers-%d-%d.safetensors"):format(n, math.random(1 << 40))
  local path = opts.folder .. "/" .. name
  local _ <close> = setmetatable({}, {__close = function() remove(opts.folder, name) end})
  local made = in_process("make",
    {file = path, nodes = n, edges = opts.edges, memory = opts.memory})
  return f(path, made)
end

local function train(opts, path, resident)
  local results = {}
  for _, method in ipairs(papers.METHODS) do
    results[method[1]] = in_process("train", {file = path, method = method[1],
      samples = method[2], layers = opts.layers,
      batches = (resident or not opts.epoch) and opts.batches or nil,
      workers = opts.workers, memory = opts.memory, resident = resident})
  end
  return results
end

local function measure(opts, n)
  return with_graph(opts, n, function(path, made)
    local result = {nodes = n, made = made}
    result.first = in_process("open", {file = path})
    result.opened = in_process("open", {file = path})
    result.trained = train(opts, path, false)
    return result
  end)
end

-- ---------------------------------------------------------------- the table

local function gigabytes(bytes) return bytes and ("%.2f"):format(bytes / 1e9) or "?" end

local function print_head()
  print "      nodes  file GB   made s  checked s  opened s"
end

local function print_graph(result)
  print(("%11d  %7s  %7.1f  %9.1f  %8.2f"):format(result.nodes, gigabytes(result.made.bytes),
    result.made.seconds, result.first.seconds, result.opened.seconds))
end

-- Returns a number of the table, or - where it was not measured.
local function cell(format, value) return value and format:format(value) or "-" end

local function print_batches(results, fits)
  print "\nms of a batch, the mean without the first; own: GB of memory of no file, and share"
  print("      nodes  method        fits     cold  ratio     warm  ratio  own GB  share"
    .. "  prepared s  val F1   in s")
  for _, result in ipairs(results) do
    for _, method in ipairs(papers.METHODS) do
      local one, base = result.trained[method[1]], fits[method[1]].warm.mean
      local share = one.anonymous and one.anonymous / result.made.bytes
      local warm = one.warm and one.warm.mean
      print(("%11d  %-9s  %7.1f  %7.1f  %5.2f  %7s  %5s  %6s  %4s %%  %10.2f  %.4f  %5.1f %s")
        :format(result.nodes, method[1], base, one.cold.mean, one.cold.mean / base,
        cell("%.1f", warm), cell("%.2f", warm and warm / base), gigabytes(one.anonymous),
        share and ("%.0f"):format(100 * share) or "?", one.prepared + one.cold.first / 1e3,
        one.validation.f1, one.validation.seconds, one.validation.way))
    end
  end
end

-- Says how many mini-batches and seconds an epoch took, and why a validation was sampled.
local function print_notes(opts, results)
  for _, result in ipairs(results) do
    for _, method in ipairs(papers.METHODS) do
      local one = result.trained[method[1]]
      local cold, checked = one.cold, one.validation
      if opts.epoch then
        print(("%d nodes: an epoch of %s is %d mini-batches, which took %.0f s"):format(
          result.nodes, method[1], cold.batches, cold.seconds))
      end
      if checked.lacking then
        print(("%d nodes: validation of %s is of %d nodes, each from a sampled neighbourhood; %s")
          :format(result.nodes, method[1], checked.nodes, checked.lacking))
      end
    end
  end
end

cli.main(spec, arg, function(opts)
  if opts.threads then ladies.threads(opts.threads) end
  if opts.stage then
    return print(json.encode(papers[opts.stage](json.decode(opts.given))))
  end
  for _, n in ipairs(opts.epoch and opts.nodes or {}) do
    if n < papers.LEAST_OF_EPOCHS then
      error(("--epoch is for graphs of %d nodes or more, got %d"):format(papers.LEAST_OF_EPOCHS,
        n), 0)
    end
  end
  package.loaded.ladies_host.heed_termination()      -- the files are large
  opts.memory = opts.memory and units.bytes("ladies bench papers: memory", opts.memory)
    or of_machine.memory() // 4
  local counted = units.counted
  print(("%s, %s; %s a node, %s, %s, %s"):format(of_machine.text(),
    counted(ladies.threads(), "thread"), counted(opts.edges, "edge"),
    opts.epoch and "an epoch" or counted(opts.batches, "batch", "batches"),
    opts.workers == 1 and "a worker" or opts.workers .. " workers", counted(opts.layers, "layer")))
  local fits = with_graph(opts, opts.fits, function(path) return train(opts, path, true) end)
  local results = {}
  print_head()
  for i, n in ipairs(opts.nodes or {papers.NODES}) do
    results[i] = measure(opts, n)
    print_graph(results[i])
    io.stdout:flush()
  end
  print_batches(results, fits)
  print_notes(opts, results)
  if opts.out then
    core.file.write(opts.out, json.encode{machine = of_machine.processor(),
      cores = of_machine.cores, numerics = of_machine.numerics(), threads = ladies.threads(),
      settings = tables.append({opts.epoch and "an epoch" or "batches " .. opts.batches,
        "memory " .. opts.memory}, tables.map({"edges", "workers", "layers", "fits"}, function(name)
        return ("%s %d"):format(name, opts[name])
      end)), fits = fits, results = results} .. "\n")
    print("in " .. opts.out)
  end
end)

-- ladies import: takes a data set that you have, as a folder or an archive, into the cache
--
--   ladies import PATH [--name NAME] [--replace]
--
--   ladies import PATH --out FILE.safetensors [--memory 4G] [--dtype float16] [--self-loops]
--
--   ladies import PATH|NAME --out FOLDER --shards N [--shard-graph] [--parts K] [--dtype float16]
--
-- PATH is a folder or an archive (zip, as wheels are, .tar, .tar.gz), or a file in a form that
-- `ladies info` reads, plain or packed with gzip. Afterwards the data set is found by its name.
-- Under a name that `ladies fetch` lists, the files must be the published ones. With --out the data
-- set is written to a file that is used where it lies (see doc/data.md), and found by its path; the
-- arrays of ogbn-papers100M, and with --memory edges in a table of text, are then never in memory
-- as a whole. With --shards the features, also of a data set that is known by a name, go into N
-- files with a part of the rows each, of which every rank of mpirun opens its own alone (see
-- doc/clusters.md); with --shard-graph so do the rows of the graph. With --parts the nodes are put
-- in the order of K parts of the graph, for `ladies train --seeds-from parts`.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local data_options = require "ladies.command.data_options"
local import = require "ladies.data.store.import"

-- Tells whether the features of the file that was written are such as can stay in it.
local function has_dense_features(path)
  local file <close> = ladies.safetensors.open(path)
  return file:has "attr_matrix"
end

cli.main(cli.join({
  name = "ladies import",
  usage = "ladies import PATH [options]", words = {"path"},
  about = "Takes a data set that you have, as a folder or an archive, into the cache.",
  {"name", "NAME", "string", help = "under which it is found (default: that of its own file or "
      .. "folder)"},
  {"replace", help = "put it in the place of the one of this name in the cache"},
  {"out", "FILE", "string", help = "write it to this .safetensors file, and not into the cache"},
  {"shards", "N", "positive integer", help = "with --out FOLDER: the features in so many files, "
      .. "for ranks that each open their own"},
  {"shard-graph", help = "with --shards: the graph in these files, too"},
  {"parts", "K", "positive integer", help = "with --shards, a multiple of them: nodes are put in "
      .. "the order of so many parts of the graph, for --seeds-from parts"},
  {"by", "WORD", "metis|ldg", help = "with --parts: how they are made; ldg is for graphs that "
      .. "METIS has no room for (default metis)"},
  {"memory", "SIZE", "string", help = "with --out: how much memory may be used, as 4G (default: a "
      .. "quarter of the machine's)"},
  {"dtype", "WORD", "float16|bfloat16|float32", help = "with --out: of dense features"},
  {"self-loops", help = "with --out: every node gets an edge to itself, so that A + I needs no "
      .. "memory"},
}, data_options.list()), arg, function(opts)
  if not opts.path then error("what? ladies import PATH [--name NAME]", 0) end
  local load = data_options.take(opts)
  if opts.out then
    if opts.name or opts.replace then
      error("--name and --replace are for the cache, which --out leaves alone", 0)
    end
    if opts.shards then
      if opts.memory or opts.self_loops then
        error("--memory and --self-loops are for --out FILE.safetensors, which --shards N --out "
          .. "FOLDER then takes in turn", 0)
      end
      local source = core.exists(opts.path) and opts.path or ladies.data.load(opts.path, load)
      for _, name in ipairs{"dtype", "shards", "shard_graph", "parts", "by"} do
        load[name] = opts[name]
      end
      ladies.data.to_shards(source, opts.out, load)
    elseif opts.shard_graph or opts.parts or opts.by then
      error("--shard-graph, --parts and --by go with --shards", 0)
    else
      load.dtype, load.memory, load.self_loops = opts.dtype, opts.memory, opts.self_loops
      ladies.data.to_file(opts.path, opts.out, load)
    end
    local path = opts.out:find "/" and opts.out or "./" .. opts.out
    return print(ladies.data.load(path, {directed = opts.directed,
      features_in = opts.memory and has_dense_features(path) and "file" or nil}):describe())
  elseif opts.memory or opts.dtype or opts.self_loops or opts.shards or opts.shard_graph
      or opts.parts or opts.by then
    error("--memory, --dtype, --self-loops, --shards, --shard-graph, --parts and --by go with "
      .. "--out", 0)
  end
  load.name, load.replace = opts.name, opts.replace
  print(ladies.data.load(import(opts.path, load)):describe())
end)

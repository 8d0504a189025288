-- ladies make-graph: makes a random data set with planted classes, of any size
--
--   ladies make-graph --nodes N --entries N --out FILE.npz ...
--   ladies make-graph --nodes N --entries N --out FILE.safetensors --memory 4G ...
--   ladies make-graph --model block-model --nodes N --p-inside P --p-outside P --out FILE.npz ...
--
-- The data set is a function of the options alone. `ladies make-graph --help` lists them;
-- ladies.generate.power_law and ladies.generate.block_model say what they mean. One of the size of
-- Reddit:
--
--   ladies make-graph --nodes 232965 --entries 114615892 --classes 41 --features 602
--     --train 0.66 --val 0.1 --out reddit-like.npz

local core = require "ladies_core"
local ladies = require "ladies"
local array_file = require "ladies.base.array_file"
local cli = require "ladies.command.cli"

-- The options of each model, besides those of all.
local OWN = {
  ["power-law"] = {entries = true, exponent = true, inside = true},
  ["block-model"] = {p_inside = true, p_outside = true},
}
local ABOUT_FILES = {model = true, out = true, compress = true, memory = true, dtype = true,
  self_loops = true}

local REQUIRED = {["power-law"] = {"nodes", "entries"},
  ["block-model"] = {"nodes", "p_inside", "p_outside"}}

-- Fails where nothing would take the file for what it is, where it cannot be written in the way
-- that is asked for, and where an option is missing.
local function check(opts)
  local is_safetensors = array_file.is_safetensors(opts.out)
  if not (is_safetensors or opts.out:find "%.npz$") then
    error(("--out must end in .npz or .safetensors, got %s"):format(opts.out), 0)
  elseif is_safetensors and opts.compress then
    error("a .safetensors file is never compressed", 0)
  elseif opts.dtype and opts.dtype ~= "float32" and not is_safetensors then
    error("--dtype is for .safetensors files", 0)
  end
  for _, key in ipairs(REQUIRED[opts.model]) do
    if opts[key] == nil then error(("--%s is missing"):format((key:gsub("_", "-"))), 0) end
  end
end

-- Writes what is larger than memory, and opens it.
local function write_file(settings, opts)
  if opts.model ~= "power-law" then error("--memory goes with --model power-law", 0) end
  check(opts)
  settings.memory, settings.dtype, settings.self_loops = opts.memory, opts.dtype, opts.self_loops
  local begin = core.clock()
  ladies.generate.power_law_file(opts.out, settings)
  local finished = core.clock()
  print(ladies.data.load(opts.out, {features_in = "file"}))
  print(("made and written to %s in %.1f s; checked in %.1f s"):format(opts.out, finished - begin,
    core.clock() - finished))
end

-- The options among those given that the model takes.
local function settings_of(model, opts, given)
  local settings = {}
  for key in pairs(given) do
    for other, own in pairs(OWN) do
      if own[key] and other ~= model then
        error(("--%s is an option of --model %s"):format((key:gsub("_", "-")), other), 0)
      end
    end
    if not ABOUT_FILES[key] then settings[key] = opts[key] end
  end
  return settings
end

cli.main({
  name = "ladies make-graph",
  about = "Makes a random data set with planted classes and writes it to a file.",
  {"model", "NAME", "power-law|block-model", default = "power-law",
    help = "power-law or block-model"},
  {"nodes", "N", "positive integer", help = "required"},
  {"entries", "N", "non-negative integer",
    help = "power-law, required: stored entries, two for each edge"},
  {"exponent", "X", "positive number", help = "power-law: of the weights' tail (default 2.3)"},
  {"inside", "P", "number in [0, 1]",
    help = "power-law: probability of an edge within a class (default 0.75)"},
  {"p-inside", "P", "number in [0, 1]",
    help = "block-model, required: probability that two nodes of a class are joined"},
  {"p-outside", "P", "number in [0, 1]",
    help = "block-model, required: the same for nodes of different classes"},
  {"classes", "N", "positive integer", help = "default 10"},
  {"features", "N", "positive integer", help = "columns of the features (default 64)"},
  {"signal", "X", "non-negative number",
    help = "standard deviation of the class means, beside noise of 1 (default 0.15)"},
  {"overlap", "P", "number in [0, 1]",
    help = "above 0: several classes a node, each other one with this probability (default 0)"},
  {"train", "SHARE", "number in [0, 1]", help = "of the nodes (default 0.1)"},
  {"val", "SHARE", "number in [0, 1]", help = "of the nodes (default 0.1)"},
  {"seed", "N", "non-negative integer", help = "of everything random (default 1)"},
  {"out", "FILE", "string", help = "the file to write, required"},
  {"memory", "SIZE", "string", help = "power-law: how much memory may be used, as 4G, for one that "
      .. "is larger; --out must be a .safetensors file, which is used where it lies"},
  {"dtype", "WORD", "float16|bfloat16|float32", help = "of the features in a .safetensors file "
      .. "(default float32)"},
  {"self-loops", help = "with --memory: every node gets an edge to itself, so that A + I needs no "
      .. "memory"},
  {"compress", help = "a smaller file, several times slower to write"},
}, arg, function(opts, given)
  if not opts.out then error("--out FILE is missing", 0) end
  if opts.memory then return write_file(settings_of(opts.model, opts, given), opts) end
  if opts.self_loops then error("--self-loops goes with --memory", 0) end
  local dtype = opts.dtype ~= "float32" and opts.dtype or nil
  local made = ladies.generate[opts.model:gsub("-", "_")]
  local settings = settings_of(opts.model, opts, given)
  check(opts)
  local begin = core.clock()
  local data = made(settings)
  local finished = core.clock()
  ladies.data.save(data, opts.out, {compress = opts.compress == true, dtype = dtype})
  print(data:describe())
  print(("made in %.1f s; written to %s in %.1f s"):format(finished - begin, opts.out,
    core.clock() - finished))
end)

--- Saves and loads checkpoints, the state of a run as arrays in an .npz file. Loading reads data,
-- never code.
--
--   parameter.NAME, best.NAME    the model's parameters, and those of the best model so far
--   buffer.NAME, best_buffer.NAME   its buffers (see ladies.nn.buffers)
--   optimizer.NAME               the optimizer's state
--   sampler.NAME                 what an adaptive sampler carries from batch to batch
--   state.NAME, tensor.NAME.I    the states of other objects, such as early stopping (see
--                                ladies.training.checkpoint.object_state)
--   counter.NAME                 numbers: epoch and batch (the position of the rng, since every
--                                draw is a function of them and of the seed), the length of the log
--   run                          which run it is, as JSON text (see
--                                ladies.training.checkpoint.identity)
--   hash                         of all of the above: what is edited or missing shows before
--                                anything is taken over
-- A file appears whole or not at all (temporary file, fsync, rename).

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local named_tensors = require "ladies.nn.named_tensors"
local object_state = require "ladies.training.checkpoint.object_state"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local checkpoint = {}

local npz = core.npz

local FORMAT = 5

local STATE = {
  parameters = "array of tables", optimizer = "Optimizer", best = "array of tables or nil",
  buffers = "Buffers or nil", best_buffers = "table or nil",
  sampler = "array of tables or nil", objects = "table or nil", counters = "table or nil",
  run = "table or nil",
}

-- Reads the members with a prefix; returns a table from their names without it to Tensors (float32)
-- or numbers.
local function members(file, prefix)
  local found = {}
  for _, name in ipairs(file:names()) do
    if name:sub(1, #prefix) == prefix then
      local is_tensor = file:dtype(name) == "float32"
      found[name:sub(#prefix + 1)] = is_tensor and file:tensor(name) or file:numbers(name)
    end
  end
  return found
end

-- Adds the tensors with a prefix to `list`, as {name =, tensor =}.
local function add_named(list, file, prefix)
  local found = members(file, prefix)
  for _, name in ipairs(tables.sorted_keys(found)) do
    list[#list + 1] = {name = name, tensor = found[name]}
  end
  return list
end

-- Returns a number, or a table of numbers, as text that is exact to the last bit.
local function exactly(x)
  if type(x) == "table" then return table.concat(tables.map(x, exactly), " ") end
  return x == x and ("%a"):format(x) or "nan"
end

local digest_of = {
  Tensor = function(tensor) return tensor:hash() end,
  Index = function(index) return index:hash() end,
  string = core.hash,
  number = exactly, table = exactly,
}

-- Returns a hash of arrays by name, which is the same before they are written and after they are
-- read.
local function hash_of(arrays)
  local parts = {}
  for _, name in ipairs(tables.sorted_keys(arrays)) do
    local value = arrays[name]
    local kind = options.class_of(value) or type(value)
    parts[#parts + 1] = ("%s %s %s\n"):format(name, kind, digest_of[kind](value))
  end
  return core.hash(table.concat(parts))
end

local READ = {float32 = "tensor", uint8 = "text", int32 = "index"}

-- Reads all arrays of an open file except the hash.
local function arrays_in(file)
  local arrays = {}
  for _, name in ipairs(file:names()) do
    if name ~= "hash" then
      arrays[name] = file[READ[file:dtype(name)] or "numbers"](file, name)
    end
  end
  return arrays
end

-- Fails for a file whose content is not that which was written.
local function check_hash(file, path)
  local ok, hash = errors.try(function() return hash_of(arrays_in(file)) end)
  if not ok and not errors.is_internal(hash) then errors.pass_on(hash) end
  if not ok or hash ~= file:text "hash" then
    errors.fail(("%s: something in it was changed, added or removed since it was written")
      :format(path))
  end
end

-- Loads the state in the file into an optimizer; fails unless it is of the same kind and shapes.
local function load_optimizer(file, where, optimizer)
  local state, own = members(file, "optimizer."), optimizer:state()
  local same = true
  for name in pairs(state) do same = same and own[name] ~= nil end
  for name in pairs(own) do same = same and state[name] ~= nil end
  if not same then
    errors.fail(("%s is of another optimizer than %s"):format(where, optimizer))
  end
  local ok, reason = errors.try(optimizer.load_state, optimizer, state)
  if not ok then errors.pass_on(reason, where) end
end

--- checkpoint.save(path, state: table): saves where a loop stands to the file at `path`. state:
-- parameters  array of {name =, tensor =}, as model:named_parameters() gives it
-- optimizer   its state() is saved
-- best        the same as `parameters` for the best model, where there is one
-- buffers     ladies.nn.buffers(model): its tensors that are no parameters, or nil; checkpoint.load
--             puts the file's into the model
-- best_buffers  an array like `best` of those of the best model, or nil; checkpoint.load fills it
-- sampler     the sampler's tensors, as an array like `parameters`, or nil
-- objects     by names, or nil: whatever else has the methods state() and load_state(state): early
--             stopping, a timer, a schedule. A state is plain data: numbers, strings, booleans,
--             Tensors, Indexes, and tables of such.
-- counters    name -> number, or nil; checkpoint.load puts the file's there
-- run         plain data that says which run it is, or nil
function checkpoint.save(path, state)
  options.value("ladies.checkpoint.save", "the path", path, "string")
  state = options.check("ladies.checkpoint.save", state, STATE)
  local arrays = {["counter.format"] = FORMAT, run = json.encode(state.run or {})}
  named_tensors.put(arrays, "parameter.", state.parameters)
  named_tensors.put(arrays, "best.", state.best or {})
  named_tensors.put(arrays, "buffer.", state.buffers and state.buffers:list() or {})
  named_tensors.put(arrays, "best_buffer.", state.best_buffers or {})
  named_tensors.put(arrays, "sampler.", state.sampler or {})
  for name, value in pairs(state.optimizer:state()) do arrays["optimizer." .. name] = value end
  object_state.put(arrays, state.objects or {})
  for name, value in pairs(state.counters or {}) do arrays["counter." .. name] = value end
  arrays.hash = hash_of(arrays)
  npz.write(path, arrays, {compress = false})
end

-- Reads the identity of the run that a file belongs to.
local function run_in(file, path)
  local where = path .. ": run"
  local run = json.decode(file:text "run", where)
  return options.value(where, "what it holds", run, "table")
end

--- checkpoint.run(path) -> table: the plain data that says which run the checkpoint at `path` is
-- of.
function checkpoint.run(path)
  options.value("ladies.checkpoint.run", "the path", path, "string")
  local file <close> = npz.open(path)
  return run_in(file, path)
end

--- checkpoint.load(path, state: table [, check: function]) -> table, boolean: loads the file at
-- `path` into the parameters, the tensors of `best` and of `sampler`, the optimizer and the objects
-- of `state`, which is as for checkpoint.save, after check(run), which may refuse the run that the
-- file is of. Returns the counters, and whether the file holds a best model. A file that is
-- damaged, or of another model, optimizer or sampler, is an error.
function checkpoint.load(path, state, check)
  options.value("ladies.checkpoint.load", "the path", path, "string")
  options.value("ladies.checkpoint.load", "check", check, "callable or nil")
  state = options.check("ladies.checkpoint.load", state, STATE)
  local file <close> = npz.open(path)
  local counters = members(file, "counter.")
  if counters.format ~= FORMAT or not file:has "hash" then
    errors.fail(("%s is not a checkpoint that this version reads"):format(path))
  end
  check_hash(file, path)
  if check then check(run_in(file, path)) end
  named_tensors.get(file, path, "parameter.", state.parameters)
  load_optimizer(file, path, state.optimizer)
  named_tensors.get(file, path, "sampler.", state.sampler or {}, "sampler")
  counters.format = nil
  for name, value in pairs(counters) do if state.counters then state.counters[name] = value end end
  object_state.get(file, path, state.objects or {})
  local has_best = state.best ~= nil and file:has("best." .. state.parameters[1].name)
  if has_best then named_tensors.get(file, path, "best.", state.best) end
  if state.buffers then state.buffers:restore(add_named({}, file, "buffer."), path) end
  if state.best_buffers then add_named(state.best_buffers, file, "best_buffer.") end
  return counters, has_best
end

return checkpoint

--- Keeps the results of the last finished layer of exact inference, so that an inference that is
-- killed goes on with the next layer.
--
-- The results are in a folder beside the temporary files: a file for each tensor that the next
-- layer reads, and a record of which these are. The folder's name is a hash of all that the layers
-- depend on, by which the folder is found again. It is removed when the inference is finished, and
-- so are folders that other inferences have left behind, unless a process is at work in them.

local core = require "ladies_core"
local code = require "ladies.base.code"
local errors = require "ladies.base.errors"
local machine = require "ladies.base.machine"
local options = require "ladies.base.options"
local own_folder = require "ladies.base.own_folder"
local tables = require "ladies.base.tables"

local kept_layers = {}

local KIND, NAME, RECORD = "exact inference", "ladies-inference-", "layer.json"
local PLAIN = {string = true, boolean = true}
local CAPTURED = {number = true, string = true, boolean = true, userdata = true,
  ["function"] = true}

local Kept = {__name = "KeptLayers"}
Kept.__index = Kept

local describe

-- Adds the code of a function, and the numbers, texts, tensors and functions that it has captured:
-- a layer is computed by these, too.
local function describe_function(parts, f, seen)
  seen[f] = ("the function of part %d"):format(#parts)
  if debug.getinfo(f, "S").what == "C" then return end
  parts[#parts + 1] = code.hash(f)
  for i = 1, math.huge do
    local name, captured = debug.getupvalue(f, i)
    if not name then break end
    if CAPTURED[type(captured)] then describe(parts, captured, seen) end
  end
end

-- Adds texts to the list `parts` that tell a value from others: its kind, the hash of an object,
-- the code of a function, and the fields of a table.
function describe(parts, value, seen)
  local kind = options.class_of(value) or type(value)
  parts[#parts + 1] = kind
  if seen[value] then
    parts[#parts + 1] = seen[value]
  elseif kind == "function" then
    describe_function(parts, value, seen)
  elseif type(value) == "table" then
    seen[value] = ("the table of part %d"):format(#parts)
    for _, key in ipairs(tables.sorted_keys(value)) do
      parts[#parts + 1] = tostring(key)
      describe(parts, rawget(value, key), seen)
    end
  elseif type(value) == "userdata" then
    local ok, hash = errors.try(function() return value:hash() end)
    seen[value] = ok and hash or "without a hash"
    parts[#parts + 1] = seen[value]
  else
    parts[#parts + 1] = math.type(value) == "float" and ("%a"):format(value) or tostring(value)
  end
end

-- Removes the folders that other inferences have left.
local function remove_others(path, own)
  for _, name in ipairs(core.files(path)) do
    if name:sub(1, #NAME) == NAME and name ~= own then
      local folder = own_folder.at(path .. "/" .. name)
      errors.try(folder.remove_left, folder, KIND)       -- another process may be at work there
    end
  end
end

--- kept_layers.open(path, ...) -> KeptLayers | nil: opens, in the folder at `path`, what is kept of
-- the inference that depends on the values `...`; for this process alone until the <close> variable
-- that holds it goes out of scope. nil where another process has it, or nothing can be written.
function kept_layers.open(path, ...)
  local parts = {machine.numerics()}
  describe(parts, {...}, {})
  local name = NAME .. core.hash(table.concat(parts, "\n"))
  local folder = own_folder.at(path .. "/" .. name)
  remove_others(path, name)
  local ok, lock = errors.try(folder.take, folder, KIND)
  return ok and setmetatable({folder = folder, lock = lock, layer = 0, files = {}}, Kept) or nil
end

--- kept_layers.rehearsed() -> KeptLayers: one that keeps nothing, but moves tensors to files all
-- the same.
function kept_layers.rehearsed()
  return setmetatable({layer = 0, files = {}}, Kept)
end

-- Moves a tensor to a file with a name, which it returns; a number tells it from older ones. One of
-- those that are `held` by others stays where it is, which is an error.
local function keep_tensor(kept, room, tensor, held)
  local name = kept.files[tensor]
  if name then return name end
  if held[tensor] then errors.fail "a layer passes on a tensor of the model" end
  name = ("%d-%d"):format(kept.layer + 1, #tables.sorted_keys(kept.files) + 1)
  local path = kept.folder and kept.folder:file(name)
  if path then core.folder.remove(path) end       -- a file of a process that was killed
  core.room_keep(room, tensor, path)
  kept.files[tensor] = name
  return name
end

-- Returns the record of a value that goes from layer to layer, and keeps its tensors; adds them to
-- the set `used`. `known` has names of objects that are no part of it. Fails for what is neither.
local function record_of(kept, room, value, known, held, used)
  local kind = options.class_of(value) or type(value)
  if known[value] then return {known = known[value]} end
  if PLAIN[kind] or math.type(value) == "integer" then return {plain = value} end
  if kind == "Tensor" then
    used[value] = keep_tensor(kept, room, value, held)
    return {tensor = used[value], n_rows = value.n_rows,
      n_cols = value.ndim == 2 and value.n_cols or nil}
  elseif kind ~= "table" then
    errors.fail("a layer passes on " .. kind)
  end
  local fields = {}
  for _, key in ipairs(tables.sorted_keys(value)) do
    fields[#fields + 1] = {key = key,
      value = record_of(kept, room, value[key], known, held, used)}
  end
  return {fields = fields}
end

-- Returns the value of a record.
local function value_of(kept, room, record, known, read)
  if record.known then return known[record.known] end
  if record.plain ~= nil then return record.plain end
  local name = record.tensor
  if name then
    read[name] = read[name] or core.room_kept(room, kept.folder:file(name), record.n_rows,
      record.n_cols)
    kept.files[read[name]] = name
    return read[name]
  end
  local value = {}
  for _, field in ipairs(record.fields) do
    value[field.key] = value_of(kept, room, field.value, known, read)
  end
  return value
end

--- kept:find(room, known) -> any: what the last layer that is kept has passed on, nil where none
-- is or its files are damaged; kept.layer is its number. known: by names, objects that layers may
-- pass on and that all processes have.
function Kept:find(room, known)
  if not self.folder or not self.folder:has(RECORD) then return nil end
  local ok, layer, value = errors.try(function()
    local record = self.folder:read_json(RECORD)
    return record.layer, value_of(self, room, record.value, known, {})
  end)
  if not ok then return nil end
  self.layer = layer
  return value
end

-- Removes the files that the record names no more.
local function remove_older(kept, used)
  for tensor, name in pairs(kept.files) do
    if not used[tensor] then
      core.folder.remove(kept.folder:file(name))
      kept.files[tensor] = nil
    end
  end
end

--- kept:keep(room, i, value, known, held): keeps what layer i has passed on in place of what the
-- one before has. Where that cannot be, as on a file system whose files without names cannot get
-- one, or where it has a tensor of the set `held`, the model's own, nothing more is kept.
function Kept:keep(room, i, value, known, held)
  if self.gave_up then return end
  local names, used = {}, {}
  for name, object in pairs(known) do names[object] = name end
  local ok, record = errors.try(record_of, self, room, value, names, held, used)
  self.gave_up = not ok
  if not ok or not self.folder then return end
  self.folder:write_json(RECORD, {layer = i, value = record})
  self.layer = i
  remove_older(self, used)
end

--- kept:bytes() -> integer: the bytes that its files take.
function Kept:bytes() return core.folder.bytes(self.folder.path) end

--- kept:remove(): removes what is kept, when the inference is finished.
function Kept:remove() self.folder:remove_taken() end

-- Gives the folder to other processes, and removes one without a layer.
function Kept:__close()
  if core.exists(self.folder.path) and not self.folder:has(RECORD) then self:remove() end
  local _ <close> = self.lock
end

return kept_layers

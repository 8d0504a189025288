--- Writes the state that a function has captured as one text, which changes when the state does:
-- the numbers, strings and booleans in its upvalues, in tables and functions within these, and so
-- on; for a sampler also tensors and the functions in its metatable. Modules and other objects of C
-- are left out, and so is what lies in tables of many entries.

local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local MOST = 1000      -- entries of a table that is looked into

local SCALAR = {number = true, string = true, boolean = true}

local add

local function add_table(t, parts, seen)
  local entries, count = {}, 0
  for key, value in next, t do
    count = count + 1
    if count > MOST then return end
    if SCALAR[type(key)] then entries[tostring(key)] = value end
  end
  for _, key in ipairs(tables.sorted_keys(entries)) do
    local place = #parts + 1
    parts[place] = key
    add(entries[key], parts, seen)
    if #parts == place then parts[place] = nil end      -- nothing that counts is in there
  end
end

function add(value, parts, seen)
  if SCALAR[type(value)] then
    parts[#parts + 1] = tostring(value)
  elseif type(value) == "function" and not seen[value] then
    seen[value] = true
    for i = 1, math.huge do
      local name, captured = debug.getupvalue(value, i)
      if not name then break end
      add(captured, parts, seen)
    end
  elseif type(value) == "table" and not seen[value] then
    seen[value] = true
    add_table(value, parts, seen)
    if parts.of_sampler then add((getmetatable(value) or {}).__call, parts, seen) end
  elseif parts.of_sampler and options.class_of(value) == "Tensor" and not seen[value] then
    seen[value] = true
    if value.is_parameter or value.in_step then return end
    local ok, hash = errors.try(value.hash, value)
    if ok then parts[#parts + 1] = hash end
  end
end

local function text_of(f, except, of_sampler)
  local parts, seen = {of_sampler = of_sampler}, {[_G] = true}
  for _, object in pairs(except or {}) do seen[object] = true end
  for _, module in pairs(package.loaded) do seen[module] = true end
  add(f, parts, seen)
  return table.concat(parts, "\0")
end

local captured = {}

--- captured.by(f [, except]): returns the text for a function or a callable table, without the
-- state in the objects of the table `except`.
function captured.by(f, except) return text_of(f, except, false) end

--- captured.by_sampler(sampler, except): returns the text for a sampler, including its tensors.
function captured.by_sampler(sampler, except) return text_of(sampler, except, true) end

return captured

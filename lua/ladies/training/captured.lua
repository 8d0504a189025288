--- What a function remembers: the numbers, strings and booleans in its upvalues, in the tables and
-- functions that are there, and so on, as one text. It changes when one of them does. Modules and
-- objects of C are left out, and so is what lies in tables of many entries.

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
    parts[#parts + 1] = key
    add(entries[key], parts, seen)
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
  end
end

--- captured(f [, except]): the text for a function or a callable table, without what is in the
-- objects of the table `except`.
return function(f, except)
  local parts, seen = {}, {[_G] = true}
  for _, object in pairs(except or {}) do seen[object] = true end
  for _, module in pairs(package.loaded) do seen[module] = true end
  add(f, parts, seen)
  return table.concat(parts, "\0")
end

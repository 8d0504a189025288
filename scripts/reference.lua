-- ladies reference: writes the reference of every public function, from the docstrings
--
--   ladies reference > doc/reference.md
--
-- The texts are those that ladies.help shows: of C functions from ladies_core.docs, of Lua functions
-- from the comment above them.

local ladies = require "ladies"

local HEAD = [[
# Reference

Made by `ladies reference` from the docstrings that `ladies.help` shows; not edited by hand. Ids and
positions are 1-based in Lua.
]]

local function sorted(t)
  local names = {}
  for name in pairs(t) do
    if type(name) == "string" and not name:find "^_" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function entry(name, f)
  local text = ladies.help_text(f)
  return ("### %s\n\n```\n%s\n```\n"):format(name, text or "(no docstring)")
end

-- The functions of a table, and of the tables in it that are modules of functions.
local function module(name, t, seen)
  if seen[t] then return end
  seen[t] = true
  local out, below = {}, {}
  for _, key in ipairs(sorted(t)) do
    local value = t[key]
    if type(value) == "function" then
      out[#out + 1] = entry(name .. "." .. key, value)
    elseif type(value) == "table" and key ~= "docs" and key ~= "presets" then
      below[#below + 1] = key
    end
  end
  if #out > 0 then print(("## %s\n"):format(name)) print(table.concat(out, "\n")) end
  for _, key in ipairs(below) do module(name .. "." .. key, t[key], seen) end
end

-- The classes of C objects: metatables in the registry that have a list of methods.
local function classes()
  local registry = debug.getregistry()
  for _, type_name in ipairs(sorted(registry)) do
    local class = registry[type_name]
    if type_name:find "^ladies%." and type(class) == "table" and next(class.__methods or {}) then
      print(("## %s\n"):format(type_name:sub(8)))
      if #class.__fields > 0 then
        print(("Fields: `%s`\n"):format(table.concat(class.__fields, "`, `")))
      end
      for _, key in ipairs(sorted(class.__methods)) do
        print(entry(type_name:sub(8) .. ":" .. key, class.__methods[key]))
      end
    end
  end
end

print(HEAD)
module("ladies", ladies, {})
classes()

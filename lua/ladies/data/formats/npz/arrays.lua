--- Has the functions that readers of all layouts of .npz files share: choosing among names of the
-- same array, reading texts, and reporting arrays that were not used.

local checks = require "ladies.data.checks"
local notes = require "ladies.data.notes"

local npz_arrays = {}

local SHOWN = 8        -- names that a line has

--- Returns the one of these names of arrays that the open npz `file` has, or nil; fails if it has
-- two.
function npz_arrays.one_of(context, file, names)
  local found
  for _, name in ipairs(names) do
    if file:has(name) then
      if found then
        checks.fail(context, "has both %s and %s, which are names for the same; keep one of them",
          found, name)
      end
      found = name
    end
  end
  return found
end

-- Splits a text into its lines; a newline at the end does not begin another line.
local function split_lines(text)
  local lines = {}
  for line in (text:gsub("\n$", "") .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

--- Returns the texts in an array, which may also be bytes with one text a line; nil when the file
-- has no such array.
function npz_arrays.texts(context, file, key)
  if not file:has(key) then return nil end
  local dtype = file:dtype(key)
  if dtype == "uint8" then return split_lines(file:text(key)) end
  local texts = dtype == "object" and file:object(key) or file:strings(key)
  if type(texts) == "string" then return {texts} end
  if type(texts) ~= "table" then checks.fail(context, "%s must be texts", key) end
  for i, text in ipairs(texts) do
    if type(text) == "table" then checks.fail(context, "%s must have one dimension", key) end
    if type(text) ~= "string" then
      checks.fail(context, "%s[%d] must be a text, got a %s", key, i - 1, type(text))
    end
  end
  return texts
end

--- Returns an array as one text of several lines, from bytes or from a list with a line each; nil
-- when the file has no such array.
function npz_arrays.lines(context, file, key)
  if file:has(key) and file:dtype(key) == "uint8" then return file:text(key) end
  local lines = npz_arrays.texts(context, file, key)
  return lines and table.concat(lines, "\n")
end

--- Adds a note to `list` about arrays of the file whose names are in none of the sets `...`.
function npz_arrays.tell_unused(context, list, file, ...)
  local unused = {}
  for _, name in ipairs(file:names()) do
    local known = false
    for _, names in ipairs{...} do known = known or names[name] end
    if not known then unused[#unused + 1] = name end
  end
  if #unused == 0 then return end
  table.sort(unused)
  local others = #unused > SHOWN and (" and %d others"):format(#unused - SHOWN) or ""
  notes.add(context, list, "not used: %s%s",
    table.concat(unused, ", ", 1, math.min(#unused, SHOWN)), others)
end

return npz_arrays

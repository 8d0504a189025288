--- Adds to Lua's own library the functions on tables that it lacks. None of them changes its
-- arguments but tables.append.

local tables = {}

--- Merges tables into a new one; keys of later ones replace those of earlier ones, and nil counts
-- as an empty table.
function tables.merged(...)
  local all = {}
  for i = 1, select("#", ...) do
    for key, value in pairs(select(i, ...) or {}) do all[key] = value end
  end
  return all
end

--- Returns the keys of a table as a sorted list.
function tables.sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  return keys
end

--- Returns the list of f(element, place) over the elements of a list.
function tables.map(list, f)
  local results = {}
  for i, element in ipairs(list) do results[i] = f(element, i) end
  return results
end

--- Returns a list of n times the same value.
function tables.repeated(value, n)
  local list = {}
  for i = 1, n do list[i] = value end
  return list
end

--- Adds the elements of `more` behind those of `list`, which is returned.
function tables.append(list, more)
  return table.move(more, 1, #more, #list + 1, list)
end

--- Returns a table that maps the value of one field to the element of the list, a table, that has
-- it.
function tables.by_field(list, field)
  local found = {}
  for _, element in ipairs(list) do found[element[field]] = element end
  return found
end

return tables

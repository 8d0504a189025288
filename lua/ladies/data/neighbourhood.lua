--- A node of a data set and its neighbours, in words.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local grouped = require "ladies.base.grouped"
local node_number = require "ladies.data.node_number"
local options = require "ladies.base.options"

local MOST, MOST_FEATURES = 20, 7

-- The classes of a node in words, "" for none.
local function classes_of(data, id)
  local names = data.class_names or {}
  if not data.multilabel then
    local class = data.labels[id]
    return class == 0 and "" or names[class] or ("class %d"):format(class)
  end
  local words = {}
  for class = 1, data.classes do
    if data.labels:get(id, class) == 1 then words[#words + 1] = names[class] or tostring(class) end
  end
  return table.concat(words, "+")
end

local function part_of(data, id)
  for _, part in ipairs(checks.SPLIT) do
    if data[part] and data[part]:equals(id):sum():item() > 0 then return part end
  end
end

-- "5 of 1,000: tree, bark, ...": the features of a node that are not 0.
local function features_of(data, id)
  local row = data.features:rows(core.index{id})
  local is_sparse = options.class_of(row) == "Matrix"
  local columns = is_sparse and row:col_of() or row:reshape(row.n_cols):positions()
  local words, names = {}, data.feature_names or {}
  for i = 1, math.min(#columns, MOST_FEATURES) do
    words[i] = names[columns[i]] or tostring(columns[i])
  end
  if #columns > MOST_FEATURES then words[#words + 1] = "..." end
  return ("%s of %s%s%s"):format(grouped(#columns), grouped(data.features.n_cols),
    #words > 0 and ": " or "", table.concat(words, ", "))
end

-- The number of nodes within two edges of one.
local function two_hops(A, ids)
  local _, far = A:slice(ids)
  return #core.sampling.union(ids, far)
end

local function name_of(data, id)
  return data.node_names and core.printable(data.node_names[id]) or nil
end

-- A line a neighbour, and how many are not shown.
local function list(data, row, ids, most)
  local lines, weights, widest = {}, row.values and row:entry_values(), 1
  local shown = math.min(#ids, most)
  for k = 1, shown do widest = math.max(widest, #(name_of(data, ids[k]) or "")) end
  for k = 1, shown do
    local name = name_of(data, ids[k])
    local cells = {("%8d"):format(ids[k])}
    if name then cells[#cells + 1] = name .. (" "):rep(widest - #name) end
    if weights then cells[#cells + 1] = ("%8.4g"):format(weights[k]) end
    cells[#cells + 1] = core.printable(classes_of(data, ids[k]))
    lines[k] = "  " .. table.concat(cells, "  ")
  end
  if #ids > shown then lines[#lines + 1] = ("  and %s more"):format(grouped(#ids - shown)) end
  return lines
end

--- The text of Dataset:show: of a node, given by number or name, and of at most `most` neighbours.
return function(data, node, most)
  local id = node_number("data:show", data, node)
  most = options.value("data:show", "the number of neighbours", most, "positive integer or nil")
    or MOST
  local A = data.graph.adjacency
  local row = A:rows(core.index{id})
  local ids = row:col_of()
  local words = {"node " .. id, name_of(data, id), classes_of(data, id), part_of(data, id)}
  local lines = {}
  for i = 1, 4 do
    if words[i] and words[i] ~= "" then lines[#lines + 1] = core.printable(words[i]) end
  end
  lines = {table.concat(lines, ", ")}
  lines[2] = "  features    " .. core.printable(features_of(data, id))
  lines[3] = ("  neighbours  %s, and %s nodes within two edges"):format(grouped(#ids),
    #ids > 0 and grouped(two_hops(A, ids)) or "no")
  table.move(list(data, row, ids, most), 1, #ids, 4, lines)
  return table.concat(lines, "\n")
end

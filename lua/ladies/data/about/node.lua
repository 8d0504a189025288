--- Shows one node of a data set and its neighbours, in words (data:show) and as a picture
-- (data:draw).

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local counted = require("ladies.base.units").counted
local errors = require "ladies.base.errors"
local grouped = require("ladies.base.units").grouped
local options = require "ladies.base.options"

local node_of = {}

local MOST, MOST_FEATURES = 20, 7

-- Returns the number of a node that is given by its number or by its name; errors begin with
-- `where`.
local function number_of(where, data, node)
  if type(node) == "string" then
    local id, message = data:find_node(node)
    if id then return id end
    local near = data.node_names and data.node_names:nearest(node)
    errors.fail(("%s: %s%s"):format(where, message,
      near and ('; did you mean "%s"?'):format(near) or ""))
  end
  return options.value(where, "the node", node, ("integer in [1, %d]"):format(data.graph.n_nodes))
end

-- ---------------------------------------------------------------- in words

-- Returns the names of a node's classes, joined by plus signs; "" for a node without a class.
local function classes_of(data, id)
  id = data.graph_of and data.graph_of[id] or id
  local names = data.class_names or {}
  if not data.labels then return "" end
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
  id = data.graph_of and data.graph_of[id] or id
  for _, part in ipairs(checks.SPLIT) do
    if data[part] and data[part]:equals(id):sum():item() > 0 then return part end
  end
end

-- Returns a text with the features of a node that are not 0, "5 of 1,000: tree, bark, ...".
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

-- Returns a text with the targets of a node, "price 3.2, area ?".
local function targets_of(data, id)
  local words, names = {}, data.target_names or {}
  id = data.graph_of and data.graph_of[id] or id
  for j, value in ipairs(data.targets[id]:to_table()) do
    words[j] = ("%s %s"):format(names[j] or j, value == value and ("%.4g"):format(value) or "?")
  end
  return table.concat(words, ", ")
end

-- Returns in words how many neighbours a node has, by how many edges where several lead to one, and
-- how many other nodes are within two edges of it. ids: the neighbours, one for each edge.
local function neighbours_of(A, id, ids)
  if #ids == 0 then return "0, and no nodes within two edges" end
  local near = core.sampling.unique(ids)
  local _, far = A:slice(near)
  local both = core.sampling.union(near, far)
  local others = #both - math.tointeger(both:equals(id):sum():item())
  return ("%s%s, and %s within two edges"):format(grouped(#near),
    #near < #ids and (" by %s edges"):format(grouped(#ids)) or "", counted(others, "node"))
end

local function name_of(data, id)
  return data.node_names and core.printable(data.node_names[id]) or nil
end

-- Returns a line for each of the first `most` neighbours, and a line that counts the others.
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

--- Returns the text that Dataset:show prints about a node, given by its number or its name, and at
-- most `most` of its neighbours (20).
function node_of.text(data, node, most)
  local id = number_of("data:show", data, node)
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
  if data.targets then
    lines[3] = "  targets     " .. core.printable(targets_of(data, id))
  end
  lines[#lines + 1] = "  neighbours  " .. neighbours_of(A, id, ids)
  table.move(list(data, row, ids, most), 1, #ids, #lines + 1, lines)
  return table.concat(lines, "\n")
end

-- ---------------------------------------------------------------- as a picture

-- Returns the nodes within `hops` edges of a node, at most `most`, the nearest first.
local function near(A, id, hops, most)
  local found, seen, first = {id}, {[id] = true}, 1
  for _ = 1, hops do
    local last = #found
    for i = first, last do
      for _, next_id in ipairs(A:rows(core.index{found[i]}):col_of():to_table()) do
        if not seen[next_id] and #found < most then
          seen[next_id] = true
          found[#found + 1] = next_id
        end
      end
    end
    first = last + 1
  end
  return found
end

--- Makes the figure of Dataset:draw, which shows a node, given by its number or its name, and the
-- nodes near it.
function node_of.figure(data, node, given)
  local where = "data:draw"
  local opts = options.check(where, given or {}, {hops = {"integer in [1, 10]", 1},
    most = {"integer in [2, 300]", 40}, title = "string or nil"})
  local ids = near(data.graph.adjacency, number_of(where, data, node), opts.hops, opts.most)
  local idx, labels = core.index(ids), {}
  for i, v in ipairs(ids) do labels[i] = data.node_names and data.node_names[v] or tostring(v) end
  local plot = require "ladies.report.plot"   -- here: what draws takes longer to load than data
  return plot.network(data.graph.adjacency:induced(idx), {labels = labels,
    classes = data.labels and not data.multilabel
      and data.labels[data.graph_of and data.graph_of[idx] or idx] or nil,
    class_names = data.class_names,
    title = opts.title or ("%s, %d nodes within %s"):format(labels[1], #ids,
      counted(opts.hops, "edge"))})
end

return node_of

--- A node of a data set and what is near it, as a picture.

local core = require "ladies_core"
local node_number = require "ladies.data.node_number"
local options = require "ladies.base.options"
local plot = require "ladies.report.plot"

local WHERE = "data:draw"

-- The numbers of the nodes within `hops` edges of one, at most `most`, the nearest first.
local function near(A, id, hops, most)
  local list, seen, first = {id}, {[id] = true}, 1
  for _ = 1, hops do
    local last = #list
    for i = first, last do
      for _, next_id in ipairs(A:rows(core.index{list[i]}):col_of():to_table()) do
        if not seen[next_id] and #list < most then
          seen[next_id] = true
          list[#list + 1] = next_id
        end
      end
    end
    first = last + 1
  end
  return list
end

local function labels_of(data, ids)
  local names = {}
  for i, id in ipairs(ids) do names[i] = data.node_names and data.node_names[id] or tostring(id) end
  return names
end

--- The figure of Dataset:draw.
return function(data, node, given)
  local opts = options.check(WHERE, given or {}, {hops = {"integer in [1, 10]", 1},
    most = {"integer in [2, 300]", 40}, title = "string or nil"})
  local id = node_number(WHERE, data, node)
  local ids = near(data.graph.adjacency, id, opts.hops, opts.most)
  local idx = core.index(ids)
  local labels = labels_of(data, ids)
  return plot.network(data.graph.adjacency:induced(idx), {labels = labels,
    classes = not data.multilabel and data.labels[idx] or nil, class_names = data.class_names,
    title = opts.title or ("%s, %d nodes within %d edge%s"):format(labels[1], #ids, opts.hops,
      opts.hops == 1 and "" or "s")})
end

--- Makes data.graph.relations, which has for each type of edges, by its name or number, a Matrix
-- with the edges of that type alone. A Matrix is made when it is first asked for.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local relations = {}

-- Makes the Matrix of the edges of one type, in which parallel edges are one entry, whose weight is
-- their sum.
local function matrix_of(edges, type_number)
  local own = edges.types:equals(type_number):positions()
  local A, entries = edges.adjacency, edges:entries()[own]
  return core.matrix{n_rows = A.n_rows, n_cols = A.n_cols, rows = A:row_of()[entries],
    cols = A:col_of()[entries], values = edges.weights and edges.weights[own] or nil}
end

--- Makes the table of the relations of some edges that have types. It has a Matrix for each name
-- and each number from 1, and as many elements as there are types; pairs goes through names and
-- matrices in the order of the types.
function relations.of(edges)
  local names, number, made = edges.type_names, {}, {}
  for i, name in ipairs(names) do number[name] = i end
  local function get(_, key)
    local i = number[key] or math.tointeger(key)
    if not i or i < 1 or i > #names then
      errors.fail(("data.graph.relations: no relation %s%s"):format(tostring(key),
        options.hint(tostring(key), names, "there are")))
    end
    made[i] = made[i] or matrix_of(edges, i)
    return made[i]
  end
  local function each(_, name)
    local i = (number[name] or 0) + 1
    if i <= #names then return names[i], get(nil, i) end
  end
  return setmetatable({}, {__name = "ladies.Relations", __index = get,
    __len = function() return #names end,
    __pairs = function(all) return each, all, nil end,
    __tostring = function()
      local shown = tables.map(names, function(name) return core.printable(name) end)
      return "Relations " .. table.concat(shown, ", ")
    end})
end

return relations

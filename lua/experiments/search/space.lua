--- The space that `ladies lab search` looks through: layer-wise samplers, by their choices (see
-- ladies.sampling.layerwise), pooled draws, and the samplers that all of them are set beside. A
-- point is a file that makes its sampler, as a user would write it.

local tables = require "ladies.base.tables"

local space = {}

-- The choices of a layer-wise sampler, and which of them the quick search tries. The probability
-- "shares" is that of the columns of rows that are divided by their sums first, so that each row
-- has the same say.
local AXES = {
  {"probability", {"squared_norms", "norms", "sums", "uniform", "shares"}},
  {"columns", {"layer", "touched", "graph"}, quick = {"layer", "touched"}},
  {"draw", {"wor", "wr", "poisson", "systematic", "pivotal", "sampford"},
    quick = {"wor", "wr", "poisson", "systematic"}},
  {"weight", {"design", "debiased", "graph", "none"}, quick = {"design", "debiased"}},
  {"normalize", {"rows", "sums", "none"}},
  {"self_nodes", {"none", "previous", "batch"}, quick = {"none", "previous"}},
  {"union", {"pre", "post"}, quick = {"pre"}},
}

-- Tells whether the choices go together, and make a point that no others make.
local function is_point(one)
  if one.weight == "debiased" and one.draw ~= "wor" then return false end
  if one.weight == "graph" and (one.columns ~= "touched" or one.draw ~= "wor"
    or one.self_nodes ~= "none") then return false end
  if one.union == "post" and (one.draw ~= "wor" or one.weight ~= "design"
    or one.self_nodes == "none") then return false end
  if one.probability == "shares" and one.columns ~= "layer" then return false end
  return not (one.probability == "uniform" and one.columns == "touched")
end

local SHARES = "function(U) return U:row_normalize():col_sums() end"

-- Returns the file of a layer-wise point.
local function layerwise_file(one)
  local lines = tables.map(AXES, function(axis)
    local value = one[axis[1]]
    return ("    %s = %s,"):format(axis[1], value == "shares" and SHARES or ("%q"):format(value))
  end)
  return ([[
local sampling = require("ladies").sampling

return function(P, settings)
  return sampling.layerwise(P, {samples = settings.samples, layers = settings.layers,
%s
  })
end
]]):format(table.concat(lines, "\n"))
end

-- Returns the file of a sampler whose samples are those of a row. Half a row's number is between
-- one and two: the first layer has one more, so that more numbers of nodes can be had.
local function by_rows_file(constructor, given)
  return ([[
local ladies = require "ladies"

return function(P, settings)
  local samples = {}
  for l = 1, settings.layers do
    samples[l] = math.max(1, (settings.samples + (l == 1 and 1 or 0)) // 2)
  end
  return ladies.samplers.%s(P, {samples = samples, %s})
end
]]):format(constructor, given)
end

-- Returns the layer-wise points, from the choices that are made already.
local function layerwise_points(quick, chosen, place, list)
  local axis = AXES[place]
  if not axis then
    if is_point(chosen) then
      local words = tables.map(AXES, function(one) return chosen[one[1]] end)
      if chosen.union == "pre" then words[#words] = nil end
      list[#list + 1] = {name = table.concat(words, "_"), file = layerwise_file(chosen)}
    end
    return list
  end
  for _, value in ipairs(quick and axis.quick or axis[2]) do
    layerwise_points(quick, tables.merged(chosen, {[axis[1]] = value}), place + 1, list)
  end
  return list
end

-- The samplers that others are set beside, by the names of their points; the first is the one in
-- whose units times and errors are.
local REFERENCES = {
  {"squared_norms_layer_wor_design_rows_none", "LADIES"},
  {"squared_norms_layer_wor_design_rows_previous", "LADIES, self nodes"},
  {"graphsage_unbiased", "GraphSAGE"}, {"labor_unbiased", "LABOR"},
  {"pooled_mean_none", "pooled"},
}

--- space.points(quick) -> the points {name =, title = of those that others are set beside, file = a
-- text}: the latter first, LADIES before all.
function space.points(quick)
  local list = {
    {name = "graphsage_unbiased", file = by_rows_file("graphsage", 'form = "unbiased"')},
    {name = "labor_unbiased", file = by_rows_file("labor", 'form = "unbiased"')},
  }
  for _, form in ipairs{"mean", "unbiased"} do
    for _, self_nodes in ipairs(AXES[6].quick) do
      list[#list + 1] = {name = ("pooled_%s_%s"):format(form, self_nodes), file = by_rows_file(
        "pooled", ('form = "%s", self_nodes = "%s"'):format(form, self_nodes))}
    end
  end
  layerwise_points(quick, {}, 1, list)
  local by_name, first = tables.by_field(list, "name"), {}
  for i, one in ipairs(REFERENCES) do
    first[i] = by_name[one[1]]
    first[i].title = one[2]
  end
  for _, one in ipairs(list) do first[#first + 1] = not one.title and one or nil end
  return first
end

return space

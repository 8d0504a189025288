--- Writes the tables of experiments.followers.methods, and the texts around them.

local counted = require("ladies.base.units").counted
local examination = require "experiments.followers.methods.examination"
local protocol = require "experiments.followers.protocol"
local words = require "experiments.followers.words"
local settings_text = require("ladies.experiment.settings").text
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"
local why = require "experiments.followers.methods.why"

-- Returns the different values of a field of the variants, in their order.
local function distinct(variants, field)
  local list, seen = {}, {}
  for _, one in ipairs(variants) do
    if not seen[one[field]] then list[#list + 1], seen[one[field]] = one[field], true end
  end
  return list
end

-- Makes a table with a row for each method and a column for each data set and what is equal there,
-- nodes or seconds; cell_of(variant) gives a cell.
local function grid(variants, cell_of)
  local columns, cells = {}, {}
  for _, one in ipairs(variants) do
    local name = ("%s, equal %s"):format(one.dataset, one.equal)
    if not cells[name] then columns[#columns + 1], cells[name] = name, {} end
    cells[name][one.label] = cell_of(one)
  end
  local results = Table.new(tables.append({"method"}, columns))
  for _, label in ipairs(distinct(variants, "label")) do
    results:add(tables.append({label},
      tables.map(columns, function(name) return cells[name][label] or "-" end)))
  end
  return results
end

local function mean_of(records, f)
  return statistics.mean(tables.map(records, f))
end

-- Makes the table of the size, number and cost of the mini-batches of a group.
local function batches_table(variants, dataset, equal)
  return Table.of({"method", "nodes a batch", "batches",
    equal == "seconds" and "CPU ms of a batch" or nil}, variants, function(one)
      if one.dataset ~= dataset or one.equal ~= equal then return nil end
      local list = one.records
      return {one.title,
        Table.number(mean_of(list, function(r) return r.input_rows + r.hidden_rows end), "%.0f"),
        Table.number(mean_of(list, function(r) return r.batches end), "%.0f"),
        one.cost and Table.number(1e3 * one.cost, "%.1f")}
    end)
end

local function numbers_of(variants)
  return Table.of({"dataset", "equal", "method", "runs", {csv = {"f1", "f1_half_width"}},
    {csv = {"full_batch_less_it", "half_width"}}}, variants, function(one)
      return {one.dataset, one.equal, one.title, #one.records, test_f1.cell(one),
        Table.interval(one.behind, "%+.1f")}
    end)
end

-- Tells in words which methods are far behind full batch, and by how much.
local function far_text(variants)
  local lines = {}
  for _, one in ipairs(variants) do
    if one.far then
      lines[#lines + 1] = ("* %s on %s at equal %s: %s below"):format(one.title, one.dataset,
        one.equal, Table.interval(one.behind, "%.1f").text)
    end
  end
  return #lines == 0 and "Every method is within 3 points of full batch." or
    "More than 3 points below full batch, seed by seed:\n\n" .. table.concat(lines, "\n")
end

local function percent(value) return Table.number(value and 100 * value, "%.0f %%") end

-- Formats a number that may be very large.
local function free(value)
  return Table.number(value, value and value >= 100 and "%.0f" or "%.2f")
end

local function findings_table(examined)
  return Table.of({"method", "data set", "equal", "batches", "rows without a sampled neighbour",
    "with none but themselves", "error of the embedding", "of the gradient", "scale of a layer",
    "of the embedding"}, examined, function(one)
      local variant = one.variant
      return {variant.title, variant.dataset, variant.equal, Table.number(one.batches, "%.0f"),
        percent(one.empty), percent(one.alone), free(one.embedding), free(one.gradient),
        Table.number(one.layer_scale, "%.2f"), free(one.scale)}
    end)
end

-- Makes a table of how large the embedding comes out by depth, with a row for each examined method
-- for which that was measured; nil where there is none.
local function scales_table(examined)
  local results, most = nil, 0
  for _, one in ipairs(examined) do most = math.max(most, #(one.scales or {})) end
  local head = {"method", "data set", "equal"}
  for l = 1, most do head[#head + 1] = counted(l, "layer") end
  for _, one in ipairs(examined) do
    if one.scales then
      results = results or Table.new(head)
      local row = {one.variant.title, one.variant.dataset, one.variant.equal}
      for l = 1, most do row[#row + 1] = free(one.scales[l] or nil) end
      results:add(row)
    end
  end
  return results
end

local function add_examinations(made, examined)
  local lines = {}
  for _, one in ipairs(examined) do
    local variant = one.variant
    if variant.far then
      lines[#lines + 1] = ("* %s on %s, equal %s: %s"):format(variant.title, variant.dataset,
        variant.equal, table.concat(one.reasons, "; "))
    end
  end
  made:heading "Why: what the laboratory finds of these, beside the first method"
  made:table(findings_table(examined))
  made:text(table.concat(lines, "\n"))
  local scales = scales_table(examined)
  if scales then
    made:heading "How large the embedding comes out, by depth"
    made:table(scales)
  end
end

local ABOUT = [[
Test micro-F1 in percent with 95 %% intervals by Student's t over %s, seeds 1, 2, ... The
network is gcn with 5 layers, %s; otherwise the preset `default`. The model is that of the highest
validation F1.]]

local EQUAL = {
  nodes = [[
Equal nodes: each method has the number of samples with which the nodes of its mini-batches, over
all layers, are nearest in number to those of the first; full batches and Cluster-GCN draw no
samples, and some methods come no nearer with a single neighbour. Training ends by early stopping,
with a patience of %d batches; on WordNet after %d batches, with %d validations, when most still
learn: that they are behind there says how fast they learn, not what they reach in the end.]],
  seconds = [[
Equal seconds: each trains, with its own samples, as many batches as one core computes in so many
seconds (%s), by the CPU seconds of a batch, measured beforehand: the lesser mean of two groups of
batches, since the machine may do something else besides. Sampling, the network's step and the
optimizer's are in them; validation is not, nor what is made before the first batch, as GraphSAINT's
counts and the parts of Cluster-GCN. Each has %d validations, on WordNet %d.]],
}

-- Tells in words for how many seconds the methods trained on each data set.
local function seconds_text(variants)
  local list, seen = {}, {}
  for _, one in ipairs(variants) do
    if one.seconds and not seen[one.dataset] then
      list[#list + 1], seen[one.dataset] = ("%g on %s"):format(one.seconds, one.dataset), true
    end
  end
  return table.concat(list, ", ")
end

-- Writes the note on what is equal, nodes or seconds.
local function equal_text(equal, variants)
  if equal == "seconds" then
    return EQUAL.seconds:format(seconds_text(variants), protocol.LOOKS, protocol.LARGE_LOOKS)
  end
  return EQUAL.nodes:format(protocol.PATIENCE, protocol.LARGE, protocol.LARGE_LOOKS)
end

local LABORATORY = [[
The laboratory's network is as deep as the trained one, %d wide at most, after 5 steps of training
with whole neighbourhoods; rows are means over its layers, errors those of a mini-batch as a share
of the exact values' size. "scale": how many times as large as the exact one the estimate is on
average, by itself where a layer's input is exact, and of the embedding after all layers; where that
is off by more than twice, networks of fewer layers are examined too. A subgraph that all layers
share makes it far larger with every layer: a path that uses an edge k times is there with the
edge's probability, but divided by its k-th power.]]

local report = {}

--- Fills the report of experiments.followers.methods; more.examined becomes what the laboratory has
-- found of the methods that are far behind.
function report.show(made, variants, opts, more, study)
  more.examined = why.examine(study, variants, opts)
  made:heading "Test F1"
  made:table(grid(variants, test_f1.cell))
  made:heading "Full batch less each method"
  made:table(grid(variants, function(one)
    return one.method == "full" and "" or Table.interval(one.behind, "%+.1f")
  end))
  made:text(far_text(variants))
  if #more.examined > 0 then add_examinations(made, more.examined) end
  for _, dataset in ipairs(distinct(variants, "dataset")) do
    for _, equal in ipairs(opts.equal) do
      made:heading(("Mini-batches on %s, equal %s"):format(dataset, equal))
      made:table(batches_table(variants, dataset, equal))
    end
  end
  made:csv(numbers_of(variants))
end

--- Writes the notes below the tables.
function report.notes(variants, opts, more)
  local list = {ABOUT:format(words.runs(variants), protocol.NETWORK_TEXT)}
  for _, equal in ipairs(opts.equal) do list[#list + 1] = equal_text(equal, variants) end
  if #more.examined > 0 then list[#list + 1] = LABORATORY:format(examination.HIDDEN) end
  local own = settings_text(opts.settings)
  if own ~= "" then list[#list + 1] = "Settings over those of the preset: " .. own .. "." end
  return list
end

return report

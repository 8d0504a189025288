--- The tables of ladies_followers.methods.

local protocol = require "ladies_followers.protocol"
local provenance = require "ladies.report.provenance"
local runs_text = require "ladies_followers.runs_text"
local settings_text = require("ladies.experiment.settings").text
local statistics = require "ladies.report.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"
local why = require "ladies_followers.methods.why"

-- The different values of a field of the variants, in their order.
local function distinct(variants, field)
  local list, seen = {}, {}
  for _, one in ipairs(variants) do
    if not seen[one[field]] then list[#list + 1], seen[one[field]] = one[field], true end
  end
  return list
end

-- A table with a row for each method and a column for each data set and what is equal there;
-- cell_of(variant).
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

-- What the mini-batches of a group were.
local function batches_table(variants, dataset, equal)
  local results = Table.new{"method", "nodes a batch", "batches",
    equal == "seconds" and "CPU ms of a batch" or nil}
  for _, one in ipairs(variants) do
    if one.dataset == dataset and one.equal == equal then
      local list = one.records
      results:add{one.title,
        Table.number(mean_of(list, function(r) return r.input_rows + r.hidden_rows end), "%.0f"),
        Table.number(mean_of(list, function(r) return r.batches end), "%.0f"),
        one.cost and Table.number(1e3 * one.cost, "%.1f")}
    end
  end
  return results
end

local function numbers_of(variants)
  local results = Table.new{"dataset", "equal", "method", "runs", {csv = {"f1", "f1_half_width"}},
    {csv = {"full_batch_less_it", "half_width"}}}
  for _, one in ipairs(variants) do
    results:add{one.dataset, one.equal, one.title, #one.records, test_f1.cell(one),
      Table.interval(one.behind, "%+.1f")}
  end
  return results
end

-- Which methods are how far behind, in words.
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

local function add_examinations(report, examined)
  local results = Table.new{"method", "data set", "equal", "rows without a sampled neighbour",
    "with none but themselves", "error of the embedding", "of the gradient", "scale of a layer",
    "of the embedding"}
  local lines = {}
  for _, one in ipairs(examined) do
    local variant = one.variant
    local row = {variant.title, variant.dataset, variant.equal, percent(one.empty),
      percent(one.alone)}
    for _, value in ipairs{"embedding", "gradient", "layer_scale", "scale"} do
      row[#row + 1] = Table.number(one[value], "%.2f")
    end
    results:add(row)
    if variant.far then
      local causes = #one.causes > 0 and " " .. table.concat(one.causes, "; ") or ""
      lines[#lines + 1] = ("* %s on %s, equal %s. %s%s"):format(variant.title, variant.dataset,
        variant.equal, one.verdict, causes)
    end
  end
  report:heading "Why: what the laboratory finds of these, beside the first method"
  report:table(results)
  report:text(table.concat(lines, "\n"))
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
with a patience of %d batches; on WordNet after %d batches, with %d validations, where all still
rise.]],
  seconds = [[
Equal seconds: each trains, with its own samples, as many batches as one core computes in so many
seconds (%s), by the CPU seconds of a batch, measured beforehand. Sampling, the network's step and
the optimizer's are in them; validation is not, nor what is made before the first batch, as
GraphSAINT's counts and the parts of Cluster-GCN. Each has %d validations, on WordNet %d.]],
}

-- How many seconds on each data set.
local function seconds_text(variants)
  local list, seen = {}, {}
  for _, one in ipairs(variants) do
    if one.seconds and not seen[one.dataset] then
      list[#list + 1], seen[one.dataset] = ("%g on %s"):format(one.seconds, one.dataset), true
    end
  end
  return table.concat(list, ", ")
end

-- What is equal, in words.
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
average, by itself where a layer's input is exact, and of the embedding after all layers. A
subgraph that all layers share makes the second far larger than the first: a path that uses an edge
k times is there with the edge's probability, but divided by its k-th power.]]

--- report(study, variants, records, examined, opts, notes): see ladies_followers.methods.
return function(study, variants, records, examined, opts, notes)
  local report = study:report("methods", "Every method")
  report:heading "Test F1"
  report:table(grid(variants, test_f1.cell))
  report:heading "Full batch less each method"
  report:table(grid(variants, function(one)
    return one.method == "full" and "" or Table.interval(one.behind, "%+.1f")
  end))
  report:text(far_text(variants))
  if #examined > 0 then add_examinations(report, examined) end
  for _, dataset in ipairs(distinct(variants, "dataset")) do
    for _, equal in ipairs(opts.equal) do
      report:heading(("Mini-batches on %s, equal %s"):format(dataset, equal))
      report:table(batches_table(variants, dataset, equal))
    end
  end
  report:csv(numbers_of(variants))
  report:note(provenance.runs(study, records), ABOUT:format(runs_text(variants),
    protocol.NETWORK_TEXT))
  for _, equal in ipairs(opts.equal) do report:note(equal_text(equal, variants)) end
  if #examined > 0 then report:note(LABORATORY:format(why.HIDDEN)) end
  local own = settings_text(opts.settings)
  if own ~= "" then report:note("Settings over those of the preset: " .. own .. ".") end
  report:note(table.unpack(notes))
  report.variants = variants
  return report:write()
end

--- The ablation, which tells what each choice of a preset is worth: LADIES with one of them changed
-- at a time, and every combination of the draw's probabilities with the nodes that are united into
-- its layers. The seeds are the same for all, so differences are taken run by run.

local carry_out = require "ladies.study.carry_out"
local declared = require "experiments.options"
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"
local variants = require "experiments.paper.ablate.variants"

local WHERE = "experiments.paper.ablate"

-- Returns a table with a row for each change, two columns for each data set.
local function changes_table(lists, opts)
  local columns = {"LADIES (" .. opts.samples .. ")"}
  for _, list in ipairs(lists) do
    tables.append(columns, {list[1].dataset .. " F1 %", "difference"})
  end
  local results = Table.new(columns)
  for i, first in ipairs(lists[1]) do
    local row = {first.label}
    for _, list in ipairs(lists) do
      tables.append(row, {test_f1.cell(list[i]),
        i == 1 and "" or test_f1.difference_cell(list[i], list[1])})
    end
    results:add(row)
  end
  return results
end

-- Makes a table with a row for each data set and each of the probabilities from the `first` on, and
-- a column for each union; cell_of(variant, own) makes a cell, where own is LADIES with the same
-- union.
local function cross_table(lists, head, first, cell_of)
  local results, n = Table.new{head, "data set", table.unpack(variants.UNIONS)}, #variants.UNIONS
  for _, list in ipairs(lists) do
    for p = first, #variants.PROBABILITIES do
      local row = {variants.PROBABILITIES[p].title, list[1].dataset}
      for u = 1, n do row[#row + 1] = cell_of(list[(p - 1) * n + u], list[u]) end
      results:add(row)
    end
  end
  return results
end

-- Names the unions and data sets with which LADIES' F1 is certainly above (side 1) or below (side
-- -1) that of the p-th probabilities, since the interval of the difference leaves out zero.
local function places(lists, p, side)
  local words, n = {}, #variants.UNIONS
  for u, union in ipairs(variants.UNIONS) do
    local names = {}
    for _, list in ipairs(lists) do
      local less = test_f1.differences(list[u], list[(p - 1) * n + u])
      if #less > 1 and side * statistics.mean(less) > statistics.half_width(less) then
        names[#names + 1] = list[1].dataset
      end
    end
    if #names > 0 then words[#words + 1] = ("%s (%s)"):format(union, table.concat(names, ", ")) end
  end
  return #words > 0 and "with the union " .. table.concat(words, "; ") or "nowhere"
end

local function add_cross(report, title, lists, runs)
  report:heading(title .. ": probabilities and union")
  report:table(cross_table(lists, "probabilities", 1, test_f1.cell))
  report:heading(title .. ": LADIES' probabilities less the others, by union")
  report:table(cross_table(lists, "LADIES less", 2, function(one, own)
    return test_f1.difference_cell(own, one)
  end))
  local lines = {}
  for p = 2, #variants.PROBABILITIES do
    lines[p - 1] = ("* %s: LADIES is above it %s, and below it %s."):format(
      variants.PROBABILITIES[p].title, places(lists, p, 1), places(lists, p, -1))
  end
  if runs > 1 then report:text("By 95 % intervals:\n\n" .. table.concat(lines, "\n")) end
end

-- Returns a table with a line of numbers for each variant.
local function numbers_of(all)
  local results, by_key, seen = Table.new{"dataset", "preset", "variant", "runs",
    {csv = {"f1", "f1_half_width"}}, {csv = {"difference", "difference_half_width"}}},
    tables.by_field(all, "key"), {}
  for _, one in ipairs(all) do
    local n = #statistics.present(test_f1.of(one))
    if n > 0 and not seen[one.key] then
      local base = by_key[("%s, %s: %s"):format(one.dataset, one.preset, variants.BASE)]
      results:add{one.dataset, one.preset, one.label, n, test_f1.cell(one),
        test_f1.difference_cell(one, base)}
      seen[one.key] = true
    end
  end
  return results
end

-- The note on the numbers of all tables, and what is said of those of each part.
local ABOUT = [[
Test micro-F1 in percent, %s.
Differences are taken seed by seed.]]
local ABOUT_PART = {
  changes = [["difference" is to the preset as it is. A draw with replacement unites before the
draw, and dropout 0 sets head_dropout to 0 too.]],
  cross = [[Columns none, previous, batch: the nodes that are united into every sampled layer.
"uniform" draws all nodes alike, of the neighbourhood or of the graph; all else is the preset's, for
all four.]],
}

local ABLATE = {
  where = WHERE, name = "ablate", title = "Ablation", folder = "runs/ablate",
  identity = "ablation, {samples} samples", of_classes = true,
  options = declared.types "ablate",
}

-- Returns all variants, by part, variant and data set; and the parts of every preset: {preset =,
-- part =, lists = the variants on each data set}.
function ABLATE.cases(opts, names)
  local parts, all = {}, {}
  for _, preset in ipairs(opts.presets) do
    for _, part in ipairs(opts.parts) do
      local lists = tables.map(names, function(name)
        return variants.of(preset, part, name, opts)
      end)
      parts[#parts + 1] = {preset = preset, part = part, lists = lists}
      for i = 1, #lists[1] do
        for _, list in ipairs(lists) do all[#all + 1] = list[i] end
      end
    end
  end
  return all, parts
end

function ABLATE.show(report, all, opts, parts)
  for _, one in ipairs(parts) do
    local title = "preset " .. one.preset
    if one.part == "cross" then
      add_cross(report, title, one.lists, opts.runs)
    else
      report:heading(title .. ": one change at a time")
      report:table(changes_table(one.lists, opts))
    end
  end
  report:csv(numbers_of(all))
end

function ABLATE.notes(_, opts)
  local words = {ABOUT:format(opts.runs == 1 and "of one run, seed 1"
    or ("with 95 %% intervals by Student's t over %d runs, seeds 1, 2, ..."):format(opts.runs))}
  for _, part in ipairs(opts.parts) do words[#words + 1] = ABOUT_PART[part] end
  return {table.concat(words, "\n")}
end

--- experiments.paper.ablate{presets = {"default"}, runs = 10} -> table: LADIES with one choice of a
-- preset changed at a time, and the cross of probabilities and unions. Returns a report (see
-- ladies.report).
-- presets    default, paper and code: see ladies.presets
-- parts      "changes" and "cross"
-- runs       10, with the seeds 1, 2, ...
-- samples    nodes of a layer (64)
-- datasets   cora, citeseer and pubmed
-- settings   of ladies.experiment, for all
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/ablate-1), which goes on where it was stopped
-- quiet      no progress
local function ablate(given) return carry_out(ABLATE, given) end

return ablate

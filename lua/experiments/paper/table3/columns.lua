--- The columns of table 3: how they come from the records of runs, beside the paper's numbers. Rows
-- are {dataset =, title =, records =}.

local published = require "experiments.paper.table3.published"
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local units = require "ladies.base.units"

local columns = {}

-- Computes the columns from a record. On the citation graphs the paper's numbers of batches are
-- smaller than the patience, and its times are these numbers times the time of a batch: both count
-- up to the model that is kept.
local COLUMNS = {
  {name = "F1 %", csv = "F1_percent", paper = "test_f1", format = "%.1f",
    of = function(r) return r.test_f1 and 100 * r.test_f1 end},
  {name = "total s", csv = "total_s", paper = "seconds", format = "%.2f",
    of = function(r) return (r.best_batch or r.batches) * r.batch_ms / 1000 end},
  {name = "memory MB", csv = "memory_MB", paper = "memory_paper", format = "%.2f",
    of = function(r) return r.memory_paper / units.MIB end},
  {name = "batch ms", csv = "batch_ms", paper = "batch_ms", format = "%.2f",
    of = function(r) return r.batch_ms end},
  {name = "batches", csv = "batches", paper = "batches", format = "%.0f",
    of = function(r) return r.best_batch or r.batches end},
  {name = "held MB", csv = "held_MB", format = "%.2f",
    of = function(r) return (r.memory_batch + r.memory_parameters) / units.MIB end},
  {name = "to the end s", csv = "to_the_end_s", format = "%.2f",
    of = function(r) return r.seconds end},
}

local function values_of(row, column)
  local list = {}
  for _, record in ipairs(row.records) do list[#list + 1] = column.of(record) end
  return list
end

-- Mean and deviation, as the paper has them; memory has no deviation there.
local function own_cell(row, column)
  local list = values_of(row, column)
  local cell = Table.deviation(list, column.format)
  if column.paper == "memory_paper" then
    cell.text = Table.with_spread(statistics.mean(list), nil, column.format)
  end
  return cell
end

local function paper_cell(row, column)
  local numbers = (published[row.dataset] or {})[row.title]
  local mean, deviation = table.unpack(numbers and numbers[column.paper] or {})
  return {text = Table.with_spread(mean, deviation, column.format), mean or "",
    deviation or ""}
end

--- Returns the table of one data set.
function columns.table(rows, dataset)
  local heads = {{csv = {"dataset"}}, "method", {csv = {"runs"}}}
  for _, column in ipairs(COLUMNS) do
    local name = column.csv
    heads[#heads + 1] = {column.name, csv = {name, name .. "_sd"}}
    heads[#heads + 1] = column.paper
      and {"paper", csv = {name .. "_paper", name .. "_paper_sd"}} or nil
  end
  local results = Table.new(heads)
  for _, row in ipairs(rows) do
    if row.dataset == dataset then
      local cells = {dataset, row.title, #row.records}
      for _, column in ipairs(COLUMNS) do
        cells[#cells + 1] = own_cell(row, column)
        cells[#cells + 1] = column.paper and paper_cell(row, column) or nil
      end
      results:add(cells)
    end
  end
  return results
end

--- Test F1 against the time that it took, a point for each method.
function columns.picture(rows, dataset)
  local series = {}
  for _, row in ipairs(rows) do
    local f1, seconds = values_of(row, COLUMNS[1]), values_of(row, COLUMNS[2])
    if row.dataset == dataset and #f1 > 0 then
      local mean, deviation = statistics.mean(f1), statistics.deviation(f1)
      series[#series + 1] = {name = row.title, style = "points", spread = "bars",
        points = {{statistics.mean(seconds), mean, mean - deviation, mean + deviation}}}
    end
  end
  return {title = dataset, x = "seconds of training", y = "test F1 %", log = "x", series = series}
end

return columns

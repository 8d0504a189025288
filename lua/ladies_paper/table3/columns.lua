--- The columns of table 3: how they come from the records of runs, beside the paper's numbers. Rows
-- are {dataset =, title =, records =}.

local published = require "ladies_paper.table3.published"
local statistics = require "ladies.report.statistics"

local columns = {}

local MIB = 1 << 20

-- How the columns come from a record. On the citation graphs the paper's numbers of batches are
-- smaller than the patience, and its times are these numbers times the time of a batch: both are up
-- to the model that is kept.
local COLUMNS = {
  {name = "F1 %", paper = "test_f1", format = "%.1f",
    of = function(r) return r.test_f1 and 100 * r.test_f1 end},
  {name = "total s", paper = "seconds", format = "%.2f",
    of = function(r) return (r.best_batch or r.batches) * r.batch_ms / 1000 end},
  {name = "memory MB", paper = "memory_paper", format = "%.2f",
    of = function(r) return r.memory_paper / MIB end},
  {name = "batch ms", paper = "batch_ms", format = "%.2f", of = function(r) return r.batch_ms end},
  {name = "batches", paper = "batches", format = "%.0f",
    of = function(r) return r.best_batch or r.batches end},
  {name = "held MB", format = "%.2f",
    of = function(r) return (r.memory_batch + r.memory_parameters) / MIB end},
  {name = "to the end s", format = "%.2f", of = function(r) return r.seconds end},
}

local function values_of(row, column)
  local list = {}
  for _, record in ipairs(row.records) do list[#list + 1] = column.of(record) end
  return list
end

-- "76.5 ± 1.4" as the paper has it; memory has no deviation.
local function paper_text(row, column)
  local numbers = (published[row.dataset] or {})[row.title]
  local pair = numbers and numbers[column.paper]
  if not pair then return "-" end
  return pair[2] and (column.format .. " ± " .. column.format):format(pair[1], pair[2])
    or column.format:format(pair[1])
end

local function own_text(row, column)
  local list = values_of(row, column)
  if column.paper == "memory_paper" and #list > 0 then
    return column.format:format(statistics.mean(list))
  end
  return statistics.text(list, 1, column.format)
end

--- The table of one data set, as rows of texts.
function columns.table(rows, dataset)
  local head, list = {"method"}, {}
  for _, column in ipairs(COLUMNS) do
    head[#head + 1] = column.name
    if column.paper then head[#head + 1] = "paper" end
  end
  list[1] = head
  for _, row in ipairs(rows) do
    if row.dataset == dataset then
      local cells = {row.title}
      for _, column in ipairs(COLUMNS) do
        cells[#cells + 1] = own_text(row, column)
        if column.paper then cells[#cells + 1] = paper_text(row, column) end
      end
      list[#list + 1] = cells
    end
  end
  return list
end

--- A line of numbers for each method and data set: mean and deviation, ours and the paper's.
function columns.csv(rows)
  local head = {"dataset", "method", "runs"}
  for _, column in ipairs(COLUMNS) do
    local name = column.name:gsub("%%", "percent"):gsub("%s+", "_")
    for _, part in ipairs{"", "_sd", column.paper and "_paper", column.paper and "_paper_sd"} do
      head[#head + 1] = name .. part
    end
  end
  local list = {head}
  for _, row in ipairs(rows) do
    local cells = {row.dataset, row.title, #row.records}
    for _, column in ipairs(COLUMNS) do
      local values = values_of(row, column)
      cells[#cells + 1] = statistics.mean(values) or ""
      cells[#cells + 1] = #values > 1 and statistics.deviation(values) or ""
      if column.paper then
        local pair = ((published[row.dataset] or {})[row.title] or {})[column.paper] or {}
        cells[#cells + 1], cells[#cells + 2] = pair[1] or "", pair[2] or ""
      end
    end
    list[#list + 1] = cells
  end
  return list
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

--- Test F1 by preset beside the paper's: how much of a difference to the paper comes from how its
-- text is read.

local core = require "ladies_core"
local json = require "ladies.base.json"
local published = require "experiments.paper.table3.published"
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"

local PRESETS = {"default", "paper", "code"}
local PAPER_RUNS = 10

-- Test F1s in percent of the runs of table 3 in a folder, by "data set, method", in the order of
-- their seeds: summed in another order, a mean may be rounded to another digit than in table 3.
local function f1s_of(folder)
  local by_key, lists = {}, {}
  local path = folder .. "/results.jsonl"
  for line in core.file.read(path):gmatch "[^\n]+" do
    local record = json.decode(line, path)
    by_key[record.key] = record.test_f1      -- the latest, if a run was repeated
  end
  for key, f1 in pairs(by_key) do
    local row, seed = key:match "^(.*), seed (%d+)$"
    lists[row] = lists[row] or {}
    table.insert(lists[row], {seed = tonumber(seed), f1 = 100 * f1})
  end
  for row, list in pairs(lists) do
    table.sort(list, function(a, b) return a.seed < b.seed end)
    lists[row] = tables.map(list, function(run) return run.f1 end)
  end
  return lists
end

-- Returns the preset whose mean is nearest to the paper's, with a star when its interval has the
-- paper's.
local function nearest(lists, paper)
  local best, distance
  for _, preset in ipairs(PRESETS) do
    local list = lists[preset]
    local d = list and math.abs(statistics.mean(list) - paper)
    if d and (not best or d < distance) then best, distance = preset, d end
  end
  return best .. (distance <= statistics.half_width(lists[best]) and " *" or "")
end

-- 1 where all presets are above the paper's F1, {mean, deviation}, by the interval of the
-- difference of both means; -1 where below, else 0, as where one of them has a single run.
local function side(lists, paper)
  local theirs = statistics.half_width_of(paper[2], PAPER_RUNS)
  local above, below = true, true
  for _, list in pairs(lists) do
    local difference = statistics.mean(list) - paper[1]
    local half = math.sqrt(statistics.half_width(list) ^ 2 + theirs ^ 2)
    local known = #list > 1
    above, below = above and known and difference > half, below and known and difference < -half
  end
  return above and 1 or below and -1 or 0
end

-- Returns a row of the table: of a method on a data set, with the lists of those presets that have
-- runs; nil unless there are two. And on which side of the paper's F1 all presets are.
local function row_of(dataset, title, f1s, columns)
  local paper, lists, there = published[dataset][title].test_f1, {}, 0
  local row = {dataset, title, Table.with_spread(paper[1],
    statistics.half_width_of(paper[2], PAPER_RUNS), "%.1f")}
  for _, preset in ipairs(columns) do
    lists[preset] = f1s[preset][dataset .. ", " .. title]
    there = there + (lists[preset] and 1 or 0)
    row[#row + 1] = Table.interval(lists[preset] or {}, "%.1f")
  end
  if there < 2 then return nil end
  row[#row + 1] = nearest(lists, paper[1])
  return row, side(lists, paper)
end

--- A table, from the folders of table 3 by preset, and two lists of rows by name: those in which
-- every preset is above the paper's F1, and below it, by the 95 % interval of the difference. Nil
-- where no row of the paper has the runs of two presets.
return function(folders)
  local f1s, columns, sides = {}, {}, {[-1] = {}, [0] = {}, [1] = {}}
  for _, preset in ipairs(PRESETS) do
    if folders[preset] then
      columns[#columns + 1], f1s[preset] = preset, f1s_of(folders[preset])
    end
  end
  local results = Table.new(tables.append(tables.append({"data set", "method", "paper"}, columns),
    {"nearest"}))
  for _, dataset in ipairs{"cora", "citeseer", "pubmed", "reddit"} do
    for _, title in ipairs(tables.sorted_keys(published[dataset])) do
      local row, which = row_of(dataset, title, f1s, columns)
      if row then
        results:add(row)
        table.insert(sides[which], dataset .. " " .. title)
      end
    end
  end
  if #results.rows == 0 then return nil end
  return results, sides[1], sides[-1]
end

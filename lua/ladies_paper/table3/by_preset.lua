--- Test F1 by preset beside the paper's: how much of a difference to the paper comes from how its
-- text is read.

local core = require "ladies_core"
local json = require "ladies.base.json"
local published = require "ladies_paper.table3.published"
local statistics = require "ladies.report.statistics"

local PRESETS = {"default", "paper", "code"}
local PAPER_RUNS = 10

-- Test F1s in percent of the runs of table 3 in a folder, by "data set, method".
local function f1s_of(folder)
  local by_key, lists = {}, {}
  local path = folder .. "/results.jsonl"
  for line in core.file.read(path):gmatch "[^\n]+" do
    local record = json.decode(line, path)
    by_key[record.key] = record.test_f1      -- of runs that were made anew, the last
  end
  for key, f1 in pairs(by_key) do
    local row = key:match "^(.*), seed %d+$"
    lists[row] = lists[row] or {}
    table.insert(lists[row], 100 * f1)
  end
  for _, list in pairs(lists) do table.sort(list) end     -- the mean does not depend on the order
  return lists
end

-- The preset whose mean is nearest to the paper's, with a star when its interval has the paper's.
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
-- difference of both means; -1 where below, else 0.
local function side(lists, paper)
  local theirs = statistics.half_width_of(paper[2], PAPER_RUNS)
  local above, below = true, true
  for _, list in pairs(lists) do
    local difference = statistics.mean(list) - paper[1]
    local half = math.sqrt(statistics.half_width(list) ^ 2 + theirs ^ 2)
    above, below = above and difference > half, below and difference < -half
  end
  return above and 1 or below and -1 or 0
end

--- Rows of texts, the first of which is the head, from the folders of table 3 by preset, and two
-- lists of rows by name: those in which every preset is above the paper's F1, and below it, by the
-- 95 % interval of the difference. Nil where no row of the paper has the runs of two presets.
local function by_preset(folders)
  local of, n, above, below = {}, 0, {}, {}
  for preset, folder in pairs(folders) do
    of[preset], n = f1s_of(folder), n + 1
  end
  if n < 2 then return nil end
  local rows = {{"data set", "method", "paper"}}
  for _, preset in ipairs(PRESETS) do
    if of[preset] then table.insert(rows[1], preset) end
  end
  table.insert(rows[1], "nearest")
  for _, dataset in ipairs{"cora", "citeseer", "pubmed", "reddit"} do
    local titles = {}
    for title in pairs(published[dataset]) do titles[#titles + 1] = title end
    table.sort(titles)
    for _, title in ipairs(titles) do
      local paper, lists, there = published[dataset][title].test_f1, {}, 0
      local row = {dataset, title, ("%.1f ± %.1f"):format(paper[1],
        statistics.half_width_of(paper[2], PAPER_RUNS))}
      for _, preset in ipairs(PRESETS) do
        if of[preset] then
          lists[preset] = of[preset][dataset .. ", " .. title]
          there = there + (lists[preset] and 1 or 0)
          row[#row + 1] = statistics.interval(lists[preset] or {}, "%.1f")
        end
      end
      if there > 1 then
        row[#row + 1] = nearest(lists, paper[1])
        local which = side(lists, paper)
        local list = which > 0 and above or which < 0 and below or {}
        list[#list + 1] = dataset .. " " .. title
        rows[#rows + 1] = row
      end
    end
  end
  if #rows == 1 then return nil end
  return rows, above, below
end

return by_preset

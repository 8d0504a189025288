--- The paper's statements on F1 beside ours: each of our means for LADIES against the published
-- one, and LADIES against the other methods, seed by seed.

local published = require "ladies_paper.table3.published"
local statistics = require "ladies.report.statistics"

local statements = {}

-- The pairs of methods that the paper's text compares.
local PAIRS = {
  {"LADIES (64)", "FastGCN (64)"}, {"LADIES (64)", "GraphSAGE (5)"}, {"LADIES (64)", "full batch"},
  {"LADIES (512)", "FastGCN (512)"}, {"LADIES (512)", "GraphSAGE (5)"},
  {"LADIES (512)", "full batch"},
}

-- Test F1 in percent by seed, from 1; false where there is none.
local function f1s(row)
  local by_seed, last, list = {}, 0, {}
  for _, record in ipairs(row and row.records or {}) do
    by_seed[record.config.seed] = record.test_f1 and 100 * record.test_f1
    last = math.max(last, record.config.seed)
  end
  for seed = 1, last do list[seed] = by_seed[seed] or false end
  return list
end

-- The rows of a data set by the name of the method.
local function by_title(rows, dataset)
  local list = {}
  for _, row in ipairs(rows) do
    if row.dataset == dataset then list[row.title] = row end
  end
  return list
end

--- Of numbers of ours around what should not be below `least`: "above" where the mean is, "covered"
-- where their 95 % interval reaches it, else "below".
function statements.reaches(list, least)
  local mean = statistics.mean(list)
  if mean >= least then return "above" end
  return mean + statistics.half_width(list) >= least and "covered" or "below"
end

--- Whether differences of ours have the sign of the paper's: "holds", "does not hold", or
-- "not separated" where their 95 % interval has both signs.
function statements.agrees(list, paper)
  local mean, half = statistics.mean(list), statistics.half_width(list)
  if math.abs(mean) <= half then return "not separated" end
  return mean * paper > 0 and "holds" or "does not hold"
end

--- The comparison on the data sets `names` as rows of texts, the first of which is the head; nil
-- when no row of the paper was run twice.
function statements.table(rows, names)
  local list = {{"data set", "statement", "ours, 95 %", "paper", ""}}
  for _, name in ipairs(names) do
    local paper, own = published[name] or {}, by_title(rows, name)
    for _, title in ipairs{"LADIES (64)", "LADIES (512)"} do
      local f1 = statistics.present(f1s(own[title]))
      if paper[title] and #f1 > 1 then
        local least = paper[title].test_f1[1]
        list[#list + 1] = {name, title .. ": F1 %", statistics.interval(f1, "%.1f"),
          ("%.1f"):format(least), statements.reaches(f1, least)}
      end
    end
    for _, pair in ipairs(PAIRS) do
      local a, b = paper[pair[1]], paper[pair[2]]
      local difference = statistics.differences(f1s(own[pair[1]]), f1s(own[pair[2]]))
      if a and b and #difference > 1 then
        local theirs = a.test_f1[1] - b.test_f1[1]
        list[#list + 1] = {name, table.concat(pair, " - "),
          statistics.interval(difference, "%+.1f"), ("%+.1f"):format(theirs),
          statements.agrees(difference, theirs)}
      end
    end
  end
  return #list > 1 and list or nil
end

return statements

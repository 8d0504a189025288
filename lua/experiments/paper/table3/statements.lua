--- The paper's statements on F1 beside ours: each of our means for LADIES against the published
-- one, and LADIES against the other methods, seed by seed.

local published = require "experiments.paper.table3.published"
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local test_f1 = require "ladies.study.test_f1"

local statements = {}

-- The pairs of methods that the paper's text compares.
local PAIRS = {
  {"LADIES (64)", "FastGCN (64)"}, {"LADIES (64)", "GraphSAGE (5)"}, {"LADIES (64)", "full batch"},
  {"LADIES (512)", "FastGCN (512)"}, {"LADIES (512)", "GraphSAGE (5)"},
  {"LADIES (512)", "full batch"},
}

--- Compares our numbers with `least`, which they should reach: "above" where their mean is no less,
-- "covered" where their 95 % interval reaches it, else "below".
function statements.reaches(list, least)
  local mean = statistics.mean(list)
  if mean >= least then return "above" end
  return mean + statistics.half_width(list) >= least and "covered" or "below"
end

--- Compares the sign of our differences with that of the paper's: "holds", "does not hold", or "not
-- separated" where their 95 % interval has both signs.
function statements.agrees(list, paper)
  local mean, half = statistics.mean(list), statistics.half_width(list)
  if math.abs(mean) <= half then return "not separated" end
  return mean * paper > 0 and "holds" or "does not hold"
end

--- Returns the statements on the data sets `names` as a table; nil when no row of the paper was run
-- twice.
function statements.table(rows, names)
  local results = Table.new{"data set", "statement", "ours, 95 %", "paper", ""}
  for _, name in ipairs(names) do
    local paper, own = published[name] or {}, {}
    for _, row in ipairs(rows) do
      if row.dataset == name then own[row.title] = row end
    end
    for _, title in ipairs{"LADIES (64)", "LADIES (512)"} do
      local f1 = statistics.present(test_f1.of(own[title]))
      if paper[title] and #f1 > 1 then
        local least = paper[title].test_f1[1]
        results:add{name, title .. ": F1 %", Table.interval(f1, "%.1f"),
          Table.number(least, "%.1f"), statements.reaches(f1, least)}
      end
    end
    for _, pair in ipairs(PAIRS) do
      local a, b = paper[pair[1]], paper[pair[2]]
      local difference = test_f1.differences(own[pair[1]], own[pair[2]])
      if a and b and #difference > 1 then
        local theirs = a.test_f1[1] - b.test_f1[1]
        results:add{name, table.concat(pair, " - "), Table.interval(difference, "%+.1f"),
          Table.number(theirs, "%+.1f"), statements.agrees(difference, theirs)}
      end
    end
  end
  return #results.rows > 0 and results or nil
end

return statements

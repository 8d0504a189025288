--- Writes the texts in the tables of this package: how a mean of ours stands beside a published
-- number, and over how many runs means are, which differs within a study that still goes on.

local statistics = require "ladies.statistics"
local test_f1 = require "ladies.study.test_f1"

local words = {}

--- words.beside_values(values: number[], published: number | nil) -> text: "confirmed" where the
-- 95 % interval of the values' mean has the published number, else "above" or "below", where our
-- mean is; "-" without that number, or with fewer than two values.
function words.beside_values(values, published)
  if not published or #values < 2 then return "-" end
  local off = statistics.mean(values) - published
  return math.abs(off) <= statistics.half_width(values) and "confirmed" or off > 0 and "above"
    or "below"
end

--- words.beside(variant, published) -> text: the same of the test F1s, in percent, of a variant
-- (see ladies.study.repeated).
function words.beside(variant, published)
  return words.beside_values(statistics.present(test_f1.of(variant)), published)
end

--- words.as_good(differences: number[], margin) -> text: whether a method is as good as another,
-- not lower by more than `margin`, by their differences seed by seed: it "holds" or "fails" where
-- the whole 95 % interval says so, else it is "not separated"; "-" with fewer than two.
function words.as_good(differences, margin)
  if #differences < 2 then return "-" end
  local one = statistics.interval(differences)
  if one.low > -margin then return "holds" end
  return one.high < -margin and "fails" or "not separated"
end

-- "5 runs", "2 to 5 runs".
local function range(least, most)
  if least == most then return ("%d run%s"):format(most, most == 1 and "" or "s") end
  return ("%d to %d runs"):format(least, most)
end

--- words.runs(variants) -> text: of trained variants (see ladies.study.repeated): "5 runs", or by
-- their `dataset` where that differs, "5 runs on cora, 2 to 3 runs on pubmed".
function words.runs(variants)
  local names, least, most = {}, {}, {}
  for _, one in ipairs(variants) do
    local name, n = one.dataset, #one.records
    if not least[name] then names[#names + 1] = name end
    least[name] = math.min(least[name] or n, n)
    most[name] = math.max(most[name] or n, n)
  end
  local texts, same = {}, true
  for i, name in ipairs(names) do
    same = same and least[name] == least[names[1]] and most[name] == most[names[1]]
    texts[i] = ("%s on %s"):format(range(least[name], most[name]), name)
  end
  return same and range(least[names[1]], most[names[1]]) or table.concat(texts, ", ")
end

return words

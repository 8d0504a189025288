--- How many runs the means of a table are over, which a study that goes on has not everywhere.

-- "5 runs", "2 to 5 runs".
local function range(least, most)
  if least == most then return ("%d run%s"):format(most, most == 1 and "" or "s") end
  return ("%d to %d runs"):format(least, most)
end

--- runs_text(variants) -> text: of trained variants (see ladies.study.repeated): "5 runs", or by
-- their `dataset` where that differs, "5 runs on cora, 2 to 3 runs on pubmed".
return function(variants)
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

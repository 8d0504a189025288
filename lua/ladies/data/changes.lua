--- What is different between two states of a data set, by the hashes of ladies.data.hashes.

--- changes(before, now) -> "features, labels": the parts that are others, sorted, or nil.
return function(before, now)
  local parts, seen = {}, {}
  for _, hashes in ipairs{before, now} do
    for part in pairs(hashes) do
      if not seen[part] and before[part] ~= now[part] then parts[#parts + 1] = part end
      seen[part] = true
    end
  end
  table.sort(parts)
  return parts[1] and table.concat(parts, ", ")
end

--- csv_rows(text): the rows of a table in CSV, in which nothing is quoted, as tables by the
-- names of its columns, in which numbers are numbers.
return function(text)
  local rows, head = {}, nil
  for line in text:gmatch "[^\n]+" do
    local cells, row = {}, {}
    for cell in (line .. ","):gmatch "([^,]*)," do cells[#cells + 1] = tonumber(cell) or cell end
    for i, name in ipairs(head or {}) do row[name] = cells[i] end
    if head then rows[#rows + 1] = row else head = cells end
  end
  return rows
end

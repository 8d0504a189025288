--- cut(text, width): returns the text, shortened to at most `width` columns; one that was longer
-- ends with "...". Characters of UTF-8 count as one column and stay whole.
return function(text, width)
  local length = utf8.len(text)
  if (length or #text) <= width then return text end
  local last = length and utf8.offset(text, width - 2) or width - 2
  return text:sub(1, math.max(last - 1, 0)) .. "..."
end

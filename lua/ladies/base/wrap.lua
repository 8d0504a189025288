--- Breaks a text into lines of a width.

-- Cuts a word into pieces of `width` characters each.
local function pieces(word, width)
  local list, first = {}, 1
  for at = width + 1, utf8.len(word), width do
    local place = utf8.offset(word, at)
    list[#list + 1], first = word:sub(first, place - 1), place
  end
  list[#list + 1] = word:sub(first)
  return list
end

--- wrap(text, width [, broken]): breaks a text in UTF-8 between its words, and returns an array of
-- lines of at most `width` characters; a longer word has a line to itself or, with `broken`, as
-- many as it needs.
return function(text, width, broken)
  local lines, line, used = {}, "", 0
  for word in text:gmatch "%S+" do
    for _, part in ipairs(broken and pieces(word, width) or {word}) do
      local length = utf8.len(part)
      if used > 0 and used + 1 + length > width then
        lines[#lines + 1], line, used = line, part, length
      else
        line = used > 0 and line .. " " .. part or part
        used = used > 0 and used + 1 + length or length
      end
    end
  end
  lines[#lines + 1] = line
  return lines
end

local lu = require "luaunit"

local VOID = {meta = true, br = true}

--- html_elements(page): the number of elements by name in a text of HTML; fails unless every
-- element is closed in its turn, and nothing is left of brackets and ampersands besides.
return function(page)
  local open, counts = {}, {}
  local body = page:gsub("<!DOCTYPE html>", ""):gsub("<style>.-</style>", "<style></style>")
  for close, name, rest in body:gmatch "<(/?)([%a][%w]*)([^<>]*)>" do
    if close == "/" then
      lu.assertEquals(table.remove(open), name)
    else
      counts[name] = (counts[name] or 0) + 1
      if not VOID[name] and not rest:find "/$" then open[#open + 1] = name end
    end
  end
  lu.assertEquals(open, {})
  local bare = body:gsub("<[^<>]*>", "")
  lu.assertNil(bare:find "[<>]", "a bracket that belongs to no element")
  lu.assertNil(bare:gsub("&[%w#]+;", ""):find "&", "a bare ampersand")
  return counts
end

--- A report that a command has left in the folder of its study, as a section of a document.

local core = require "ladies_core"
local own_folder = require "ladies.base.own_folder"

--- section{folder =, name =, title =, out =}: the text of the report NAME.md in the folder, for the
-- document that will be the file `out`, DOCUMENT.md. Pictures of the same folder that the report
-- shows, ![text](picture.svg), are copied into the folder DOCUMENT beside it. A report that does
-- not begin with a heading of the second level gets the title as one.
return function(given)
  local pictures = given.out:gsub("%.md$", "")
  local text = core.file.read(("%s/%s.md"):format(given.folder, given.name))
  if not text:find "^## " then text = ("## %s\n\n%s"):format(given.title, text) end
  return (text:gsub("(!%[[^\n]-%]%()([%w_.+-]+)%)", function(before, file)
    local name = given.folder:match "[^/]*$" .. "-" .. file
    own_folder.at(pictures):make "report"
    core.file.write(pictures .. "/" .. name,
      core.file.read(("%s/%s"):format(given.folder, file)))
    return ("%s%s/%s)"):format(before, pictures:match "[^/]*$", name)
  end))
end

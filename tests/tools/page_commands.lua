--- page_commands(page, folder [, changed]): writes the files that a page of Markdown shows into a
-- folder, runs the commands of its shell listings there, in their order, and holds each to a status
-- of 0. `changed` makes of a command the one that is run in its place. A listing in Lua is a file;
-- those that no command and no other file names are run as scripts in the end.
-- Returns a function that gives what the first command that begins with a text has printed.
local lu = require "luaunit"
local files = require "tools.files"
local page_blocks = require "tools.page_blocks"
local shell = require "tools.shell"

-- The words of a command line; what is in double quotes is one.
local function words_of(line)
  local list, open = {}, nil
  for word in line:gmatch "%S+" do
    word = open and open .. " " .. word or word
    open = word:find '^"' and not word:find '"$' and word or nil
    if not open then list[#list + 1] = word:match '^"(.*)"$' or word end
  end
  return table.unpack(list)
end

-- Commands that run the files in Lua that no listing of the page names.
local function commands_of_others(blocks)
  local list = {}
  for _, block in ipairs(blocks) do
    local is_named = block.language ~= "lua"
    for _, other in ipairs(is_named and {} or blocks) do
      local words = " " .. other.text:gsub("[^%w_.]", " ") .. " "
      is_named = is_named or words:find("[ ./]" .. block.file:gsub("%p", "%%%0") .. " ") ~= nil
    end
    if not is_named then list[#list + 1] = "ladies ./" .. block.file end
  end
  return list
end

return function(page, folder, changed)
  local blocks, lines, outputs = page_blocks(files.read(page)), {}, {}
  for _, block in ipairs(blocks) do
    if block.file then files.write(folder .. "/" .. block.file, block.text) end
    if block.language == "sh" then
      for line in block.text:gmatch "[^\n]+" do lines[#lines + 1] = line end
    end
    lu.assertNotNil(block.language ~= "lua" or block.file, page .. ": a listing that is no file:\n"
      .. block.text)
  end
  table.move(commands_of_others(blocks), 1, #blocks, #lines + 1, lines)
  for i, line in ipairs(lines) do
    local command = changed and changed(line) or line
    lu.assertEquals(words_of(command), "ladies", line)
    local out, err, status = shell.run_ladies({select(2, words_of(command))},
      {folder = folder, env = {shell.checked_lab()}})
    lu.assertEquals(status, 0, line .. "\n" .. err)
    outputs[i] = out
  end
  return function(start)
    for i, line in ipairs(lines) do
      if line:sub(1, #start) == start then return outputs[i] end
    end
  end
end

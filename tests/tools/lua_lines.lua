--- Finds which lines of lua/ have code, and which of them were executed.
--
-- The lines are counted by a hook of our own (tools/lines.c): Debian 12 has no package of LuaCov,
-- which moreover writes at the end of a process alone, and would miss the programs that tests kill.
local files = require "tools.files"
local shell = require "tools.shell"

local lua_lines = {}

-- The lines of a file that luac makes instructions of, but for those that only end a function.
local function lines_with_code(path)
  local listing, message, status = shell.run{"luac5.4", "-l", "-p", path}
  if status ~= 0 then error("lua_lines: " .. message, 0) end
  local text, counts = files.lines(path), {}
  for number, instruction in listing:gmatch "%[(%d+)%]%s+(%u+)" do
    number = math.tointeger(number)
    local words = text[number]:gsub("%f[%w_]end%f[^%w_]", "")
    if instruction ~= "VARARGPREP" and words:find "[%w_]" then counts[number] = 0 end
  end
  return counts
end

--- Executions by line: {[path below root] = {[number] = 1 or 0}}, of the lines "FILE NUMBER" that
-- processes have written into the file `record`.
function lua_lines.read(root, record)
  local counted = {}
  local found = shell.run{"find", root .. "/lua", "-name", "*.lua"}
  for path in found:gmatch "[^\n]+" do counted[path:sub(#root + 2)] = lines_with_code(path) end
  for line in io.lines(record) do
    local path, number = line:match "^(%S+) (%d+)$"
    local counts = counted[path]
    number = math.tointeger(number)
    if counts and counts[number] then counts[number] = 1 end
  end
  return counted
end

return lua_lines

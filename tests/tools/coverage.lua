--- coverage.lua ROOT BUILD: the line coverage of src/ and lua/ after programs of the build of type
-- coverage in the folder BUILD have run: the lines of src/core and lua/ that none of them executed,
-- then shares by room. Lines of Lua come from the file BUILD/lines (tools/lines.c).
package.path = arg[0]:match "^(.*)/tools/" .. "/?.lua;" .. package.path

local files = require "tools.files"
local gcov = require "tools.gcov"
local lua_lines = require "tools.lua_lines"
local tables = require "ladies.base.tables"

local function print_missing(path, numbers)
  local text = files.lines(path)
  print(path)
  for _, number in ipairs(numbers) do print(("%6d  %s"):format(number, text[number])) end
end

local function print_share(name, share)
  print(("%-36s %5d of %5d lines  %5.1f %%"):format(name, share.hit, share.all,
    100 * share.hit / share.all))
end

local root, folder = table.unpack(arg)

-- Prints which lines of the files {path = {[line] = count}} were not executed, for each path that
-- is `wanted`, and the share of each room; returns the share of the wanted files.
local function print_coverage(files_of, wanted)
  local rooms, all = {}, {hit = 0, all = 0}
  for _, path in ipairs(tables.sorted_keys(files_of)) do
    local room, missing = path:match "^(.*)/", {}
    rooms[room] = rooms[room] or {hit = 0, all = 0}
    for _, number in ipairs(tables.sorted_keys(files_of[path])) do
      local hit = files_of[path][number] > 0 and 1 or 0
      for _, share in ipairs{rooms[room], wanted(path) and all} do
        share.all, share.hit = share.all + 1, share.hit + hit
      end
      if hit == 0 then missing[#missing + 1] = number end
    end
    if wanted(path) and #missing > 0 then print_missing(root .. "/" .. path, missing) end
  end
  for _, room in ipairs(tables.sorted_keys(rooms)) do print_share(room, rooms[room]) end
  return all
end

local c_files = {}
for path, file in pairs(gcov.read(root, folder, "")) do
  if path:find "^src/" then c_files[path] = file.lines end
end
local lua_files = lua_lines.read(root, folder .. "/lines")
local in_core = print_coverage(c_files, function(path) return path:find "^src/core/" end)
local in_lua = print_coverage(lua_files, function() return true end)
print_share("src/core in all", in_core)
print_share("lua in all", in_lua)

--- coverage.lua ROOT BUILD: the line coverage of src/ after programs of the build of type coverage
-- in the folder BUILD have run: the lines of src/core that none of them executed, then shares by
-- room.
package.path = arg[0]:match "^(.*)/tools/" .. "/?.lua;" .. package.path

local files = require "tools.files"
local gcov = require "tools.gcov"
local tables = require "ladies.base.tables"

local function print_missing(path, numbers)
  local text = files.lines(path)
  print(path)
  for _, number in ipairs(numbers) do print(("%6d  %s"):format(number, text[number])) end
end

local function print_share(name, share)
  print(("%-24s %5d of %5d lines  %5.1f %%"):format(name, share.hit, share.all,
    100 * share.hit / share.all))
end

local root, folder = table.unpack(arg)
local rooms, core = {}, {hit = 0, all = 0}
local covered = gcov.read(root, folder, "")
for _, path in ipairs(tables.sorted_keys(covered)) do
  local room = path:match "^(src/.*)/"
  local in_core = path:find "^src/core/"
  local missing = {}
  if room then
    rooms[room] = rooms[room] or {hit = 0, all = 0}
    for _, number in ipairs(tables.sorted_keys(covered[path].lines)) do
      local hit = covered[path].lines[number] > 0 and 1 or 0
      for _, share in ipairs{rooms[room], in_core and core} do
        share.all, share.hit = share.all + 1, share.hit + hit
      end
      if hit == 0 then missing[#missing + 1] = number end
    end
  end
  if in_core and #missing > 0 then print_missing(root .. "/" .. path, missing) end
end
for _, room in ipairs(tables.sorted_keys(rooms)) do print_share(room, rooms[room]) end
print_share("src/core in all", core)

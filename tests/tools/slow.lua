--- build/bin/ladies tests/tools/slow.lua [SECONDS [BUILD]]: writes tests/slow.txt, the names of the
-- tests that `scripts/test --fast` leaves out. These took longer than SECONDS (3, for two cores
-- without other work) in the latest run of all tests in the folder BUILD (build). It prints how
-- long the others took. Tests that the log lacks stay in the list, so that a run of some does no
-- harm.
local folder = arg[0]:match "^(.*)/tools/"
local most, build = tonumber(arg[1] or 3), arg[2] or "build"

-- Seconds by test, of the log that ctest leaves.
local function seconds_of(log)
  local seconds, name = {}, nil
  for line in io.lines(log) do
    name = line:match "^%d+/%d+ Testing: (%S+)" or name
    local time = line:match "^Test time = +([%d.]+) sec"
    if time then seconds[name] = tonumber(time) end
  end
  return seconds
end

local slow, rest = {}, 0
local seconds = seconds_of(build .. "/Testing/Temporary/LastTest.log")
for name, took in pairs(seconds) do
  if took > most then slow[#slow + 1] = name else rest = rest + took end
end
for name in io.lines(folder .. "/slow.txt") do
  local is_there = io.popen(("find %s -name %s.lua"):format(folder, name)):read "a" ~= ""
  if not seconds[name] and is_there then slow[#slow + 1] = name end
end
table.sort(slow)
local file <close> = assert(io.open(folder .. "/slow.txt", "w"))
file:write(table.concat(slow, "\n"), "\n")
print(("%d tests are slow; all others took %.0f s, one after the other"):format(#slow, rest))

--- Run by LUA_INIT in every process of a test: writes each line of lua/ that the process executes,
-- once, to the file LADIES_LINES as it is reached, so that a process that is killed has written
-- what it did. States of workers have no hook: LUA_INIT is for the first state of a process.
local out = io.open(os.getenv "LADIES_LINES", "a")
if not out then return end
out:setvbuf "no"

local create, getinfo, sethook = coroutine.create, debug.getinfo, debug.sethook
local seen = {}           -- by path, the lines
local of_function = {}    -- by function, its file's table of `seen`, or false for others

local function lines_of(f)
  local prefix, path = getinfo(f, "S").source:match "^@(.*)/lua/5%.4/(.*)$"
  if not path or prefix:find "^/usr/" then return false end
  seen[path] = seen[path] or {path = path}
  return seen[path]
end

local function hook(_, line)
  local f = getinfo(2, "f").func
  local lines = of_function[f]
  if lines == nil then
    lines = lines_of(f)
    of_function[f] = lines
  end
  if lines and not lines[line] then
    lines[line] = true
    out:write("lua/", lines.path, " ", line, "\n")
  end
end

rawset(coroutine, "create", function(f)
  local co = create(f)
  sethook(co, hook, "l")
  return co
end)

sethook(hook, "l")

--- Maps which test executes which lines of src/core and lua/, and how long it takes.
local cjson = require "cjson"
local gcov = require "tools.gcov"
local Tree = require "tools.mutants.tree"

local Map = {}
Map.__index = Map

local PATIENCE = 900 -- seconds for a test whose time is not known

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- Adds the lines that `path` lists as "FILE LINE" to executed[FILE].
local function add_lua_lines(executed, path)
  local file = io.open(path)
  if not file then return end
  for line in file:lines() do
    local source, number = line:match "^(%S+) (%d+)$"
    if source then
      executed[source] = executed[source] or {}
      executed[source][math.tointeger(number)] = true
    end
  end
  file:close()
  os.remove(path)
end

-- Adds the lines of C that were executed, and to `code` all that there are, then forgets them.
local function add_c_lines(executed, code, tree)
  for path, file in pairs(gcov.read(tree.root, tree.build, "/src")) do
    code[path] = code[path] or {lines = {}, functions = {}}
    for number, count in pairs(file.lines) do
      code[path].lines[number] = true
      if count > 0 then
        executed[path] = executed[path] or {}
        executed[path][number] = true
      end
    end
    for first, last in pairs(file.functions) do code[path].functions[first] = last end
  end
  os.execute(("find '%s' -name '*.gcda' -delete"):format(tree.build))
end

-- Tables with numbers as keys as lists, for JSON.
local function listed(by_path)
  local lists = {}
  for path, numbers in pairs(by_path) do lists[path] = sorted_keys(numbers) end
  return lists
end

-- Returns the files of C in `code` that are not `known`, and adds them to these.
local function new_code(code, known)
  local list = {}
  for path, file in pairs(code) do
    if not known[path] then
      local functions = {}
      for _, first in ipairs(sorted_keys(file.functions)) do
        functions[#functions + 1] = {first, file.functions[first]}
      end
      known[path], list[path] = true, {lines = sorted_keys(file.lines), functions = functions}
    end
  end
  return list
end

--- Runs every `jobs`-th of the tests of the repository `root` (a list of names, or nil for all),
-- from test `job` on, but not those that are `done`, in a new tree in `folder` that counts lines;
-- one that fails there, as those that measure time or memory may, once more in the tree that
-- make_plain() returns. Calls keep(record) with what Map.join takes, after each test.
function Map.part(root, folder, make_plain, names, job, jobs, done, keep)
  local tree = Tree.new(root, folder, "coverage")
  local known, plain = {}, nil
  local lines = folder .. "/lines"
  local hook = ("assert(package.loadlib('%s/tests/lines.so', 'count_lines'))()"):format(tree.build)
  local env = {"LADIES_LINES=" .. lines, "LUA_INIT=" .. hook}
  os.execute(("find '%s' -name '*.gcda' -delete; rm -f '%s'"):format(tree.build, lines))
  local tests = tree:tests()
  names = names or sorted_keys(tests)
  for i = job, #names, jobs do
    local name = names[i]
    if not done[name] then
      local passed, seconds = tree:run(tests[name], PATIENCE, env)
      if not passed then
        plain = plain or make_plain()
        passed, seconds = plain:run(plain:tests()[name], PATIENCE)
      end
      local executed, code = {}, {}
      add_lua_lines(executed, lines)
      add_c_lines(executed, code, tree)
      keep{name = name, passed = passed, seconds = seconds, lines = listed(executed),
        code = new_code(code, known)}
    end
  end
end

--- Joins the records of all tests into the table that Map.load reads as JSON. A record that knows a
-- file of C knows all of its lines.
function Map.join(records)
  local made = {tests = {}, code = {}}
  for _, record in ipairs(records) do
    if record.passed then
      table.insert(made.tests, {name = record.name, seconds = record.seconds, lines = record.lines})
    end
    for path, file in pairs(record.code) do made.code[path] = made.code[path] or file end
  end
  return made
end

--- The map that Map.join has left in a file.
function Map.load(path)
  local file <close> = assert(io.open(path))
  local self = cjson.decode(file:read "a")
  for _, test in ipairs(self.tests) do
    for source, numbers in pairs(test.lines) do
      local set = {count = #numbers}
      for _, number in ipairs(numbers) do set[math.tointeger(number)] = true end
      test.lines[source] = set
    end
  end
  return setmetatable(self, Map)
end

-- The line of C that stands for `line`: a statement of several lines is counted in one of them. nil
-- outside of functions.
local function counted_line(code, line)
  local inside, best
  for _, f in ipairs(code.functions) do
    if f[1] <= line and line <= f[2] then inside = f end
  end
  if not inside then return nil end
  for _, number in ipairs(code.lines) do
    if inside[1] <= number and number <= line then best = number end
  end
  return best
end

-- Returns the line of Lua that stands for `line`: the last one before it that some test executes,
-- since nothing else is known.
local function reached_line(tests, path, line)
  local best
  for _, test in ipairs(tests) do
    for number in pairs(test.lines[path] or {}) do
      if number ~= "count" and number <= line and number > (best or 0) then best = number end
    end
  end
  return best
end

-- The tests that do more with a file than to load it, which all of them do; all where none does.
local function more_than_load(found)
  local least = math.huge
  for _, test in ipairs(found) do least = math.min(least, test.count) end
  local more = {}
  for _, test in ipairs(found) do
    if test.count > least then more[#more + 1] = test end
  end
  return #more > 0 and more or found
end

--- The tests that execute a line, those first that execute most of its file in the shortest time;
-- of a line in no function those that execute anything of its file, of a header without any all.
function Map:tests_of(path, line)
  local code, at = self.code[path], nil
  local all = not code and path:find "%.h$"
  if path:find "%.lua$" then
    at = reached_line(self.tests, path, line)
  elseif code then
    at = counted_line(code, line)
  end
  local found, loaded = {}, 0
  for _, test in ipairs(self.tests) do
    local lines = test.lines[path]
    if lines then loaded = loaded + 1 end
    if all or lines and (not at or lines[at]) then
      local count = lines and lines.count or 1
      found[#found + 1] = {name = test.name, seconds = test.seconds, count = count,
        cost = test.seconds / count}
    end
  end
  if not code and not all and #found == loaded then found = more_than_load(found) end
  table.sort(found, function(a, b)
    if a.cost ~= b.cost then return a.cost < b.cost end
    return a.name < b.name
  end)
  return found
end

return Map

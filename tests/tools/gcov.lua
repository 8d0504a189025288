--- Reads what gcov knows of a build of the type coverage, once its programs have run.
local cjson = require "cjson"
local shell = require "tools.shell"

local gcov = {}

-- Paths of the counters below `folder`.
local function counters(folder)
  local pipe <close> = assert(io.popen(("find %s -name '*.gcda'"):format(shell.quote(folder))))
  local paths = {}
  for path in pipe:lines() do paths[#paths + 1] = shell.quote(path) end
  return paths
end

-- The path below `root` of a source, which is relative to the folder in which it was compiled when
-- a compiler cache has made it so; nil for the system's headers.
local function path_below(root, folder, path)
  if path:sub(1, 1) ~= "/" then path = folder .. "/" .. path end
  local count
  repeat path, count = path:gsub("/[^/]+/%.%./", "/", 1) until count == 0
  return path:sub(1, #root + 1) == root .. "/" and path:sub(#root + 2) or nil
end

-- Adds one file's record to `files`, compiled in `folder`. A header's lines occur in every object
-- that includes it.
local function add(files, root, folder, record)
  local path = path_below(root, folder, record.file)
  if not path then return end
  local file = files[path] or {lines = {}, functions = {}}
  files[path] = file
  for _, line in ipairs(record.lines) do
    local number = math.tointeger(line.line_number)
    file.lines[number] = (file.lines[number] or 0) + math.tointeger(line.count)
  end
  for _, f in ipairs(record.functions) do
    file.functions[math.tointeger(f.start_line)] = math.tointeger(f.end_line)
  end
end

--- Executions by line, read from the counters below the folder `part` of a build folder: {[path
-- below root] = {lines = {[number] = count}, functions = {[first line] = last line}}}. A line
-- without code has no count. Both folders are absolute.
function gcov.read(root, build, part)
  local files, paths = {}, counters(build .. part)
  if #paths == 0 then return files end
  local pipe <close> = assert(io.popen("gcov --json-format --stdout " .. table.concat(paths, " ")))
  for line in pipe:lines() do
    local object = cjson.decode(line)
    for _, record in ipairs(object.files) do
      add(files, root, object.current_working_directory, record)
    end
  end
  return files
end

return gcov

--- Makes the text that is printed when an error ends a script: the message, and a traceback of the
-- user's own functions. The library's functions, which are many, are there as well where
-- LADIES_TRACE is set, where the error blames a line of the library, and where there are no others.
-- Nothing is added where the only function is the one that the message blames, and where all are of
-- a statement of the command line (-e), which is in sight.

local LEVELS = 200   -- of a stack that are looked at
local RAISED = 4     -- the level that raised the error: above are this and the host's two handlers

local STATEMENT = "(command line)"

local HOME = debug.getinfo(1, "S").source:match "^(.*[/\\])ladies[/\\]base[/\\]" or "="
local OURS = {ladies = true, experiments = true}

-- Tells whether a source file is one of the library's or of the experiments beside it.
local function is_ours(source)
  return source:sub(1, #HOME) == HOME and OURS[source:match("^(%w+)[/\\]", #HOME + 1)] == true
end

-- Returns the names by which the traceback calls the library's files whose functions are running,
-- as a set.
local function our_files()
  local files = {}
  for level = RAISED + 1, LEVELS do
    local info = debug.getinfo(level, "S")
    if not info then break end
    if is_ours(info.source) then files[info.short_src] = true end
  end
  return files
end

--- script_error(message) -> text: returns the text to print for an error; the message handler of
-- the program calls it.
return function(message)
  local whole, ours = debug.traceback(message, RAISED), our_files()
  local place, blamed = message:match "^(([^\n]-):%d+:) "
  local is_wanted = (os.getenv "LADIES_TRACE" or "") ~= ""
  if is_wanted or ours[blamed] then return whole end
  local lines, is_statement = {}, false
  for line in whole:sub(#message + 1):gmatch "\n(\t[^\n]*)" do
    local file = line:match "^\t(.-):%d+: in "
    is_statement = is_statement or file == STATEMENT
    if file and file ~= STATEMENT and not ours[file] then lines[#lines + 1] = line end
  end
  if #lines == 0 and is_statement then return message end
  if #lines == 0 or next(ours) == nil then return whole end
  if #lines == 1 and place and lines[1]:find("\t" .. place, 1, true) then return message end
  return ("%s\nstack traceback:\n%s"):format(message, table.concat(lines, "\n"))
end
